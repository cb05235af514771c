//! A Redis that forges, doubles, reorders or delays hints has no effect.

use nightdesk_bus::{Bell, Heard, Ring, Seal};
use nightdesk_types::limits::HINT_AGE_MAX;
use nightdesk_types::{Clock, Generation, Seq, SystemClock, Timestamp};

use crate::node::{Node, SECRET, agent, channel, entry, heard};
use crate::server::Server;

const FORGED: usize = 10_000;

fn words(seq: i64) -> String {
    let ring = serde_json::to_value(Ring::Entry { agent: agent(1), seq: Seq::new(seq) });
    serde_json::json!({ "ring": ring.expect("a ring") }).to_string()
}

fn now() -> Timestamp {
    SystemClock::started().now()
}

/// Says all of it on the agent's channel, over one connection, so that the order is kept.
async fn lie(redis: &Server, hints: &[String]) {
    let (mut client, channel) = (redis.client().await, channel(&format!("agent:{}", agent(1))));
    for some in hints.chunks(500) {
        let mut lies = redis::pipe();
        for hint in some {
            lies.cmd("PUBLISH").arg(&channel).arg(hint).ignore();
        }
        let () = lies.query_async(&mut client).await.expect("Redis passes on anything");
    }
}

#[tokio::test]
async fn ten_thousand_forged_hints_ring_nothing() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let ear = b.line(agent(1), 1).await;
    let (stranger, known) = (Seal::new(&[8; 32]), Seal::new(&SECRET));

    let sealed = |seal: &Seal, seq| seal.seal(now(), &words(seq)).expect("short");
    let mut forged: Vec<String> = (0..).map(|seq| sealed(&stranger, seq)).take(FORGED).collect();
    forged.push(words(1));
    forged.push(sealed(&known, 2).replace(r#""seq":2"#, r#""seq":9"#));
    lie(&redis, &forged).await;
    // This one is true, and said last: once it is heard, all before it were.
    lie(&redis, &[sealed(&known, 3)]).await;
    assert_eq!(heard(&ear).await, entry(3), "the first that is heard");
}

#[tokio::test]
async fn doubled_and_late_hints_have_no_effect_and_reordered_ones_no_harm() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let ear = b.line(agent(1), 1).await;
    let (one, other) = (Seal::new(&SECRET), Seal::new(&SECRET));
    let sealed = |at: Timestamp, seq| one.seal(at, &words(seq)).expect("short");
    let (first, second, third) = (sealed(now(), 1), sealed(now(), 2), sealed(now(), 3));
    let late = now() - HINT_AGE_MAX - std::time::Duration::from_secs(1);

    lie(&redis, &[third.clone(), first.clone(), second]).await;
    assert_eq!(heard(&ear).await.seq, Some(Seq::new(3)), "the highest counts");
    // One hint after the other, so that what was heard of them is seen.
    let mark = |seq| other.seal(now(), &words(seq)).expect("short");
    lie(&redis, &[mark(4)]).await;
    while heard(&ear).await.seq < Some(Seq::new(4)) {}
    let replayed: Vec<String> =
        std::iter::repeat_n(third, 100).chain([first, sealed(late, 99)]).collect();
    lie(&redis, &replayed).await;
    lie(&redis, &[mark(5)]).await;
    assert_eq!(heard(&ear).await, entry(5), "nothing of it was heard");
}

#[tokio::test]
async fn a_hint_for_another_line_reaches_nobody_on_a_wrong_channel() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let (ear, other) = (b.line(agent(1), 1).await, b.line(agent(2), 1).await);
    let known = Seal::new(&SECRET);
    let replaced = Ring::Replaced { agent: agent(2), by: Generation::new(1) };
    let replaced = serde_json::json!({ "ring": serde_json::to_value(replaced).expect("a ring") });

    let hint = known.seal(now(), &replaced.to_string()).expect("short");
    lie(&redis, &[hint, known.seal(now(), &words(3)).expect("short")]).await;
    assert_eq!(heard(&ear).await, entry(3));
    assert_eq!(other.listen(), Heard::default(), "a line is not replaced by itself");
    assert!(b.bell.ring(Ring::Entry { agent: agent(2), seq: Seq::new(1) }).await);
}
