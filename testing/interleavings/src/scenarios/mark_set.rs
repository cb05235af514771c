//! Marks that one task takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use loom::thread;

use crate::mark_set::{MarkSet, MarkedItems};
use crate::{block_on, explore};

/// Two threads mark an item each while a third one waits: it gets both, and does not wait for ever.
pub fn no_mark_is_lost() {
    explore(|| {
        let marks = Arc::new(MarkSet::default());
        let threads = [1, 2].map(|item| {
            let marks = Arc::clone(&marks);
            thread::spawn(move || marks.mark(item))
        });
        let mut taken = BTreeSet::new();
        while taken.len() < 2 {
            match block_on(marks.wait_and_take()) {
                MarkedItems::These(these) => taken.extend(these),
                MarkedItems::All => unreachable!("two marks are few"),
            }
        }
        assert_eq!(taken, BTreeSet::from([1, 2]));
        for thread in threads {
            assert!(thread.join().is_ok());
        }
        assert_eq!(marks.take(), None, "each mark is taken once");
    });
}

/// A thread marks all items while another one marks a single item: a task that takes them learns of all.
pub fn a_mark_of_all_is_not_narrowed() {
    explore(|| {
        let marks = Arc::new(MarkSet::default());
        let single = Arc::clone(&marks);
        let all = Arc::clone(&marks);
        let threads =
            [thread::spawn(move || single.mark(1)), thread::spawn(move || all.mark_all())];
        while block_on(marks.wait_and_take()) != MarkedItems::All {}
        for thread in threads {
            assert!(thread.join().is_ok());
        }
    });
}
