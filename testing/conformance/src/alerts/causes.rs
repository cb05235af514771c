//! Promises about the causes of alerts.

use std::time::Duration;

use nightdesk_alerts::{AlertCause, AlertKind, NodeFinding};
use nightdesk_inbox::{ParkReason, QuarantinedEvent};
use nightdesk_schedule::{
    ArmRequest, FireAt, FireCause, FireEnd, FireEnding, JobId, Policies, Target,
};
use nightdesk_types::limits::{
    ALERT_CALLS_MIN, ALERT_EVENT_FOR, ALERT_SAMPLES_MAX, FINDINGS_LAST, UNRECORDED_CALL_GAP,
    WAKE_DEADLINE,
};
use nightdesk_types::{Node, Quota, Seq, TenantScope};
use nightdesk_wake::{WakeSelection, WakeTerms};

use super::DESK;
use crate::TimedHarness;
use crate::cast::Cast;

/// A lease that no test outlasts.
const LIFE: Duration = Duration::from_hours(24 * 365);

/// Looks for all causes, and returns that of this tenant and kind.
async fn find(
    harness: &impl TimedHarness,
    scope: TenantScope,
    kind: AlertKind,
) -> Option<AlertCause> {
    let scan = harness.alerts().find_causes(&AlertKind::ALL).await.expect("look for causes");
    assert!(scan.is_complete && scan.kinds == AlertKind::ALL);
    let other = harness.alerts().find_causes(&[AlertKind::LostCommits]).await;
    assert_eq!(other.expect("look for causes").causes, [], "only the kinds that are asked for");
    scan.causes.into_iter().find(|cause| (cause.scope, cause.kind) == (scope, kind))
}

/// Entries that the desk parked are a cause until they are put into the inbox again. Those of a person are none.
pub async fn parked_entries_are_a_cause_until_they_are_resubmitted(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    for (number, reason) in
        [(1, ParkReason::Tries), (2, ParkReason::Tries), (3, ParkReason::Operator)]
    {
        let parked = harness.inbox().park(&line.claim, Seq::new(number), reason).await;
        parked.expect("park an entry");
    }

    let cause = find(harness, ann.scope, AlertKind::Parked).await.expect("two are parked");
    assert_eq!((cause.count, cause.subjects), (2, 1));
    assert_eq!(cause.samples, ["agent ann: 2, reason tries"]);
    for number in 1..=2 {
        let again = harness.aside().resubmit(ann.scope, ann.agent, Seq::new(number)).await;
        assert!(again.expect("resubmit an entry").is_some());
    }
    assert_eq!(find(harness, ann.scope, AlertKind::Parked).await, None);
}

/// An inbox that refused an entry is a cause as long as it has no room.
pub async fn a_full_inbox_is_a_cause_until_it_has_room(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let set = harness.register().set_quota(ann.scope, Quota::PendingEntries, 2).await;
    set.expect("set a quota");
    cast.several(&ann, 2).await;
    assert_eq!(find(harness, ann.scope, AlertKind::InboxFull).await, None, "nothing was refused");
    cast.stored(&ann.says(3)).await;

    let cause = find(harness, ann.scope, AlertKind::InboxFull).await.expect("it is full");
    assert_eq!((cause.count, cause.samples), (1, vec!["agent ann".to_owned()]));
    assert_eq!(find(harness, ann.scope, AlertKind::Parked).await, None, "it has its own kind");
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    assert_eq!(find(harness, ann.scope, AlertKind::InboxFull).await, None);
}

/// An event that nobody can read is a cause of its bot's tenant for an hour.
pub async fn unreadable_events_are_a_cause_for_an_hour(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let unreadable = QuarantinedEvent {
        operator: cast.operator,
        bot: cast.bot.id,
        problem: "not readable".to_owned(),
        body: b"\0\xff".to_vec(),
    };
    for _ in 0..2 {
        harness.inbox().quarantine(&unreadable).await.expect("quarantine an event");
    }

    let cause = find(harness, cast.operator, AlertKind::Quarantined).await.expect("two are there");
    assert_eq!((cause.count, cause.subjects), (2, 1));
    assert_eq!(cause.samples, ["bot desk-bot (discord): 2"]);
    harness.let_pass(ALERT_EVENT_FOR).await;
    assert_eq!(find(harness, cast.operator, AlertKind::Quarantined).await, None);
}

/// A bot of which its operator was told is a cause until it receives events.
pub async fn a_deaf_bot_is_a_cause_until_it_hears(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (register, bot) = (harness.register(), cast.bot.id);
    let outage = async |span| {
        register.record_outage(cast.operator, bot, "the key is wrong", span).await.expect("note it")
    };
    assert!(!outage(Duration::from_hours(1)).await, "it may pass");
    assert_eq!(find(harness, cast.operator, AlertKind::DeafBot).await, None);

    assert!(outage(Duration::ZERO).await);
    let cause = find(harness, cast.operator, AlertKind::DeafBot).await.expect("it hears nothing");
    assert_eq!(cause.samples, ["bot desk-bot (discord): the key is wrong"]);
    let heard = register.record_reception(cast.operator, bot, LIFE, "").await;
    heard.expect("note that it hears");
    assert_eq!(find(harness, cast.operator, AlertKind::DeafBot).await, None);
}

/// An agent that was called in vain often enough is a cause until it dials in.
pub async fn a_wake_in_vain_is_a_cause_until_the_agent_dials_in(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    harness.lease().begin("node-1", LIFE).await.expect("a node begins");
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    let terms =
        WakeTerms { has_command: true, wakes_per_hour: 60, still_waking_after: WAKE_DEADLINE };
    for _ in 0..=ALERT_CALLS_MIN {
        assert_eq!(find(harness, ann.scope, AlertKind::FailingWake).await, None);
        let claimed = harness.wake().claim(WakeSelection::Due(1), &terms).await;
        assert_eq!(claimed.expect("claim a wake").len(), 1);
        harness.let_pass(UNRECORDED_CALL_GAP).await;
    }

    let cause = find(harness, ann.scope, AlertKind::FailingWake).await.expect("it does not come");
    assert!(cause.samples[0].starts_with("agent ann: 11 calls"), "{cause:?}");
    cast.line(&ann).await;
    assert_eq!(find(harness, ann.scope, AlertKind::FailingWake).await, None);
}

/// A fire that its agent did not get is a cause for an hour.
pub async fn a_missed_fire_is_a_cause_for_an_hour(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let epoch = harness.lease().begin("node-1", LIFE).await.expect("a node begins");
    let node = Node { name: "node-1".to_owned(), epoch };
    let arm = ArmRequest {
        job: JobId::new("tidy-up").expect("a name of ours"),
        fire_at: FireAt::from_timestamp(harness.now()),
        to: Target::Callback("https://agents.example/fire".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    };
    let schedule = harness.schedule();
    schedule.arm(ann.scope, ann.agent, &arm).await.expect("arm a job");
    let mut claims = schedule.claim(&node, 1).await.expect("claim fires");
    let (claimed, outcome) = (claims.fires.swap_remove(0), "503".to_owned());
    let end = FireEnd::Missed(FireCause::GaveUp);
    let ended = schedule.end(&[FireEnding { claimed, end, outcome }]).await;
    assert_eq!(ended.expect("end a fire"), [true]);

    let cause = find(harness, ann.scope, AlertKind::MissedFire).await.expect("it was missed");
    assert_eq!(cause.samples, ["agent ann, job tidy-up: gave-up"]);
    harness.let_pass(ALERT_EVENT_FOR).await;
    assert_eq!(find(harness, ann.scope, AlertKind::MissedFire).await, None);
}

/// A quota is a cause from nine tenths on.
pub async fn a_quota_that_is_almost_used_up_is_a_cause(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    for number in 1..9 {
        let agent = harness.register().create_agent(ann.scope, &format!("owl{number}")).await;
        agent.expect("enter an agent");
    }
    let allow = async |allowed| {
        let set = harness.register().set_quota(ann.scope, Quota::Agents, allowed).await;
        set.expect("set a quota");
        find(harness, ann.scope, AlertKind::Quota).await.map(|cause| cause.samples)
    };

    assert_eq!(allow(11).await, None);
    assert_eq!(allow(10).await, Some(vec!["agents: 9 of 10".to_owned()]));
    assert_eq!(allow(9).await, Some(vec!["agents: 9 of 9".to_owned()]));
}

/// The newest report of a node counts, for a while.
pub async fn findings_of_a_node_count_for_a_while(harness: &impl TimedHarness) {
    let found = |kind, subject: &str| NodeFinding { kind, subject: subject.to_owned() };
    let report = async |findings: &[NodeFinding]| {
        harness.alerts().report_findings("node-1", findings).await.expect("report findings");
    };
    report(&[
        found(AlertKind::Disk, "/data has 3 MiB left"),
        found(AlertKind::ExpiringKey, "soon"),
    ])
    .await;
    let disk = find(harness, DESK, AlertKind::Disk).await.expect("it is almost full");
    assert_eq!(disk.samples, ["node node-1: /data has 3 MiB left"]);
    assert!(find(harness, DESK, AlertKind::ExpiringKey).await.is_some());

    report(&[found(AlertKind::ExpiringKey, "two\nlines")]).await;
    assert_eq!(find(harness, DESK, AlertKind::Disk).await, None);
    let key = find(harness, DESK, AlertKind::ExpiringKey).await.expect("it is still there");
    assert_eq!(key.samples, ["node node-1: two lines"]);
    harness.let_pass(FINDINGS_LAST).await;
    assert_eq!(find(harness, DESK, AlertKind::ExpiringKey).await, None);
}

/// All subjects are counted, and the first of them are samples.
pub async fn a_cause_has_a_bounded_number_of_samples(harness: &impl TimedHarness) {
    let subject = |number: usize| format!("/data{number:02} has 3 MiB left");
    let full = |number| NodeFinding { kind: AlertKind::Disk, subject: subject(number) };
    let found: Vec<_> = (0..ALERT_SAMPLES_MAX + 2).rev().map(full).collect();
    harness.alerts().report_findings("node-1", &found).await.expect("report findings");

    let cause = find(harness, DESK, AlertKind::Disk).await.expect("folders are full");
    let all = found.len() as u64;
    let first = (0..ALERT_SAMPLES_MAX).map(|number| format!("node node-1: {}", subject(number)));
    assert_eq!((cause.count, cause.subjects), (all, all));
    assert_eq!(cause.samples, first.collect::<Vec<_>>());
}
