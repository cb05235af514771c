//! The rate limit of all nodes together, with Redis up, stopped and corrupted.

use std::time::{Duration, Instant};

use nightdesk_bus::SharedRateLimit;
use nightdesk_types::limits::RING_WAIT;
use nightdesk_types::rate_limit::Rate;

use crate::node::{Node, PATIENCE, channel};
use crate::server::Server;

const RATE: Rate = Rate::per(Duration::from_hours(1), 10);

/// Tries `tries` times for an author. Answers how many tries passed, or `None` if Redis was too slow for one of them: nobody
/// knows whether Redis counted that one.
async fn let_through(node: &Node, author: &str, tries: usize) -> Option<usize> {
    let mut count = 0;
    for _ in 0..tries {
        count += usize::from(node.bell.take(author, RATE).await?.is_ok());
    }
    Some(count)
}

/// Two nodes try for one author, and then one of them for another. Answers how many tries of each node passed and how long
/// the next one has to wait.
async fn tries_of_two(a: &Node, b: &Node, turn: usize) -> Option<(usize, usize, Duration)> {
    let author = format!("ann-{turn}");
    let counts = (let_through(a, &author, 7).await?, let_through(b, &author, 7).await?);
    let wait = a.bell.take(&author, RATE).await?.expect_err("none is left");
    assert_eq!(a.bell.take(&format!("bob-{turn}"), RATE).await?, Ok(()), "another is not held up");
    Some((counts.0, counts.1, wait))
}

#[tokio::test]
async fn nodes_together_let_through_what_one_may() {
    let redis = Server::start();
    let (a, b) = (Node::whole(&redis.url(), "a").await, Node::whole(&redis.url(), "b").await);
    let began = Instant::now();
    let mut turn = 0;
    // On a busy machine Redis may need longer than a node waits for it.
    let (of_a, of_b, wait) = loop {
        if let Some(tries) = tries_of_two(&a, &b, turn).await {
            break tries;
        }
        assert!(began.elapsed() < PATIENCE, "Redis answers in time");
        a.is_whole().await;
        b.is_whole().await;
        turn += 1;
    };

    assert_eq!(of_a, 7, "one node may use what others leave");
    assert_eq!(of_b, 3);
    assert!(wait <= RATE.step(), "{wait:?}");
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
        set.arg(&key).arg(lie);
        until_answer(want, async || {
            let () = set.query_async(&mut client).await.expect("Redis takes it");
            a.bell.take("ann", RATE).await
        })
        .await;
    }
    let mut push = redis::pipe();
    push.cmd("DEL").arg(&key).ignore().cmd("LPUSH").arg(&key).arg("x").ignore();
    let () = push.query_async(&mut client).await.expect("Redis takes it");
    assert_eq!(a.bell.take("ann", RATE).await, None, "what is no text at all");
    until_answer(Some(Ok(())), async || a.bell.take("bob", RATE).await).await;
}

/// Asks until this is the answer. Redis may be too slow for one question, and then the node does not ask until it has heard
/// itself again.
async fn until_answer(
    want: Option<Result<(), Duration>>,
    mut ask: impl AsyncFnMut() -> Option<Result<(), Duration>>,
) {
    let began = Instant::now();
    loop {
        let answer = ask().await;
        if answer == want {
            return;
        }
        assert_eq!(answer, None, "only an answer that did not come in time may differ");
        assert!(began.elapsed() < PATIENCE, "Redis answers in time");
        tokio::time::sleep(RING_WAIT).await;
    }
}
