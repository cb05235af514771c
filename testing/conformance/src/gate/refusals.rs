//! The ring of refusals.

use nightdesk_gate::{Refusal, RefusalNote};
use nightdesk_types::TenantScope;
use nightdesk_types::limits::REFUSALS_KEPT_MAX;

use super::super::Harness;
use super::super::cast::{Cast, tenant};

/// Checks that refusals are stored per tenant in a ring: the newest stay, the oldest fall out.
pub async fn refusals_are_kept_in_a_ring(harness: &impl Harness) {
    let kept_max = usize::try_from(REFUSALS_KEPT_MAX).expect("a limit is not negative");
    let cast = Cast::of(harness).await;
    let other = tenant(harness, "other").await;
    let mut notes: Vec<_> =
        (0..kept_max).map(|number| note(&cast, cast.operator, number)).collect();
    notes.insert(7, note(&cast, other, 0));
    harness.gate().note_refusals(&notes).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(0..kept_max));

    let more = [note(&cast, cast.operator, kept_max), note(&cast, cast.operator, kept_max + 1)];
    harness.gate().note_refusals(&more).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(2..kept_max + 2));
    assert_eq!(harness.refusals(other).await, keys(0..1), "every tenant has a ring of its own");
}

/// Checks that the last refusals of a batch stay if it is longer than the ring.
pub async fn a_batch_may_be_longer_than_the_ring(harness: &impl Harness) {
    let kept_max = usize::try_from(REFUSALS_KEPT_MAX).expect("a limit is not negative");
    let cast = Cast::of(harness).await;
    let all = (0..kept_max + 5).map(|number| note(&cast, cast.operator, number));
    let all: Vec<RefusalNote> = all.collect();

    harness.gate().note_refusals(&all).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(5..kept_max + 5));
}

fn note(cast: &Cast<'_>, scope: TenantScope, number: usize) -> RefusalNote {
    let event_key = format!("k{number}");
    let refusal = Refusal::UnboundAuthor;
    RefusalNote { scope, bot: cast.bot.id, event_key, agent: None, refusal }
}

/// Checks that only the tenant of a refusal's ring can read it.
pub async fn a_refusal_is_told_to_its_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let note = |refusal, agent| RefusalNote {
        scope: ann.scope,
        bot: cast.bot.id,
        event_key: "k1".to_owned(),
        agent,
        refusal,
    };
    let notes = [note(Refusal::NotAddressed, Some(ann.agent)), note(Refusal::UnboundAuthor, None)];
    harness.gate().note_refusals(&notes).await.expect("note refusals");
    let kept = async |scope, key| {
        let kept = harness.gate().read_refusals(scope, key).await.expect("read refusals");
        kept.into_iter().map(|kept| kept.note).collect::<Vec<_>>()
    };

    let [first, second] = notes;
    assert_eq!(kept(ann.scope, "k1").await, [second, first], "newest first");
    assert_eq!(kept(ann.scope, "k2").await, []);
    assert_eq!(kept(bob.scope, "k1").await, []);
}

fn keys(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("k{number}")).collect()
}
