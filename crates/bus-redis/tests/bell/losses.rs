//! Tests that every loss of Redis is reported, that no caller waits, and that hints flow again.

use std::time::{Duration, Instant};

use nightdesk_bus::{Bell, Ring};
use nightdesk_types::Seq;
use nightdesk_types::limits::{BEAT_MISSED_AFTER, RING_WAIT};

use crate::node::{Node, PATIENCE, agent, channel, entry, heard, until};
use crate::server::Server;

/// Additional time for a busy machine.
const SLACK: Duration = Duration::from_millis(900);

const CUT: &str = "for i = 1, 40 do redis.call('publish', KEYS[1], string.rep('x', 100000)) end";

async fn two(redis: &Server) -> (Node, Node) {
    (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await)
}

/// Rings on one node until the other's line receives a new ring.
async fn flows_again(a: &Node, b: &Node) {
    let ear = b.ears.find_line(agent(1)).expect("the line is open");
    let began = Instant::now();
    let mut seq = 1_000;
    loop {
        assert!(began.elapsed() < PATIENCE, "hints flow again");
        seq += 1;
        let rung = a.bell.ring(Ring::Entry { agent: agent(1), seq: Seq::new(seq) }).await;
        if rung && heard(&ear).await == entry(seq) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn killed_subscribers_listen_again() {
    let redis = Server::start();
    let (a, b) = two(&redis).await;
    drop(b.line(agent(1), 1).await);

    for _ in 0..20 {
        redis.order(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        b.breaks().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    flows_again(&a, &b).await;
    b.is_whole().await;
}

#[tokio::test]
async fn a_redis_that_restarts_empty_is_found_again() {
    let mut redis = Server::start();
    let (a, b) = two(&redis).await;
    drop(b.line(agent(1), 1).await);

    redis.order(&["FLUSHALL"]).await;
    redis.0.stop().expect("Redis stops");
    let told = b.breaks().await;
    assert!(told < BEAT_MISSED_AFTER + SLACK, "{told:?}");
    let ring = Ring::Entry { agent: agent(1), seq: Seq::new(1) };
    assert!(!a.bell.ring(ring).await, "nobody can hear");
    redis.0.start_again().expect("Redis starts again");
    flows_again(&a, &b).await;
    b.is_whole().await;
}

#[tokio::test]
async fn a_frozen_redis_is_noticed_and_costs_nobody_more_than_one_wait() {
    let redis = Server::start();
    let (a, b) = two(&redis).await;
    drop(b.line(agent(1), 1).await);

    redis.signal("STOP");
    let (frozen, mut longest) = (Instant::now(), Duration::ZERO);
    for seq in 1..=1_000 {
        let began = Instant::now();
        assert!(!a.bell.ring(Ring::Entry { agent: agent(1), seq: Seq::new(seq) }).await);
        longest = longest.max(began.elapsed());
    }
    assert!(longest < RING_WAIT + SLACK, "{longest:?}");
    assert!(frozen.elapsed() < RING_WAIT * 2 + SLACK, "all wait once: {:?}", frozen.elapsed());
    until("both notice", || {
        a.ears.lines_in_doubt().is_broken() && b.ears.lines_in_doubt().is_broken()
    })
    .await;
    assert!(frozen.elapsed() < BEAT_MISSED_AFTER + SLACK, "{:?}", frozen.elapsed());

    redis.signal("CONT");
    flows_again(&a, &b).await;
    b.is_whole().await;
}

#[tokio::test]
async fn a_subscriber_that_was_cut_off_listens_again() {
    let redis = Server::start();
    let (a, b) = two(&redis).await;
    drop(b.line(agent(1), 1).await);
    redis.order(&["CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0"]).await;

    redis.order(&["EVAL", CUT, "1", &channel("node:b")]).await;
    b.breaks().await;
    flows_again(&a, &b).await;
    b.is_whole().await;
}

#[tokio::test]
async fn a_node_without_its_redis_starts_and_finds_it_later() {
    let mut redis = Server::start();
    redis.0.stop().expect("Redis stops");
    let (ears, bell) = crate::node::made(&redis.url(), "a");
    let a = Node::run(ears, bell);

    drop(a.ears.lines_in_doubt().next_doubts().await);
    assert!(a.ears.lines_in_doubt().is_broken(), "lines are looked at meanwhile");
    redis.0.start_again().expect("Redis starts again");
    a.is_whole().await;
}
