//! Entries are taken, answered and acked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nightdesk_sdk::{Agent, Descriptor, Event, Idle, Message, SendError};
use tokio::sync::{Notify, mpsc};

use crate::wire::{Street, on_another_line};

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

fn message(event: Event) -> Message {
    let Event::Message(message) = event else { unreachable!("only messages come") };
    message
}

#[tokio::test]
async fn a_message_is_answered_and_acked() {
    let mut street = Street::open().await;
    let agent = Agent::connect(street.settings(), echo).expect("good settings");
    let descriptors = agent.handshake().await.expect("a line");
    assert_eq!(descriptors[0].platform(), "discord");

    street.says("hello").await;
    assert_eq!(street.answer().await, "hello");
    assert_eq!(agent.go_idle().await, Idle::Settled);
    assert_eq!(street.oldest_unacked_after("next").await, "next");
}

#[tokio::test]
async fn each_bot_has_its_descriptor_in_order() {
    let street = Street::open().await;
    let settings = street.settings().speaking_for("telegram", "").speaking_for("webchat", "");
    let agent = Agent::connect(settings, echo).expect("good settings");

    let descriptors = agent.handshake().await.expect("a line");
    let platforms: Vec<&str> = descriptors.iter().map(Descriptor::platform).collect();
    assert_eq!(platforms, ["discord", "telegram", "webchat"]);
}

#[tokio::test]
async fn a_turn_goes_on_when_its_line_is_cut_and_happens_once() {
    let mut street = Street::open().await;
    let (turns, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (begun, mut turns_begun) = mpsc::channel(8);
    let (counted, gone) = (Arc::clone(&turns), Arc::clone(&go));
    let agent = Agent::connect(street.settings(), move |event| {
        let (turns, go, begun) = (Arc::clone(&counted), Arc::clone(&gone), begun.clone());
        async move {
            turns.fetch_add(1, Ordering::Relaxed);
            begun.send(()).await.expect("the test listens");
            go.notified().await;
            echo(event).await
        }
    })
    .expect("good settings");

    street.says("hello").await;
    turns_begun.recv().await.expect("a turn begins");
    street.wire.cut();
    on_another_line(&agent).await;
    go.notify_one();
    assert_eq!(street.answer().await, "hello");
    assert_eq!(agent.go_idle().await, Idle::Settled);
    assert_eq!(turns.load(Ordering::Relaxed), 1);
    assert_eq!(street.oldest_unacked_after("next").await, "next");
}

#[tokio::test]
async fn what_a_turn_could_not_handle_comes_again_on_another_line() {
    let mut street = Street::open().await;
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let (begun, mut turns_begun) = mpsc::channel(8);
    let agent = Agent::connect(street.settings(), move |event| {
        let (tries, begun) = (Arc::clone(&counted), begun.clone());
        async move {
            let nth = tries.fetch_add(1, Ordering::Relaxed);
            begun.send(()).await.expect("the test listens");
            assert_ne!(nth, 0, "the first try panics");
            if nth == 1 { Err(SendError::NoLine) } else { echo(event).await }
        }
    })
    .expect("good settings");

    street.says("hello").await;
    for _ in 0..2 {
        turns_begun.recv().await.expect("a turn begins");
        street.wire.cut();
        on_another_line(&agent).await;
    }
    assert_eq!(street.answer().await, "hello");
    assert_eq!(tries.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_turn_that_acked_early_is_not_repeated() {
    let street = Street::open().await;
    let (begun, mut turns_begun) = mpsc::channel(8);
    let agent = Agent::connect(street.settings(), move |event| {
        let begun = begun.clone();
        async move {
            message(event).turn.ack().await;
            begun.send(()).await.expect("the test listens");
            std::future::pending::<Result<(), SendError>>().await
        }
    })
    .expect("good settings");

    street.says("hello").await;
    turns_begun.recv().await.expect("a turn begins");
    agent.disconnect().await;
    assert_eq!(street.oldest_unacked_after("next").await, "next");
}

#[tokio::test]
async fn an_interrupt_stops_the_turn_it_names() {
    let mut street = Street::open().await;
    let (begun, mut turns_begun) = mpsc::channel(8);
    let agent = Agent::connect(street.settings(), move |event| {
        let begun = begun.clone();
        async move {
            let message = message(event);
            begun.send(message.turn.session_key().clone()).await.expect("the test listens");
            message.turn.stopped().await;
            message.reply("stopped").await.map(drop)
        }
    })
    .expect("good settings");

    street.says("hello").await;
    let session = turns_begun.recv().await.expect("a turn begins");
    agent.desk().send_interrupt(session, None).await.expect("a line");
    assert_eq!(street.answer().await, "stopped");
}

#[tokio::test]
async fn an_agent_that_is_dropped_takes_its_turns_along() {
    let street = Street::open().await;
    let (held, mut dropped) = mpsc::channel::<()>(1);
    let (begun, mut turns_begun) = mpsc::channel(8);
    let agent = Agent::connect(street.settings(), move |_| {
        let (held, begun) = (held.clone(), begun.clone());
        async move {
            begun.send(()).await.expect("the test listens");
            std::future::pending::<()>().await;
            drop(held);
            Ok::<_, SendError>(())
        }
    })
    .expect("good settings");

    street.says("hello").await;
    turns_begun.recv().await.expect("a turn begins");
    let desk = agent.desk().clone();
    drop(agent);
    assert_eq!(dropped.recv().await, None, "nobody holds it any more");
    let place = nightdesk_sdk::Place::chat("discord", "c1");
    assert_eq!(desk.send(&place, "late").await, Err(SendError::Over));
}
