//! Cases and properties of the decision.

use std::time::Duration;

use nightdesk_types::TenantId;
use nightdesk_types::limits::{
    ALERT_CLEAR_AFTER, ALERT_CLEAR_AFTER_RETURN, ALERT_REPEATED_AFTER, ALERT_REPEATED_EVERY,
    ALERT_SWEEP_EVERY,
};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const SCOPE: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));
const OTHER: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2)));

fn at(seconds: u64) -> Timestamp {
    let begin = Timestamp::from_second(1_800_000_000).expect("a time of our days");
    later_by(begin, Duration::from_secs(seconds))
}

fn cause(scope: TenantScope, kind: AlertKind, count: u64) -> AlertCause {
    let samples = vec!["agent owl".to_owned()];
    AlertCause { scope, kind, count, subjects: 1, samples, since: at(0) }
}

fn parked(count: u64) -> AlertCause {
    cause(SCOPE, AlertKind::Parked, count)
}

fn scan(causes: &[AlertCause]) -> CauseScan {
    CauseScan { kinds: AlertKind::QUICK.to_vec(), causes: causes.to_vec(), is_complete: true }
}

/// Alerts over time, as a store writes them.
#[derive(Default)]
struct World {
    rows: BTreeMap<AlertKey, Alert>,
}

impl World {
    fn sweep(&mut self, scan: &CauseScan, now: Timestamp) -> Vec<AlertChange> {
        let alerts: Vec<Alert> = self.rows.values().cloned().collect();
        let changes = decide_alerts(&alerts, scan, now);
        for AlertChange { alert, .. } in &changes {
            self.rows.insert((alert.scope, alert.kind), alert.clone());
        }
        changes
    }

    /// Sweeps, and returns the steps that make a message.
    fn told(&mut self, causes: &[AlertCause], now: Timestamp) -> Vec<AlertStep> {
        let steps = self.sweep(&scan(causes), now).into_iter().map(|change| change.step);
        steps.filter(|step| *step != AlertStep::Seen).collect()
    }

    fn parked(&self) -> &Alert {
        &self.rows[&(SCOPE, AlertKind::Parked)]
    }
}

#[test]
fn a_cause_opens_one_alert_that_is_resolved_when_the_cause_is_gone() {
    let mut world = World::default();
    assert_eq!(world.told(&[parked(1)], at(0)), [AlertStep::Opened]);
    assert_eq!(world.told(&[parked(2)], at(5)), []);
    assert_eq!((world.parked().count, world.parked().version), (2, 1));
    assert_eq!(world.told(&[], at(10)), [], "it may come back at once");
    assert_eq!(world.told(&[], at(5 + ALERT_CLEAR_AFTER.as_secs())), [AlertStep::Resolved]);
    assert_eq!((world.parked().resolved_at, world.parked().version), (Some(at(65)), 2));
    assert_eq!(world.told(&[], at(1_000)), []);
}

#[test]
fn each_tenant_and_kind_has_an_alert_of_its_own() {
    let causes =
        [parked(1), cause(OTHER, AlertKind::Parked, 1), cause(SCOPE, AlertKind::DeafBot, 1)];
    let mut world = World::default();

    assert_eq!(world.told(&causes, at(0)), [AlertStep::Opened; 3]);
    assert_eq!(world.told(&causes[1..], at(600)), [AlertStep::Resolved], "only that of the first");
    assert!(!world.parked().is_open());
}

#[test]
fn an_open_alert_is_repeated_more_and_more_rarely() {
    let mut world = World::default();
    let mut told = Vec::new();
    let step = ALERT_SWEEP_EVERY.as_secs();
    for now in (0..4 * 86_400).step_by(usize::try_from(step).expect("few")) {
        if !world.told(&[parked(1)], at(now)).is_empty() {
            told.push(now);
        }
    }
    let [first, second] = ALERT_REPEATED_AFTER.map(|span| span.as_secs());
    let every = ALERT_REPEATED_EVERY.as_secs();

    assert_eq!(told, [0, first, second, second + every, second + 2 * every, second + 3 * every]);
    assert_eq!(world.parked().version, 6);
}

#[test]
fn an_alert_that_comes_back_stays_open_for_longer() {
    let mut world = World::default();
    world.told(&[parked(1)], at(0));
    assert_eq!(world.told(&[], at(60)), [AlertStep::Resolved]);

    assert_eq!(world.told(&[parked(1)], at(120)), [AlertStep::Opened]);
    assert!(world.parked().is_return);
    assert_eq!(world.told(&[], at(120 + ALERT_CLEAR_AFTER.as_secs())), []);
    let clear = 120 + ALERT_CLEAR_AFTER_RETURN.as_secs();
    assert_eq!(world.told(&[], at(clear)), [AlertStep::Resolved]);
    let later = clear + ALERT_BACK_WITHIN.as_secs();
    assert_eq!(world.told(&[parked(1)], at(later)), [AlertStep::Opened]);
    assert!(!world.parked().is_return, "it was away for long");
}

#[test]
fn a_kind_that_was_not_looked_for_and_a_cut_scan_resolve_nothing() {
    let mut world = World::default();
    world.told(&[parked(1)], at(0));
    let other_kinds =
        CauseScan { kinds: AlertKind::SLOW.to_vec(), causes: Vec::new(), is_complete: true };
    let cut = CauseScan { is_complete: false, ..scan(&[]) };

    assert_eq!(world.sweep(&other_kinds, at(600)), []);
    assert_eq!(world.sweep(&cut, at(600)), []);
    assert_eq!(world.told(&[], at(600)), [AlertStep::Resolved]);
}

#[test]
fn an_unchanged_cause_is_not_written_at_every_sweep() {
    let mut world = World::default();
    world.told(&[parked(1)], at(0));

    assert_eq!(world.sweep(&scan(&[parked(1)]), at(5)), []);
    assert_eq!(world.sweep(&scan(&[parked(2)]), at(5))[0].step, AlertStep::Seen, "it changed");
    let seen = world.sweep(&scan(&[parked(2)]), at(5 + ALERT_SEEN_EVERY.as_secs()));
    assert_eq!(seen[0].step, AlertStep::Seen);
}

proptest! {
    /// A cause that comes and goes makes few messages, whatever its rhythm: at most three in any hour.
    #[test]
    fn a_cause_that_comes_and_goes_is_told_rarely(presence in proptest::collection::vec(any::<bool>(), 1..2_000)) {
        let mut world = World::default();
        let mut told: Vec<u64> = Vec::new();
        for (now, is_there) in (0..).step_by(5).zip(presence) {
            let causes = [parked(1)];
            let steps = world.told(if is_there { &causes } else { &[] }, at(now));
            told.extend(steps.iter().map(|_| now));
        }
        for begin in &told {
            let within = told.iter().filter(|other| (*begin..begin + 3_600).contains(*other)).count();
            prop_assert!(within <= 3, "{told:?}");
        }
    }

    /// While a cause is there at each sweep, its alert is open.
    #[test]
    fn a_cause_that_stays_is_never_resolved(counts in proptest::collection::vec(1_u64..5, 1..500)) {
        let mut world = World::default();
        for (now, count) in (0..).step_by(5).zip(counts) {
            let steps = world.told(&[parked(count)], at(now));
            prop_assert!(!steps.contains(&AlertStep::Resolved));
            prop_assert!(world.parked().is_open());
        }
    }
}
