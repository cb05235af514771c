//! Promises about events that reached no agent.

use nightdesk_gate::{Refusal, RefusalNote};
use nightdesk_inbox::{ParkReason, QuarantinedEvent};
use nightdesk_office::{ParkedGroup, ParkedRow};
use nightdesk_register::audit::Kind;
use nightdesk_types::{Seq, TenantScope};

use super::super::Harness;
use super::super::cast::{Cast, Person};
use super::count;

async fn park(harness: &dyn Harness, person: &Person, number: i64) {
    let parked = harness.aside().park_waiting(person.scope, person.agent, Seq::new(number)).await;
    assert!(parked.expect("park an entry"));
}

async fn groups(harness: &dyn Harness, scope: TenantScope) -> Vec<ParkedGroup> {
    harness.office().parked_groups(scope).await.expect("group parked entries")
}

async fn rows(harness: &dyn Harness, scope: TenantScope) -> Vec<ParkedRow> {
    let rows = harness.office().parked_rows(scope, ParkReason::Operator, None).await;
    rows.expect("list parked entries")
}

/// Parked entries are grouped by their reason, with the newest one as a sample. A resubmitted entry is no longer one.
pub async fn parked_entries_are_grouped_by_reason(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.several(&ann, 3).await;
    assert_eq!(groups(harness, ann.scope).await, []);
    park(harness, &ann, 1).await;
    park(harness, &ann, 2).await;

    let found = groups(harness, ann.scope).await;
    assert_eq!((found.len(), found[0].reason, found[0].count), (1, ParkReason::Operator, count(2)));
    let newest = &found[0].newest;
    assert_eq!((newest.key.agent, newest.key.seq), (ann.agent, Seq::new(2)));
    assert_eq!((newest.agent_name.as_str(), newest.bot), ("ann", cast.bot.id));
    assert_eq!(groups(harness, bob.scope).await, [], "not to another tenant");
    for number in [1, 2] {
        let again = harness.aside().resubmit(ann.scope, ann.agent, Seq::new(number)).await;
        assert!(again.expect("resubmit an entry").is_some());
    }
    assert_eq!(groups(harness, ann.scope).await, []);
}

/// Parked entries with a reason are listed oldest first, after any of them.
pub async fn parked_entries_come_in_pages(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    for number in [2, 1, 3] {
        park(harness, &ann, number).await;
    }

    let all = rows(harness, ann.scope).await;
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted_by_key(|row| row.key), "{all:?}");
    let office = harness.office();
    let after = office.parked_rows(ann.scope, ParkReason::Operator, Some(all[0].key)).await;
    assert_eq!(after.expect("the next page"), all[1..]);
    let other = office.parked_rows(ann.scope, ParkReason::Tries, None).await;
    assert_eq!(other.expect("another reason"), []);
}

/// A dropped entry is gone for good, and the audit log tells it. An entry that waits, or is another tenant's, is not dropped.
pub async fn a_dropped_entry_is_gone_and_told(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.several(&ann, 2).await;
    park(harness, &ann, 1).await;
    let drop_entry = async |scope, number| {
        let dropped = harness.aside().drop_parked(scope, ann.agent, Seq::new(number)).await;
        dropped.expect("drop an entry")
    };

    assert!(!drop_entry(bob.scope, 1).await, "not by another tenant");
    assert!(!drop_entry(ann.scope, 2).await, "it waits");
    assert!(drop_entry(ann.scope, 1).await);
    assert!(!drop_entry(ann.scope, 1).await, "once");
    assert_eq!(rows(harness, ann.scope).await, []);
    let acts = harness.register().audit_records(ann.scope, 0, 1_000).await.expect("read the acts");
    let told: Vec<_> = acts.iter().filter(|act| act.kind == Kind::EntryRemoved.slug()).collect();
    assert_eq!(told.len(), 1, "{acts:?}");
    let again = harness.aside().resubmit(ann.scope, ann.agent, Seq::new(1)).await;
    assert_eq!(again.expect("resubmit an entry"), None);
}

/// Refusals are grouped by their reason, with the newest one as a sample.
pub async fn refusals_are_grouped_by_reason(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let bob = cast.person("bob").await;
    let note = |key: &str, refusal| RefusalNote {
        scope: cast.operator,
        bot: cast.bot.id,
        event_key: key.to_owned(),
        agent: None,
        refusal,
    };
    let notes = [
        note("k1", Refusal::UnboundAuthor),
        note("k2", Refusal::OtherBot),
        note("k3", Refusal::UnboundAuthor),
    ];
    harness.gate().note_refusals(&notes).await.expect("note refusals");

    let groups = harness.office().refusal_groups(cast.operator).await.expect("group refusals");
    let found: Vec<_> = groups
        .iter()
        .map(|group| (group.refusal, group.count, group.newest.note.event_key.as_str()))
        .collect();
    assert_eq!(found, [(Refusal::OtherBot, 1, "k2"), (Refusal::UnboundAuthor, 2, "k3")]);
    let others = harness.office().refusal_groups(bob.scope).await.expect("group refusals");
    assert_eq!(others, [], "not to another tenant");
}

/// Unreadable events are grouped by their bot and their problem.
pub async fn unreadable_events_are_grouped_by_problem(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let bob = cast.person("bob").await;
    for problem in ["a name twice", "not UTF-8", "a name twice"] {
        let event = QuarantinedEvent {
            operator: cast.operator,
            bot: cast.bot.id,
            problem: problem.to_owned(),
            body: b"x".to_vec(),
        };
        harness.inbox().quarantine(&event).await.expect("quarantine an event");
    }

    let office = harness.office();
    let groups = office.quarantine_groups(cast.operator).await.expect("group events");
    let found: Vec<_> = groups.iter().map(|group| (group.problem.as_str(), group.count)).collect();
    assert_eq!(found, [("a name twice", 2), ("not UTF-8", 1)]);
    assert!(groups.iter().all(|group| group.bot == cast.bot.id));
    assert_eq!(office.quarantine_groups(bob.scope).await.expect("group events"), []);
}
