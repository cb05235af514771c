//! Secrets against a plain list (Q16): whatever is rotated and however long anybody waits, an old one is
//! good until its overlap is over, and then the new one alone.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::TimedHarness;
use super::cast::{Cast, Person, secret};
use super::register::rotate;

const MINUTE: Duration = Duration::from_mins(1);

/// How many runs a store has to follow that is slow to set up.
const RUNS: usize = 24;

/// Something that happens to a gateway's secrets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// It gets another one; those it had are good for so many minutes more.
    Rotate(u32),
    /// Minutes pass.
    Pass(u32),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![(0_u32..60).prop_map(Step::Rotate), (1_u32..60).prop_map(Step::Pass)];
    prop::collection::vec(step, 1..8)
}

/// Whatever is rotated, the store says of each secret what the list says.
pub async fn whatever_is_rotated_ends_when_it_was_said_to(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let mut runner = TestRunner::deterministic();
    for run in 0..RUNS {
        let steps = steps().new_tree(&mut runner).expect("some steps").current();
        follow(harness, &cast, &format!("gw-{run}"), &steps).await;
    }
}

/// Plays steps on the store and on a list of when each secret ends, and compares them.
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

/// Whether a secret of a person's gateway opens a line now.
async fn good(harness: &impl TimedHarness, person: &Person, called: &str) -> bool {
    let found = harness.register().gateways_named(&person.author).await.expect("find a gateway");
    found.iter().any(|stored| stored.secret_id == secret(called).id && !stored.expired)
}
