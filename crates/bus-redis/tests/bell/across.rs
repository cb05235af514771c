//! Tests that a hint of one node arrives at another.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nightdesk_bus::{Bell, LineHints, LineOrder, MarkedItems, Ring};
use nightdesk_types::{BotId, RequestId, Seq};
use uuid::Uuid;

use crate::node::{Node, PATIENCE, agent, entry, gateway, heard, made, until};
use crate::server::Server;

const BOT: BotId = BotId::from_uuid(Uuid::max());

fn stop(number: u128) -> Ring {
    Ring::Stop {
        agent: agent(number),
        session_key: "s".to_owned(),
        chat_id: "c".to_owned(),
        report_to: None,
    }
}

const fn entry_of(number: u128, seq: i64) -> Ring {
    Ring::Entry { agent: agent(number), seq: Seq::new(seq) }
}

#[tokio::test]
async fn an_entry_is_heard_where_the_line_is_and_nobody_hears_for_nobody() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    assert!(!a.bell.ring(entry_of(1, 7)).await, "nobody has that line");

    let ear = b.line(agent(1), 1).await;
    assert!(a.bell.ring(entry_of(1, 7)).await);
    assert_eq!(heard(&ear).await, entry(7));
    b.ears.close_line(&ear);
    until("nobody listens any more", || b.ears.changed_addresses().take().is_none()).await;
    a.stop().await;
    b.stop().await;
}

#[tokio::test]
async fn a_stop_reaches_the_line_it_names_and_no_sibling() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let named = b.line(agent(1), 1).await;
    let siblings = [b.line(agent(2), 1).await, a.line(agent(3), 1).await];

    assert!(a.bell.ring(stop(1)).await);
    let order =
        LineOrder::Stop { session_key: "s".to_owned(), chat_id: "c".to_owned(), report_to: None };
    assert_eq!(heard(&named).await.orders, [order]);
    // Hints arrive in order, so no earlier one is still on its way to them.
    for (number, sibling) in [2, 3].into_iter().zip(&siblings) {
        assert!(a.bell.ring(entry_of(number, 1)).await);
        assert_eq!(heard(sibling).await, entry(1));
    }
    assert_eq!(named.take_hints(), LineHints::default(), "once");
    assert!(!a.bell.ring(stop(4)).await, "nobody runs that");
}

#[tokio::test]
async fn a_stop_crosses_within_half_a_second() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let ear = b.line(agent(1), 1).await;

    let mut took = Vec::new();
    for _ in 0..200 {
        let began = Instant::now();
        // The bell gives up a ring after `RING_WAIT`, also if the machine stood still: that is a delay, not a loss.
        while !a.bell.ring(stop(1)).await {
            tokio::task::yield_now().await;
        }
        heard(&ear).await;
        took.push(began.elapsed());
    }
    took.sort_unstable();
    assert!(took[197] < Duration::from_millis(500), "{took:?}");
}

#[tokio::test]
async fn a_revocation_reaches_every_node() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let lines = [a.line(agent(1), 1).await, b.line(agent(2), 1).await];

    assert!(a.bell.ring(Ring::Revoked { gateway: gateway() }).await);
    for line in &lines {
        assert_eq!(heard(line).await.orders, [LineOrder::Revoked]);
    }
}

#[tokio::test]
async fn a_line_that_opens_tells_the_older_one_elsewhere() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let old = a.line(agent(1), 1).await;
    let new = b.line(agent(1), 2).await;

    assert_eq!(heard(&old).await.orders, [LineOrder::Replaced]);
    assert_eq!(new.take_hints(), LineHints::default());
}

#[tokio::test]
async fn a_node_is_asked_and_told_and_a_chat_is_looked_at_from_elsewhere() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let request = RequestId::new("r1").expect("a request");
    let settled = a.ears.settlements().begin_wait((agent(1), request.clone())).expect("room");

    assert!(a.bell.ring(Ring::Asked { node: "b".to_owned(), bot: BOT }).await);
    let asked = tokio::time::timeout(PATIENCE, b.ears.requested_bots().wait_and_take()).await;
    assert_eq!(asked.expect("b is asked"), MarkedItems::These(BTreeSet::from([BOT])));
    assert!(b.bell.ring(Ring::Settled { node: "a".to_owned(), agent: agent(1), request }).await);
    tokio::time::timeout(PATIENCE, settled.wait_for_ring()).await.expect("a is told");
    let nobody = Ring::Asked { node: "c".to_owned(), bot: BOT };
    assert!(!a.bell.ring(nobody).await, "there is no such node");

    let watch = b.ears.chat_watchers().watch(BOT, "visitor").expect("room");
    let chat = Ring::Chat { bot: BOT, chat: "visitor".to_owned() };
    while !a.bell.ring(chat.clone()).await {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(PATIENCE, watch.wait_for_ring()).await.expect("b looks");
}

#[tokio::test]
async fn a_node_that_could_not_ring_says_so_and_all_lines_are_looked_at() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    drop(b.line(agent(1), 1).await);
    let (ears, bell) = made(&redis.url(), "a");

    assert!(!bell.ring(entry_of(1, 7)).await, "not connected yet");
    let _a = Node::run(ears, bell);
    let doubted = tokio::time::timeout(PATIENCE, b.ears.lines_in_doubt().next_doubts()).await;
    assert_eq!(doubted.expect("b looks"), MarkedItems::All);
}

#[tokio::test]
async fn a_user_of_redis_with_few_rights_is_enough() {
    let redis = Server::start();
    let rights =
        "on nopass resetchannels &nightdesk:* -@all +@connection +publish +subscribe +unsubscribe";
    let order = ["ACL", "SETUSER", "desk"].into_iter().chain(rights.split(' '));
    redis.order(&order.collect::<Vec<_>>()).await;

    let url = redis.url().replace("redis://", "redis://desk@");
    let (a, b) = (Node::whole(&url, "a").await, Node::whole(&url, "b").await);
    let ear = b.line(agent(1), 1).await;
    assert!(a.bell.ring(entry_of(1, 7)).await);
    assert_eq!(heard(&ear).await, entry(7));
}

#[tokio::test]
async fn a_node_that_dies_puts_lines_in_doubt_and_one_that_goes_does_not() {
    let redis = Server::start();
    // Node b first, so that it receives the heartbeats of the others.
    let (b, a) = (Node::whole(&redis.url(), "b").await, Node::whole(&redis.url(), "a").await);
    let c = Node::whole(&redis.url(), "c").await;

    c.stop().await;
    a.kill().await;
    let took = b.breaks().await;
    assert!(took.as_millis() < 2_500, "{took:?}");
    let _again = Node::whole(&redis.url(), "a").await;
    // Whole again although c is gone, because c sent a bye.
    b.is_whole().await;
}
