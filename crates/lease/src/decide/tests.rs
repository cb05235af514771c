use std::time::Duration;

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn node(name: &str) -> Node {
    Node { name: name.to_owned(), epoch: NodeEpoch::new(1) }
}

fn life(beat: i64, is_expired: bool) -> Life {
    Life { node: node("other"), beat: LeaseBeat::new(beat), is_expired }
}

/// A watch, and its clock.
#[derive(Default)]
struct Watcher {
    watch: NodeWatch,
    now: Moment,
}

impl Watcher {
    /// Reads one life after a time, and returns true if it is dead.
    fn buries_after(&mut self, span: Duration, life: &Life) -> bool {
        self.now = self.now + span;
        let lives = std::slice::from_ref(life);
        let read = LivesRead { lives, asked_at: self.now, answered_at: self.now };
        !self.watch.find_dead(&node("this"), read).is_empty()
    }
}

#[test]
fn a_silent_life_is_dead_when_its_lease_is_over() {
    let mut watcher = Watcher::default();

    assert!(!watcher.buries_after(SECOND, &life(1, true)), "it was not watched yet");
    assert!(!watcher.buries_after(LEASE_LASTS.saturating_sub(SECOND), &life(1, true)));
    assert!(watcher.buries_after(SECOND, &life(1, true)));
}

#[test]
fn a_life_that_is_renewed_is_not_dead_whatever_the_databases_clock_says() {
    let mut watcher = Watcher::default();

    for beat in 1..100 {
        assert!(!watcher.buries_after(LEASE_LASTS.saturating_sub(SECOND), &life(beat, true)));
    }
}

#[test]
fn a_lease_that_has_not_expired_is_waited_for() {
    let mut watcher = Watcher::default();
    watcher.buries_after(SECOND, &life(1, false));

    assert!(!watcher.buries_after(LEASE_SILENT_MAX.saturating_sub(SECOND), &life(1, false)));
    assert!(watcher.buries_after(SECOND, &life(1, false)), "the clock was set back");
}

#[test]
fn a_new_life_of_the_same_node_is_watched_from_its_beginning() {
    let mut watcher = Watcher::default();
    watcher.buries_after(SECOND, &life(0, true));
    let mut next = life(0, true);
    next.node.epoch = next.node.epoch.next();

    assert!(!watcher.buries_after(LEASE_LASTS, &next));
    assert!(watcher.buries_after(LEASE_LASTS, &next));
}

#[test]
fn a_node_does_not_bury_itself() {
    let mut watcher = Watcher::default();
    let mut own = life(1, true);
    own.node = node("this");

    assert!(!watcher.buries_after(SECOND, &own));
    assert!(!watcher.buries_after(LEASE_SILENT_MAX, &own));
}

#[test]
fn the_time_without_a_store_does_not_count() {
    let mut watcher = Watcher::default();
    watcher.buries_after(SECOND, &life(1, true));
    watcher.watch.forget();

    assert!(!watcher.buries_after(LEASE_SILENT_MAX, &life(1, true)));
}

#[test]
fn the_time_of_the_read_itself_does_not_count() {
    let mut watch = NodeWatch::default();
    let lives = [life(1, true)];
    let mut read = |asked_secs, answered_secs| {
        let at = |secs| Moment::default() + Duration::from_secs(secs);
        let (asked_at, answered_at) = (at(asked_secs), at(answered_secs));
        watch.find_dead(&node("this"), LivesRead { lives: &lives, asked_at, answered_at }).len()
    };

    assert_eq!(read(0, 2), 0);
    assert_eq!(read(LEASE_LASTS.as_secs() + 1, LEASE_LASTS.as_secs() + 2), 0);
    assert_eq!(read(LEASE_LASTS.as_secs() + 2, LEASE_LASTS.as_secs() + 2), 1);
}

/// A read after some time.
#[derive(Clone, Copy, Debug)]
struct ReadStep {
    pause_ms: u64,
    /// The node renews before the read.
    renews: bool,
    /// The database's clock says that the lease expired.
    is_expired: bool,
    /// The read fails, and shows nothing.
    fails: bool,
}

fn reads() -> impl Strategy<Value = Vec<ReadStep>> {
    let step = (0_u64..3_000, any::<bool>(), any::<bool>(), any::<bool>());
    let step = step.prop_map(|(pause_ms, renews, is_expired, fails)| ReadStep {
        pause_ms,
        renews,
        is_expired,
        fails,
    });
    proptest::collection::vec(step, 0..200)
}

proptest! {
    /// A life is never dead before its own node gives it up, a lease after the request of its last renewal: the
    /// database's clock may say anything, and any read may fail.
    #[test]
    fn no_life_is_dead_while_its_node_holds_the_lease(reads in reads()) {
        let (mut watcher, mut beat, mut renewed_at) = (Watcher::default(), 0, Moment::default());
        for step in reads {
            let pause = Duration::from_millis(step.pause_ms);
            if step.renews {
                beat += 1;
                // At the latest directly before the read.
                renewed_at = watcher.now + pause;
            }
            if step.fails {
                watcher.now = watcher.now + pause;
            } else if watcher.buries_after(pause, &life(beat, step.is_expired)) {
                prop_assert!(watcher.now.since(renewed_at) >= LEASE_LASTS);
                break;
            }
        }
    }

    /// A life that is renewed no more is dead at the first read that succeeds after a lease and one interval of reads,
    /// if one read showed its last renewal.
    #[test]
    fn a_dead_life_is_found(
        before in reads(),
        pause_ms in 1_u64..1_000,
        failures in proptest::collection::vec(any::<bool>(), 0..200),
    ) {
        let (mut watcher, mut beat) = (Watcher::default(), 0);
        for step in before {
            beat += 1;
            watcher.buries_after(Duration::from_millis(step.pause_ms), &life(beat, step.is_expired));
        }
        let pause = Duration::from_millis(pause_ms);
        watcher.buries_after(pause, &life(beat, true));
        let (died_at, mut failures) = (watcher.now, failures.into_iter());
        let mut is_found = false;
        while !is_found && watcher.now.since(died_at) < LEASE_LASTS {
            if failures.next().unwrap_or(false) {
                watcher.now = watcher.now + pause;
            } else {
                is_found = watcher.buries_after(pause, &life(beat, true));
            }
        }
        prop_assert!(is_found || watcher.buries_after(Duration::ZERO, &life(beat, true)));
    }
}
