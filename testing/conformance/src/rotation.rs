//! Compares secrets with a plain list (Q16): after any rotations and waits, an old secret is valid until its overlap is
//! over, and then only the new one.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::TimedHarness;
use super::cast::{Cast, Person, secret};
use super::register::rotate;

const MINUTE: Duration = Duration::from_mins(1);

/// Number of runs on a store that is slow to set up.
const RUNS: usize = 24;

/// A step on a gateway's secrets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Adds a secret. The previous ones stay valid for this many minutes.
    Rotate(u32),
    /// Advances the time by minutes.
    Pass(u32),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![(0_u32..60).prop_map(Step::Rotate), (1_u32..60).prop_map(Step::Pass)];
    prop::collection::vec(step, 1..8)
}

/// Checks that the store agrees with the list on each secret after random steps.
pub async fn whatever_is_rotated_ends_when_it_was_said_to(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let mut runner = TestRunner::deterministic();
    for run in 0..RUNS {
        let steps = steps().new_tree(&mut runner).expect("some steps").current();
        follow(harness, &cast, &format!("gw-{run}"), &steps).await;
    }
}

/// Plays steps on the store and on a list of the secrets' ends, and compares them.
pub(super) async fn follow(
    harness: &impl TimedHarness,
    cast: &Cast<'_>,
    name: &str,
    steps: &[Step],
) {
    let person = cast.stranger(name).await;
    let (mut now, mut ends) = (0, vec![(name.to_owned(), u32::MAX)]);
    for step in steps {
        match *step {
            Step::Rotate(overlap) => {
                let new = format!("{name}-{}", ends.len());
                rotate(harness, &person, &new, MINUTE * overlap).await;
                for (_, end) in &mut ends {
                    *end = (*end).min(now + overlap);
                }
                ends.push((new, u32::MAX));
            }
            Step::Pass(minutes) => {
                harness.let_pass(MINUTE * minutes).await;
                now += minutes;
            }
        }
        for (called, end) in &ends {
            let is_good = good(harness, &person, called).await;
            assert_eq!(is_good, now < *end, "{called} at {now} after {steps:?}");
        }
    }
}

/// Returns true if a secret of a person's gateway opens a line now.
async fn good(harness: &impl TimedHarness, person: &Person, called: &str) -> bool {
    let found = harness.register().gateways_named(&person.author).await.expect("find a gateway");
    found.iter().any(|stored| stored.secret_id == secret(called).id && !stored.expired)
}
