//! Tests of the extents of grants.

use super::*;

#[test]
fn the_extent_of_a_grant_changes_nothing_but_the_ground() {
    for extent in [GrantExtent::Chat, GrantExtent::Parent, GrantExtent::Scope, GrantExtent::Bot] {
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
