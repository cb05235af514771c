//! Checks the parking and resubmission of entries.

use nightdesk_inbox::{AckOutcome, ParkOutcome, ParkReason};
use nightdesk_types::{AgentId, Seq, TenantScope};

use super::put::seq;
use crate::Harness;
use crate::cast::{Cast, Line, Person};

/// Checks that a parked entry leaves the inbox, and that the cursor moves over it.
pub async fn a_parked_entry_leaves_the_inbox(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 4).await;
    let line = cast.line(&ann).await;

    assert_eq!(park(&cast, &line, 3).await, ParkOutcome::Parked);
    assert_eq!(cast.numbers(&line).await, [1, 2, 4]);
    assert_eq!(park(&cast, &line, 1).await, ParkOutcome::Parked);
    let new = cast.line(&ann).await;
    assert_eq!(new.taken.acked, Seq::new(1), "the cursor moved over it");
    assert_eq!(cast.numbers(&new).await, [2, 4]);
    assert_eq!(cast.ack(&new, &[(2, 2)]).await, AckOutcome::Moved(Seq::new(3)));
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [1, 3].map(|number| (seq(number), ParkReason::Operator)));
}

/// Checks that only the newest line parks, and only waiting entries.
pub async fn only_the_newest_line_parks_what_waits(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 4).await;
    let old = cast.line(&ann).await;
    let new = cast.line(&ann).await;
    cast.ack(&new, &[(1, 1), (3, 3)]).await;

    assert_eq!(park(&cast, &old, 2).await, ParkOutcome::LineReplaced);
    assert_eq!(park(&cast, &new, 2).await, ParkOutcome::Parked);
    let cases = [("acked", 1), ("parked before", 2), ("acked beyond the cursor", 3)];
    for (name, number) in cases.into_iter().chain([("never given out", 9)]) {
        assert_eq!(park(&cast, &new, number).await, ParkOutcome::NotWaiting, "{name}");
    }
    assert_eq!(cast.numbers(&new).await, [4]);
}

/// Checks that a parked entry can be resubmitted once, under a new number and with the same content.
pub async fn a_parked_entry_is_resubmitted_once(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    let before = cast.waiting(&line).await.swap_remove(1);
    park(&cast, &line, 2).await;

    let again = resubmit(harness, (ann.scope, ann.agent), 2).await;
    assert_eq!(again, Some(seq(4)));
    let entries = cast.waiting(&line).await;
    assert_eq!(entries.iter().map(|entry| entry.seq.get()).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!((&entries[2].json, &entries[2].chat_id), (&before.json, &before.chat_id));
    assert_eq!(resubmit(harness, (ann.scope, ann.agent), 2).await, None, "only once");
    assert_eq!(cast.stored(&ann.says(9)).await.seq, seq(5), "it took one number");
}

/// Checks that an entry which is not parked, or is another tenant's, cannot be resubmitted.
pub async fn only_what_is_parked_is_resubmitted(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 2).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    park(&cast, &line, 2).await;
    let cases = [
        ("acked", (ann.scope, ann.agent), 1),
        ("never given out", (ann.scope, ann.agent), 9),
        ("another tenant's", (bob.scope, ann.agent), 2),
        ("another agent's", (bob.scope, bob.agent), 2),
    ];

    for (name, whose, number) in cases {
        assert_eq!(resubmit(harness, whose, number).await, None, "{name}");
    }
    assert_eq!(cast.numbers(&line).await, [0; 0]);
}

/// Checks that a resubmitted entry is an entry like any other: it can be parked and resubmitted again.
pub async fn a_resubmitted_entry_is_an_entry_like_any_other(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 1).await;
    let Person { scope, agent, .. } = ann;
    let line = cast.line(&ann).await;

    for number in [1, 2, 3] {
        assert_eq!(park(&cast, &line, number).await, ParkOutcome::Parked);
        let again = resubmit(harness, (scope, agent), number).await;
        assert_eq!(again, Some(Seq::new(number + 1)));
    }
    assert_eq!(cast.ack(&line, &[(4, 4)]).await, AckOutcome::Moved(Seq::new(4)));
    assert_eq!(cast.numbers(&line).await, [0; 0]);
}

async fn park(cast: &Cast<'_>, line: &Line, number: i64) -> ParkOutcome {
    let inbox = cast.harness.inbox();
    let parked = inbox.park(&line.claim, Seq::new(number), ParkReason::Operator).await;
    parked.expect("park an entry")
}

async fn resubmit(
    harness: &impl Harness,
    (scope, agent): (TenantScope, AgentId),
    number: i64,
) -> Option<Seq> {
    let again = harness.aside().resubmit(scope, agent, Seq::new(number)).await;
    again.expect("resubmit an entry")
}
