//! Waits for a chat, which end when they are dropped.

use std::sync::Arc;

use loom::thread;
use nightdesk_types::BotId;
use uuid::Uuid;

use crate::bell::BellAddress;
use crate::mark_set::MarkSet;
use crate::wait::{ChatKey, Watchers};
use crate::{block_on, explore};

const BOT: BotId = BotId::from_uuid(Uuid::nil());

fn chat() -> ChatKey {
    (BOT, "chat".to_owned())
}

/// A ring comes while a second wait for the same chat ends: the first wait gets the ring.
pub fn a_ring_reaches_a_wait_while_another_ends() {
    explore(|| {
        let watchers = Watchers::new(Arc::default());
        let first = watchers.begin_wait(chat()).expect("there is room");
        let second = watchers.begin_wait(chat()).expect("there is room");
        let ending = thread::spawn(move || drop(second));
        let ringing = {
            let watchers = watchers.clone();
            thread::spawn(move || assert!(watchers.ring_key(&chat()), "a task waits"))
        };
        block_on(first.wait_for_ring());
        assert!(ending.join().is_ok() && ringing.join().is_ok());
        drop(first);
        assert!(!watchers.has_wait(&chat()), "the last wait leaves nothing");
    });
}

/// A node that subscribes by the marks knows at the end if a task waits, for any order of begins and ends.
pub fn the_marks_follow_the_waits() {
    explore(|| {
        let changes = Arc::<MarkSet<BellAddress>>::default();
        let watchers = Watchers::new(Arc::clone(&changes));
        let short = {
            let watchers = watchers.clone();
            thread::spawn(move || drop(watchers.begin_wait(chat()).expect("there is room")))
        };
        let long = {
            let watchers = watchers.clone();
            thread::spawn(move || watchers.begin_wait(chat()).expect("there is room"))
        };
        let mut is_subscribed = false;
        let mut follow = || {
            if changes.take().is_some() {
                is_subscribed = watchers.has_wait(&chat());
            }
        };
        follow();
        assert!(short.join().is_ok());
        follow();
        let long = long.join();
        follow();
        assert!(is_subscribed, "a task waits, and the node does not listen");
        drop(long);
    });
}
