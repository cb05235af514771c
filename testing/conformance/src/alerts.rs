//! Promises of the store of alerts.

use nightdesk_alerts::{
    AlertCause, AlertKind, AlertNews, AlertOutcome, AlertStep, AlertWay, CauseScan, DeliveryClaim,
    MailAddress, NewAlertWay, WayCoverage, WayCreation, WayTarget, WayTest,
};
use nightdesk_register::audit::Kind;
use nightdesk_types::TenantScope;
use nightdesk_types::limits::{
    ALERT_CLAIM_HELD, ALERT_CLEAR_AFTER, ALERT_REPEATED_AFTER, ALERT_RETRY_FIRST, ALERT_TEST_EVERY,
    ALERT_WAYS_MAX,
};

use super::cast::Cast;
use super::{Harness, TimedHarness};

mod causes;

pub use causes::{
    a_cause_has_a_bounded_number_of_samples, a_deaf_bot_is_a_cause_until_it_hears,
    a_full_inbox_is_a_cause_until_it_has_room, a_missed_fire_is_a_cause_for_an_hour,
    a_quota_that_is_almost_used_up_is_a_cause, a_wake_in_vain_is_a_cause_until_the_agent_dials_in,
    findings_of_a_node_count_for_a_while, parked_entries_are_a_cause_until_they_are_resubmitted,
    unreadable_events_are_a_cause_for_an_hour,
};

/// Acts that a check looks at.
const ACTS_MAX: i64 = 1_000;

const DESK: TenantScope = TenantScope::desk_own();

fn cause(harness: &impl TimedHarness, scope: TenantScope, kind: AlertKind) -> AlertCause {
    let samples = vec!["agent owl".to_owned(), "agent elk".to_owned()];
    AlertCause { scope, kind, count: 3, subjects: 2, samples, since: harness.now() }
}

/// Applies causes of all kinds, and returns the steps that make a message.
async fn apply(harness: &impl Harness, causes: &[AlertCause]) -> Vec<AlertStep> {
    let kinds = AlertKind::ALL.to_vec();
    let scan = CauseScan { kinds, causes: causes.to_vec(), is_complete: true };
    let update = harness.alerts().apply_scan(&scan).await.expect("change alerts");
    let open: u64 = update.open.values().sum();
    assert_eq!(open, count_open(harness).await, "{update:?}");
    let steps = update.changes.into_iter().map(|change| change.step);
    steps.filter(|step| *step != AlertStep::Seen).collect()
}

async fn count_open(harness: &impl Harness) -> u64 {
    harness.alert_ways().open_alerts().await.expect("list open alerts").len() as u64
}

fn mail(address: &str, coverage: WayCoverage) -> NewAlertWay {
    let address = MailAddress::parse(address).expect("an address");
    NewAlertWay { target: WayTarget::Mail(address), coverage }
}

async fn add(harness: &impl Harness, scope: TenantScope, new: &NewAlertWay) -> AlertWay {
    let created = harness.alert_ways().add_alert_way(scope, new).await.expect("add a way");
    let WayCreation::Created(way) = created else { panic!("it is new: {created:?}") };
    way
}

async fn claim(harness: &impl Harness) -> Vec<DeliveryClaim> {
    harness.alerts().claim_deliveries(100).await.expect("claim messages")
}

/// Claims the only message that is due.
async fn claimed(harness: &impl Harness) -> DeliveryClaim {
    let mut claims = claim(harness).await;
    assert_eq!(claims.len(), 1, "one is due: {claims:?}");
    claims.swap_remove(0)
}

async fn record(harness: &impl Harness, claim: &DeliveryClaim, outcome: AlertOutcome) {
    let recorded = harness.alerts().record_delivery(claim, &outcome).await;
    recorded.expect("store the result of a message");
}

/// An alert is opened once, is listed to its tenant, and is resolved when its cause is gone.
pub async fn an_alert_is_opened_and_resolved(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let parked = cause(harness, ann.scope, AlertKind::Parked);
    assert_eq!(apply(harness, std::slice::from_ref(&parked)).await, [AlertStep::Opened]);
    assert_eq!(apply(harness, std::slice::from_ref(&parked)).await, []);

    let listed = harness.alert_ways().alerts(ann.scope).await.expect("list alerts");
    assert_eq!((listed.len(), listed[0].count, listed[0].subjects), (1, 3, 2));
    assert_eq!(listed[0].samples, parked.samples);
    assert_eq!(harness.alert_ways().alerts(bob.scope).await.expect("list alerts"), []);
    let open = harness.alert_ways().open_alerts().await.expect("list open alerts");
    assert_eq!(open[0].tenant_name.as_deref(), Some("ann"));
    harness.let_pass(ALERT_CLEAR_AFTER).await;
    assert_eq!(apply(harness, &[]).await, [AlertStep::Resolved]);
    let listed = harness.alert_ways().alerts(ann.scope).await.expect("list alerts");
    assert!(!listed[0].is_open(), "{listed:?}");
    assert_eq!(apply(harness, &[parked]).await, [AlertStep::Opened], "it came back");
    let listed = harness.alert_ways().alerts(ann.scope).await.expect("list alerts");
    assert!(listed.len() == 1 && listed[0].is_return, "{listed:?}");
}

/// A message is claimed by one node, retried after a failure, and not repeated after it arrived.
pub async fn a_message_is_delivered_once(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let way = add(harness, ann.scope, &mail("ops@a.example", WayCoverage::Own)).await;
    let parked = [cause(harness, ann.scope, AlertKind::Parked)];
    apply(harness, &parked).await;
    let first = claimed(harness).await;
    assert_eq!((first.news, first.failures, &first.way), (AlertNews::Opened, 0, &way));
    assert_eq!(first.tenant_name.as_deref(), Some("ann"));
    assert_eq!(claim(harness).await, [], "its node has it");
    harness.let_pass(ALERT_CLAIM_HELD).await;
    let second = claimed(harness).await;
    assert_eq!((second.news, second.failures), (AlertNews::Opened, 0), "its node died");

    record(harness, &second, AlertOutcome::Failed("refused".to_owned())).await;
    assert_eq!(claim(harness).await, []);
    let ways = harness.alert_ways().alert_ways(ann.scope).await.expect("list ways");
    assert_eq!((ways[0].failure.as_deref(), ways[0].told_at), (Some("refused"), None));
    harness.let_pass(ALERT_RETRY_FIRST).await;
    let third = claimed(harness).await;
    assert_eq!(third.failures, 1);
    record(harness, &third, AlertOutcome::Arrived).await;
    record(harness, &third, AlertOutcome::Failed("late".to_owned())).await;
    assert_eq!(claim(harness).await, []);
    let ways = harness.alert_ways().alert_ways(ann.scope).await.expect("list ways");
    assert!(ways[0].failure.is_none() && ways[0].told_at.is_some(), "{ways:?}");
    harness.let_pass(ALERT_REPEATED_AFTER[0]).await;
    assert_eq!(apply(harness, &parked).await, [AlertStep::Repeated]);
    let repeated = claimed(harness).await;
    assert_eq!(repeated.news, AlertNews::Repeated);
    record(harness, &repeated, AlertOutcome::Arrived).await;
    harness.let_pass(ALERT_CLEAR_AFTER).await;
    apply(harness, &[]).await;
    let resolved = claimed(harness).await;
    assert_eq!(resolved.news, AlertNews::Resolved);
}

/// A way of the desk gets the alerts of the desk, and those of tenants if it covers them. A tenant's way gets its own.
pub async fn a_way_gets_the_alerts_that_it_covers(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let anns = add(harness, ann.scope, &mail("ann@a.example", WayCoverage::Own)).await;
    add(harness, bob.scope, &mail("bob@a.example", WayCoverage::Own)).await;
    let own = add(harness, DESK, &mail("desk@a.example", WayCoverage::Own)).await;
    let all = add(harness, DESK, &mail("all@a.example", WayCoverage::AllTenants)).await;
    let disk = cause(harness, DESK, AlertKind::Disk);
    apply(harness, &[cause(harness, ann.scope, AlertKind::Parked), disk]).await;

    let mut told: Vec<_> = claim(harness)
        .await
        .into_iter()
        .map(|one| (one.alert.kind.slug(), one.way.id, one.tenant_name))
        .collect();
    told.sort();
    let ann = || Some("ann".to_owned());
    let mut wanted = vec![
        ("parked", anns.id, ann()),
        ("parked", all.id, ann()),
        ("disk", own.id, None),
        ("disk", all.id, None),
    ];
    wanted.sort();
    assert_eq!(told, wanted);
}

/// A way that is added later hears of open alerts, and of none that is over. A removed way hears nothing.
pub async fn a_way_hears_of_what_is_open(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let parked = cause(harness, ann.scope, AlertKind::Parked);
    apply(harness, &[parked.clone(), cause(harness, ann.scope, AlertKind::DeafBot)]).await;
    harness.let_pass(ALERT_CLEAR_AFTER).await;
    assert_eq!(apply(harness, &[parked]).await, [AlertStep::Resolved]);
    let way = add(harness, ann.scope, &mail("ops@a.example", WayCoverage::Own)).await;
    let other = add(harness, ann.scope, &mail("other@a.example", WayCoverage::Own)).await;
    let removed = harness.alert_ways().remove_alert_way(ann.scope, other.id).await;
    assert!(removed.expect("remove a way"));

    let claim = claimed(harness).await;
    assert_eq!((claim.alert.kind, claim.news), (AlertKind::Parked, AlertNews::Opened));
    let removed = harness.alert_ways().remove_alert_way(ann.scope, way.id).await;
    assert!(removed.expect("remove a way"));
    record(harness, &claim, AlertOutcome::Arrived).await;
    assert_eq!(harness.alert_ways().alert_ways(ann.scope).await.expect("list ways"), []);
}

/// A target has one way, an owner has a bounded number of them, and each change has a row in the audit log.
pub async fn ways_are_bounded_and_told(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let ways = harness.alert_ways();
    let nth = |number: i64| mail(&format!("ops{number}@a.example"), WayCoverage::Own);
    let first = add(harness, ann.scope, &nth(1)).await;
    let again = ways.add_alert_way(ann.scope, &nth(1)).await;
    assert_eq!(again.expect("add a way"), WayCreation::Exists);
    for number in 2..=ALERT_WAYS_MAX {
        add(harness, ann.scope, &nth(number)).await;
    }
    let more = ways.add_alert_way(ann.scope, &nth(ALERT_WAYS_MAX + 1)).await;
    assert_eq!(more.expect("add a way"), WayCreation::TooMany);
    add(harness, DESK, &nth(1)).await;

    assert!(ways.remove_alert_way(ann.scope, first.id).await.expect("remove a way"));
    assert!(!ways.remove_alert_way(ann.scope, first.id).await.expect("remove a way"));
    let acts = harness.register().audit_records(ann.scope, 0, ACTS_MAX).await;
    let acts = acts.expect("read the audit log");
    let count = |kind: Kind| acts.iter().filter(|act| act.kind == kind.slug()).count();
    let added = usize::try_from(ALERT_WAYS_MAX).expect("few");
    assert_eq!((count(Kind::AlertWayAdded), count(Kind::AlertWayRemoved)), (added, 1));
}

/// A way is tested at most once in its time. Another tenant sees, tests and removes none.
pub async fn a_way_is_tested_once_in_its_time(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let way = add(harness, ann.scope, &mail("ops@a.example", WayCoverage::Own)).await;
    let ways = harness.alert_ways();
    let test = async |scope| ways.claim_way_test(scope, way.id).await.expect("test a way");

    assert_eq!(test(bob.scope).await, WayTest::Unknown);
    assert_eq!(test(ann.scope).await, WayTest::Claimed(way.clone()));
    assert_eq!(test(ann.scope).await, WayTest::TooSoon);
    harness.let_pass(ALERT_TEST_EVERY).await;
    assert_eq!(test(ann.scope).await, WayTest::Claimed(way.clone()));
    assert!(!ways.remove_alert_way(bob.scope, way.id).await.expect("remove a way"));
    assert_eq!(ways.alert_ways(bob.scope).await.expect("list ways"), []);
}
