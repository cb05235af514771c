//! Tests that forged, repeated, reordered or delayed hints have no effect.

use std::time::Duration;

use nightdesk_bus::{HintSeal, LineHints, Ring};
use nightdesk_types::limits::HINT_AGE_MAX;
use nightdesk_types::{Clock, Generation, Seq, SystemClock, Timestamp};

use crate::node::{Node, SECRET, agent, channel, entry, heard};
use crate::server::Server;

const FORGED: usize = 10_000;

fn said(ring: &Ring) -> String {
    let ring = serde_json::to_value(ring).expect("a ring");
    serde_json::json!({ "ring": ring }).to_string()
}

fn words(seq: i64) -> String {
    said(&Ring::Entry { agent: agent(1), seq: Seq::new(seq) })
}

fn stop_of(session: &str) -> Ring {
    Ring::Stop {
        agent: agent(1),
        session_key: session.to_owned(),
        chat_id: "c".to_owned(),
        report_to: None,
    }
}

fn now() -> Timestamp {
    SystemClock::start().now()
}

/// Publishes all hints on the agent's channel over one connection, so that their order is preserved.
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
    let (stranger, known) = (HintSeal::new(&[8; 32]), HintSeal::new(&SECRET));

    let sealed = |seal: &HintSeal, seq| seal.seal(now(), &words(seq)).expect("short");
    let mut forged: Vec<String> = (0..).map(|seq| sealed(&stranger, seq)).take(FORGED).collect();
    forged.push(words(1));
    forged.push(sealed(&known, 2).replace(r#""seq":2"#, r#""seq":9"#));
    lie(&redis, &forged).await;
    // This hint is valid and published last: once it arrives, all earlier ones have arrived.
    lie(&redis, &[sealed(&known, 3)]).await;
    assert_eq!(heard(&ear).await, entry(3), "the first that is heard");
}

#[tokio::test]
async fn doubled_and_late_hints_have_no_effect() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let ear = b.line(agent(1), 1).await;
    let known = HintSeal::new(&SECRET);
    let stop = |at: Timestamp| known.seal(at, &said(&stop_of("s"))).expect("short");
    let late = now() - HINT_AGE_MAX - Duration::from_secs(1);

    let once = stop(now());
    let doubled = std::iter::repeat_n(once, 10).chain([stop(late), stop(late)]);
    lie(&redis, &doubled.collect::<Vec<_>>()).await;
    lie(&redis, &[known.seal(now(), &words(1)).expect("short")]).await;
    let mut orders = Vec::new();
    loop {
        let heard = heard(&ear).await;
        orders.extend(heard.orders);
        if heard.seq.is_some() {
            break;
        }
    }
    assert_eq!(orders.len(), 1, "a stop stops once, and not the next turn");
}

#[tokio::test]
async fn reordered_hints_do_no_harm() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let ear = b.line(agent(1), 1).await;
    let known = HintSeal::new(&SECRET);

    let mut hints: Vec<String> =
        (1..=9).map(|seq| known.seal(now(), &words(seq)).expect("short")).collect();
    hints.reverse();
    lie(&redis, &hints).await;
    let mut highest = None;
    while highest < Some(Seq::new(9)) {
        highest = highest.max(heard(&ear).await.seq);
    }
    lie(&redis, &[known.seal(now(), &words(10)).expect("short")]).await;
    while highest < Some(Seq::new(10)) {
        highest = highest.max(heard(&ear).await.seq);
    }
}

#[tokio::test]
async fn a_line_is_not_replaced_by_word_of_itself() {
    let redis = Server::start();
    let b = Node::whole(&redis.url(), "b").await;
    let (ear, other) = (b.line(agent(1), 1).await, b.line(agent(2), 1).await);
    let known = HintSeal::new(&SECRET);
    let replaced = Ring::Replaced { agent: agent(2), by: Generation::new(1) };

    let hint = known.seal(now(), &said(&replaced)).expect("short");
    lie(&redis, &[hint, known.seal(now(), &words(3)).expect("short")]).await;
    assert_eq!(heard(&ear).await, entry(3));
    assert_eq!(other.take_hints(), LineHints::default());
}
