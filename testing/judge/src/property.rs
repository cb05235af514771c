//! A random correct run passes; with one planted mistake it does not.

mod desk;
mod mistake;

use proptest::prelude::*;
use proptest::sample::Index;

use desk::{Desk, op};
use mistake::MISTAKES;

use crate::event::{Event, Record};
use crate::tale::Tale;

/// The agents.
const AGENTS: [&str; 3] = ["dave", "erin", "frank"];

fn places(tale: &Tale) -> Vec<usize> {
    let is_ours = |record: &Record| matches!(&record.ev, Event::GwRecv { agent, .. } if AGENTS.contains(&agent.as_str()));
    (0..tale.records.len()).filter(|&at| is_ours(&tale.records[at])).collect()
}

proptest! {
    #[test]
    fn a_run_in_which_all_went_well_passes(faults: bool, ops in prop::collection::vec(op(), 0..80)) {
        prop_assert_eq!(Desk::run(faults, &ops).broken_so_far(), [""; 0]);
    }

    #[test]
    fn a_mistake_is_found(
        faults: bool,
        ops in prop::collection::vec(op(), 1..80),
        place: Index,
        which in 0..MISTAKES.len(),
    ) {
        let mut tale = Desk::run(faults, &ops);
        let places = places(&tale);
        prop_assume!(!places.is_empty());
        let (mistake, want) = MISTAKES[which];
        prop_assume!(mistake.make(&mut tale.records, *place.get(&places)));

        let broken = tale.broken_so_far();
        prop_assert!(broken.contains(&want), "{mistake:?}: {broken:?}");
    }
}
