//! Every scenario, under every order of its threads.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::sync::{Arc, PoisonError};

use loom::sync::Mutex;
use loom::thread;
use nightdesk_interleavings::scenarios::{
    lanes, line_registry, mark_set, memory_budget, waits, writer_queue,
};
use nightdesk_interleavings::{block_on, explore};
use tokio::sync::Notify;

// Q22
#[test]
fn no_mark_is_lost() {
    mark_set::no_mark_is_lost();
}

#[test]
fn a_mark_of_all_is_not_narrowed() {
    mark_set::a_mark_of_all_is_not_narrowed();
}

#[test]
fn the_newer_of_two_lines_stays() {
    line_registry::the_newer_of_two_lines_stays();
}

#[test]
fn the_end_of_a_line_keeps_its_successor() {
    line_registry::the_end_of_a_line_keeps_its_successor();
}

#[test]
fn a_line_misses_no_hint() {
    line_registry::a_line_misses_no_hint();
}

#[test]
fn a_ring_reaches_a_wait_while_another_ends() {
    waits::a_ring_reaches_a_wait_while_another_ends();
}

#[test]
fn the_marks_follow_the_waits() {
    waits::the_marks_follow_the_waits();
}

#[test]
fn released_memory_reaches_each_waiting_tenant() {
    memory_budget::released_memory_reaches_each_waiting_tenant();
}

#[test]
fn an_abandoned_request_keeps_no_memory() {
    memory_budget::an_abandoned_request_keeps_no_memory();
}

#[test]
fn a_turn_that_leaves_early_keeps_the_order() {
    lanes::a_turn_that_leaves_early_keeps_the_order();
}

#[test]
fn a_turn_comes_after_one_that_just_ends() {
    lanes::a_turn_comes_after_one_that_just_ends();
}

#[test]
fn each_request_gets_its_response() {
    writer_queue::each_request_gets_its_response();
}

#[test]
fn a_request_to_a_writer_that_stops_ends() {
    writer_queue::a_request_to_a_writer_that_stops_ends();
}

/// A set of marks with a deliberate fault: it takes a copy and clears the set in a second step.
#[derive(Default)]
struct LossyMarks {
    marked: Mutex<BTreeSet<u8>>,
    signal: Notify,
}

impl LossyMarks {
    fn mark(&self, item: u8) {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).insert(item);
        self.signal.notify_one();
    }

    fn take(&self) -> BTreeSet<u8> {
        let taken = self.marked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).clear();
        taken
    }
}

fn lose_a_mark() {
    explore(|| {
        let marks = Arc::new(LossyMarks::default());
        let threads = [1, 2].map(|item| {
            let marks = Arc::clone(&marks);
            thread::spawn(move || marks.mark(item))
        });
        let mut taken = BTreeSet::new();
        while taken.len() < 2 {
            block_on(marks.signal.notified());
            taken.extend(marks.take());
        }
        for thread in threads {
            assert!(thread.join().is_ok());
        }
    });
}

/// The tests above could fail: the same scenario with a fault in the structure ends with a thread that waits for ever.
#[test]
fn a_lost_mark_is_found() {
    assert!(catch_unwind(lose_a_mark).is_err());
}
