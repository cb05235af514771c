//! Tests of the extents of grants.

use super::*;

#[test]
fn the_extent_of_a_grant_changes_nothing_but_the_ground() {
    for extent in [Extent::Chat, Extent::Parent, Extent::Scope, Extent::Bot] {
        let held = held(BOBS, |held| held.extent = extent);
        let decision = decided(&thread(), &[], held.as_ref());
        let want = Verdict {
            recipient: BOBS,
            ground: Ground::Grant(extent),
            refusal: None,
            may_continue: false,
        };
        assert_eq!(decision.verdicts, [want]);
    }
}
