//! Cases and properties of the decisions.

use std::time::Duration;

use nightdesk_types::{AlertWayId, TenantId, TenantScope};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::cause::AlertCause;
use crate::kind::AlertKind;
use crate::way::{AlertWay, MailAddress, WayCoverage, WayTarget};

const SCOPE: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));

fn at(seconds: u64) -> Timestamp {
    let begin = Timestamp::from_second(1_800_000_000).expect("a time of our days");
    later_by(begin, Duration::from_secs(seconds))
}

fn alert() -> Alert {
    let (kind, samples) = (AlertKind::Parked, Vec::new());
    let cause = AlertCause { scope: SCOPE, kind, count: 1, subjects: 1, samples, since: at(0) };
    Alert::open(&cause, false, at(0))
}

fn claim_of(alert: &Alert, row: &AlertDelivery, news: AlertNews) -> DeliveryClaim {
    let target = WayTarget::Mail(MailAddress::parse("ops@example.org").expect("an address"));
    let id = AlertWayId::from_uuid(Uuid::from_u128(2));
    let way = AlertWay { scope: SCOPE, id, target, coverage: WayCoverage::Own };
    DeliveryClaim { alert: alert.clone(), tenant_name: None, way, news, failures: row.failures }
}

/// One alert and one way, as a store holds them.
struct World {
    alert: Alert,
    row: Option<AlertDelivery>,
}

impl World {
    fn new() -> Self {
        Self { alert: alert(), row: None }
    }

    /// Claims the message that is due.
    fn claim(&mut self, now: Timestamp) -> Option<DeliveryClaim> {
        let decision = decide_delivery(&self.alert, self.row.as_ref(), now)?;
        self.row = Some(decision.row.clone());
        Some(claim_of(&self.alert, &decision.row, decision.sends?))
    }

    fn record(&mut self, claim: &DeliveryClaim, outcome: &AlertOutcome, now: Timestamp) {
        let next = self.row.as_ref().and_then(|row| record_delivery(row, claim, outcome, now));
        self.row = next.or_else(|| self.row.take());
    }

    /// Delivers the message that is due, and returns its news.
    fn deliver(&mut self, now: Timestamp) -> Option<AlertNews> {
        let claim = self.claim(now)?;
        self.record(&claim, &AlertOutcome::Arrived, now);
        Some(claim.news)
    }

    fn fail(&mut self, now: Timestamp) -> Option<DeliveryClaim> {
        let claim = self.claim(now)?;
        self.record(&claim, &AlertOutcome::Failed("refused".to_owned()), now);
        Some(claim)
    }
}

#[test]
fn each_message_is_delivered_once() {
    let mut world = World::new();
    assert_eq!(world.deliver(at(0)), Some(AlertNews::Opened));
    assert_eq!(world.deliver(at(1)), None);
    world.alert = world.alert.repeat(at(3_600));
    assert_eq!(world.deliver(at(3_600)), Some(AlertNews::Repeated));
    world.alert = world.alert.resolve(at(4_000));
    assert_eq!(world.deliver(at(4_000)), Some(AlertNews::Resolved));
    assert_eq!(world.deliver(at(9_000)), None);
}

#[test]
fn a_way_that_is_added_later_hears_of_an_open_alert_and_not_of_one_that_is_over() {
    let mut open = World::new();
    open.alert = open.alert.repeat(at(3_600));
    assert_eq!(open.deliver(at(4_000)), Some(AlertNews::Opened));

    let mut over = World::new();
    over.alert = over.alert.resolve(at(60));
    assert_eq!(over.deliver(at(61)), None);
    assert_eq!(over.row.as_ref().map(|row| row.told_version), Some(2), "and that is settled");
}

#[test]
fn a_claim_is_left_to_its_node_and_then_taken_again_under_the_same_id() {
    let mut world = World::new();
    let first = world.claim(at(0)).expect("it is due");
    assert_eq!(world.claim(at(ALERT_CLAIM_HELD.as_secs() - 1)), None);
    let second = world.claim(at(ALERT_CLAIM_HELD.as_secs())).expect("its node died");

    assert_eq!(first, second);
    world.record(&second, &AlertOutcome::Arrived, at(61));
    let row = world.row.clone();
    world.record(&first, &AlertOutcome::Failed("late".to_owned()), at(62));
    assert_eq!(world.row, row, "a late result changes nothing");
}

#[test]
fn a_failure_is_retried_later_and_given_up_after_a_day() {
    let mut world = World::new();
    let (mut tries, mut now) = (Vec::new(), 0);
    while world.row.as_ref().is_none_or(|row| row.told_version == 0) {
        if world.fail(at(now)).is_some() {
            tries.push(now);
        }
        now += 5;
    }

    assert_eq!(tries[..5], [0, 15, 45, 105, 225]);
    let day = ALERT_GIVEN_UP_AFTER.as_secs();
    assert!(tries.len() < 40 && *tries.last().expect("some") < day, "{tries:?}");
    assert!((day..day + 3_605).contains(&now), "given up after {now} s");
    world.alert = world.alert.repeat(at(now));
    assert_eq!(world.deliver(at(now)), Some(AlertNews::Opened), "the next message is tried anew");
}

#[test]
fn a_new_alert_begins_anew() {
    let mut world = World::new();
    world.fail(at(0));
    let cause = AlertCause {
        scope: SCOPE,
        kind: AlertKind::Parked,
        count: 2,
        subjects: 1,
        samples: Vec::new(),
        since: at(5),
    };
    world.alert = Alert::open(&cause, true, at(5));

    assert_eq!(world.deliver(at(5)), Some(AlertNews::Opened), "also if the one before failed");
}

proptest! {
    /// A way never hears that an alert is over of which it did not hear, and hears no version twice.
    #[test]
    fn a_way_hears_each_version_at_most_once(steps in proptest::collection::vec(0_u8..6, 0..200)) {
        let mut world = World::new();
        let (mut now, mut heard) = (0, Vec::new());
        for step in steps {
            now += 30;
            match step {
                0 if world.alert.is_open() => world.alert = world.alert.repeat(at(now)),
                1 if world.alert.is_open() => world.alert = world.alert.resolve(at(now)),
                2 | 3 => drop(world.fail(at(now))),
                _ => {
                    let version = world.alert.version;
                    heard.extend(world.deliver(at(now)).map(|news| (version, news)));
                }
            }
        }
        let versions: Vec<u32> = heard.iter().map(|(version, _)| *version).collect();
        prop_assert!(versions.is_sorted_by(|one, next| one < next), "{heard:?}");
        if let Some((_, first)) = heard.first() {
            prop_assert_eq!(*first, AlertNews::Opened);
        }
    }
}
