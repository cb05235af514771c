//! What all nodes count together, whatever Redis does.

use std::time::{Duration, Instant};

use nightdesk_bus::Ceiling;
use nightdesk_types::limits::RING_WAIT;
use nightdesk_types::pace::Rate;

use crate::node::{Node, channel};
use crate::server::Server;

const RATE: Rate = Rate::per(Duration::from_hours(1), 10);

async fn let_through(node: &Node, tries: usize) -> usize {
    let mut count = 0;
    for _ in 0..tries {
        let taken = node.bell.take("ann", RATE).await;
        count += usize::from(taken.expect("Redis answers").is_ok());
    }
    count
}

#[tokio::test]
async fn nodes_together_let_through_what_one_may() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);

    assert_eq!(let_through(&a, 7).await, 7, "one node may use what others leave");
    assert_eq!(let_through(&b, 7).await, 3);
    let wait = a.bell.take("ann", RATE).await.expect("Redis answers").expect_err("none is left");
    assert!(wait <= RATE.step(), "{wait:?}");
    assert_eq!(a.bell.take("bob", RATE).await, Some(Ok(())), "another is not held up");
}

#[tokio::test]
async fn without_redis_nobody_can_tell_and_nobody_waits() {
    let redis = Server::start();
    let a = Node::whole(&redis.url(), "a").await;
    redis.signal("STOP");
    assert_eq!(a.bell.take("ann", RATE).await, None);
    let began = Instant::now();
    for _ in 0..100 {
        assert_eq!(a.bell.take("ann", RATE).await, None);
    }
    assert!(began.elapsed() < RING_WAIT, "one wait, not one each");
    redis.signal("CONT");
}

#[tokio::test]
async fn a_lie_is_as_good_as_nothing() {
    let redis = Server::start();
    let a = Node::whole(&redis.url(), "a").await;
    let (mut client, key) = (redis.client().await, channel("pace:ann"));
    let cases = [("9000000000000000", None), ("-1", Some(Ok(()))), ("owls", Some(Ok(())))];
    for (lie, want) in cases {
        let mut set = redis::cmd("SET");
        let () = set.arg(&key).arg(lie).query_async(&mut client).await.expect("Redis takes it");
        assert_eq!(a.bell.take("ann", RATE).await, want, "{lie}");
    }
    let mut push = redis::pipe();
    push.cmd("DEL").arg(&key).ignore().cmd("LPUSH").arg(&key).arg("x").ignore();
    let () = push.query_async(&mut client).await.expect("Redis takes it");
    assert_eq!(a.bell.take("ann", RATE).await, None, "what is no text at all");
    assert_eq!(a.bell.take("bob", RATE).await, Some(Ok(())), "and the bell is still clear");
}
