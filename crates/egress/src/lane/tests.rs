//! Tests of the lanes' promises.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;

type Names = Lanes<&'static str>;

#[tokio::test]
async fn turns_come_in_the_order_they_were_taken() {
    let lanes = Names::default();
    let (said, mut heard) = mpsc::channel(8);
    let turns: Vec<LaneTurn<_>> = (0..8).filter_map(|_| lanes.enter("chat")).collect();
    let speak = |(number, mut turn): (usize, LaneTurn<_>)| {
        let said = said.clone();
        tokio::spawn(async move {
            assert!(turn.wait_for_turn().await);
            said.send(number).await.unwrap();
        })
    };
    // Started in reverse, and still in order.
    let speakers: Vec<_> = turns.into_iter().enumerate().rev().map(speak).collect();

    for want in 0..8 {
        assert_eq!(heard.recv().await, Some(want));
    }
    for speaker in speakers {
        speaker.await.unwrap();
    }
    assert_eq!(lanes.lanes_in_use(), 0, "nothing is left behind");
}

#[tokio::test]
async fn lanes_do_not_wait_for_each_other() {
    let lanes = Names::default();
    let _slow = lanes.enter("slow");

    assert!(lanes.enter("other").unwrap().wait_for_turn().await);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_early_lets_nobody_pass() {
    for tail_leaves in [false, true] {
        let lanes = Names::default();
        let first = lanes.enter("chat").unwrap();
        let second = lanes.enter("chat").unwrap();
        let mut third = (!tail_leaves).then(|| lanes.enter("chat").unwrap());
        drop(second);
        let mut third = third.take().unwrap_or_else(|| lanes.enter("chat").unwrap());

        let early = timeout(Duration::from_secs(1), third.wait_for_turn()).await;
        assert!(early.is_err(), "the first is not through yet");
        drop(first);
        assert!(third.wait_for_turn().await);
        drop(third);
        assert_eq!(lanes.lanes_in_use(), 0, "nothing is left behind");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever() {
    let lanes = Names::default();
    let _stuck = lanes.enter("chat");
    let began = Instant::now();

    assert!(!lanes.enter("chat").unwrap().wait_for_turn().await);
    assert_eq!(began.elapsed().as_secs(), SEND_DONE_WITHIN.as_secs());
}

#[test]
fn turns_are_bounded() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let lanes: Lanes<usize> = Lanes::default();
    let mut turns: Vec<_> = (0..TURNS_MAX).map(|chat| lanes.enter(chat / 8).unwrap()).collect();

    assert!(lanes.enter(0).is_none(), "past the limit");
    turns.pop();
    assert!(lanes.enter(0).is_some(), "at the limit");
}
