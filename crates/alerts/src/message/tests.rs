use nightdesk_types::TenantId;
use uuid::Uuid;

use super::*;
use crate::cause::AlertCause;
use crate::kind::AlertKind;
use crate::way::{AlertWay, MailAddress, WayCoverage, WayTarget};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn claim(news: AlertNews) -> DeliveryClaim {
    let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));
    let samples = ["agent owl: 11 entries (tries)".to_owned()].into();
    let cause = AlertCause {
        scope,
        kind: AlertKind::Parked,
        count: 14,
        subjects: 3,
        samples,
        since: at(-60),
    };
    let alert = Alert::open(&cause, false, at(0));
    let alert = if news == AlertNews::Resolved { alert.resolve(at(90)) } else { alert };
    let target = WayTarget::Mail(MailAddress::parse("ops@example.org").unwrap());
    let id = AlertWayId::from_uuid(Uuid::from_u128(2));
    let way = AlertWay { scope, id, target, coverage: WayCoverage::Own };
    DeliveryClaim { alert, tenant_name: Some("acme".to_owned()), way, news, failures: 0 }
}

#[test]
fn an_open_alert_names_its_subjects_and_the_next_step() {
    let message = AlertMessage::from_claim(&claim(AlertNews::Opened));

    assert_eq!(message.subject, "Nightdesk: 14 entries are parked (tenant acme)");
    let lines: Vec<&str> = message.text.lines().collect();
    assert_eq!(lines[0], "14 entries are parked (tenant acme), since 2027-01-15T07:59:00Z.");
    assert_eq!(lines[1..3], ["- agent owl: 11 entries (tries)", "- and 2 more"]);
    assert!(lines[3].starts_with("Next step: `nightdesk inbox list`"), "{}", lines[3]);
    assert_eq!(message.body["type"], "alert.opened");
    assert_eq!(message.body["data"]["count"], 14);
    assert_eq!(message.body["data"]["resolved_at"], Value::Null);
}

#[test]
fn a_resolved_alert_names_the_reason() {
    let message = AlertMessage::from_claim(&claim(AlertNews::Resolved));

    assert_eq!(message.subject, "Nightdesk: resolved: parked (tenant acme)");
    assert!(message.text.ends_with("every parked entry was delivered again or removed."));
    assert_eq!(message.body["data"]["resolved_at"], "2027-01-15T08:01:30Z");
}

#[test]
fn each_version_and_each_way_has_an_id_that_fits_a_request() {
    let opened = claim(AlertNews::Opened);
    let resolved = claim(AlertNews::Resolved);
    let mut other = opened.clone();
    other.way.id = AlertWayId::from_uuid(Uuid::from_u128(3));
    let ids = [&opened, &resolved, &other].map(|claim| AlertMessage::from_claim(claim).id);

    assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2], "{ids:?}");
    assert!(ids.iter().all(|id| id.len() <= 118), "a request id has 128 bytes: {ids:?}");
    assert_eq!(AlertMessage::from_claim(&opened).id, ids[0], "each try has the same");
}

#[test]
fn a_test_names_no_alert() {
    let desk = TenantScope::desk_own();
    let message = AlertMessage::for_test(AlertWayId::from_uuid(Uuid::from_u128(2)), desk, at(0));

    assert_eq!(
        (&message.body["type"], &message.body["data"]["tenant_id"]),
        (&json!("alert.test"), &Value::Null)
    );
}
