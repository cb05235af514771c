//! Checks the promises of upkeep at any moment. Its effects after days are in [`time`](super::time).

use nightdesk_inbox::{AuthorPace, ParkReason, PutOutcome, SweepReport};
use nightdesk_register::audit::Kind;
use nightdesk_types::{Quota, Seq};

use super::Harness;
use super::cast::Cast;

/// More acts than a check makes.
const ACTS_MAX: i64 = 1_000;

/// Checks that any number of upkeep rounds touch no young rows.
pub async fn a_round_touches_nothing_young(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;

    for _ in 0..3 {
        assert_eq!(keep(harness).await, SweepReport::default());
    }
    assert_eq!(cast.numbers(&line).await, [2, 3]);
    assert_eq!(cast.put(&ann.says(1)).await, PutOutcome::Duplicate);
}

/// Checks that a round removes the newest parked entries above the quotas of an agent, and that the tenant is told once.
pub async fn parked_entries_above_the_quota_are_removed_and_told(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let register = harness.register();
    let quota = |scope, quota, allowed| register.set_quota(scope, quota, allowed);
    for (person, numbers) in [(&ann, 1..=5), (&bob, 6..=10)] {
        quota(person.scope, Quota::PendingEntries, 0).await.expect("set a quota");
        for number in numbers {
            cast.stored(&person.says(number)).await;
        }
    }
    quota(ann.scope, Quota::ParkedEntries, 2).await.expect("set a quota");
    let acts = async || {
        let acts = harness.register().audit_records(ann.scope, 0, ACTS_MAX).await;
        let acts = acts.expect("read the audit log");
        acts.iter().filter(|act| act.kind == Kind::EntriesDiscarded.slug()).count()
    };

    for _ in 0..2 {
        keep(harness).await;
        let numbers = |parked: Vec<(Seq, ParkReason)>| {
            parked.iter().map(|(seq, _)| seq.get()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(harness.parked(ann.scope, ann.agent).await), [1, 2]);
        assert_eq!(harness.parked(bob.scope, bob.agent).await.len(), 5);
        assert_eq!(acts().await, 1);
    }
    quota(bob.scope, Quota::ParkedBytes, 0).await.expect("set a quota");
    keep(harness).await;
    assert_eq!(harness.parked(bob.scope, bob.agent).await, []);
}

/// Checks that entries of an author over the rate are discarded before all others, even before later ones.
pub async fn a_flood_pushes_out_no_other_parked_entry(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let register = harness.register();
    let quota = |quota, allowed| register.set_quota(ann.scope, quota, allowed);
    quota(Quota::PendingEntries, 0).await.expect("set a quota");
    for (numbers, pace) in [
        (1..=2, AuthorPace::Park),
        (3..=4, AuthorPace::Deliver),
        (5..=8, AuthorPace::Park),
        (9..=9, AuthorPace::Deliver),
    ] {
        let accepts = cast.accepts(numbers.map(|number| ann.says(number))).await;
        let accepts: Vec<_> =
            accepts.into_iter().map(|accept| accept.with_paces(&[pace])).collect();
        cast.accept(&accepts).await;
    }
    let parked = async || {
        let parked = harness.parked(ann.scope, ann.agent).await;
        parked.into_iter().map(|(seq, _)| seq.get()).collect::<Vec<_>>()
    };
    assert_eq!(parked().await, [1, 2, 3, 4, 5, 6, 7, 8, 9]);

    for (allowed, kept) in [(5, vec![1, 2, 3, 4, 9]), (3, vec![3, 4, 9]), (2, vec![3, 4])] {
        quota(Quota::ParkedEntries, allowed).await.expect("set a quota");
        keep(harness).await;
        assert_eq!(parked().await, kept);
    }
}

/// Runs one round.
pub(super) async fn keep(harness: &impl Harness) -> SweepReport {
    harness.upkeep().sweep().await.expect("keep the days")
}
