//! Turns of sends in a chat.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::thread;

use crate::egress::lane::Lanes;
use crate::{block_on, explore};

/// The second of three turns leaves early while the first one ends: the third comes after the first.
pub fn a_turn_that_leaves_early_keeps_the_order() {
    explore(|| {
        let lanes = Lanes::<u8>::default();
        let [mut first, second, mut third] =
            [(); 3].map(|()| lanes.enter(7).expect("there is room"));
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let sending = thread::spawn(move || {
            assert!(block_on(first.wait_for_turn()), "the first turn comes at once");
            ends.store(true, Ordering::SeqCst);
            drop(first);
        });
        let leaving = thread::spawn(move || drop(second));
        assert!(block_on(third.wait_for_turn()), "every turn comes");
        assert!(is_over.load(Ordering::SeqCst), "the third turn came before the first was over");
        drop(third);
        assert!(sending.join().is_ok() && leaving.join().is_ok());
        assert_eq!(lanes.lanes_in_use(), 0, "nothing is left of a lane without turns");
    });
}

/// A turn is taken while the only earlier one ends: it comes, and nothing is left afterwards.
pub fn a_turn_comes_after_one_that_just_ends() {
    explore(|| {
        let lanes = Arc::new(Lanes::<u8>::default());
        let first = lanes.enter(7).expect("there is room");
        let entering = Arc::clone(&lanes);
        let second = thread::spawn(move || {
            let mut turn = entering.enter(7).expect("there is room");
            assert!(block_on(turn.wait_for_turn()), "every turn comes");
        });
        drop(first);
        assert!(second.join().is_ok());
        assert_eq!(lanes.lanes_in_use(), 0, "nothing is left of a lane without turns");
    });
}
