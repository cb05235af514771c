//! Alerts, and the ways on which they go out.

use std::time::Duration;

use nightdesk_testdesk::{Household, TestDesk, TestPlatform};
use nightdesk_types::limits::{ALERT_CLEAR_AFTER, ALERT_RETRY_FIRST, ALERT_TEST_EVERY};
use nightdesk_users::Role;
use serde_json::{Value, json};

use super::Office;

/// The routes of this file's subjects.
pub(super) const ROUTES: &[super::OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/alerts", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/alert-ways", "Oa"),
    ("POST", "/v1/tenants/{tenant}/alert-ways", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/alert-ways/{id}", "Oa"),
    ("POST", "/v1/tenants/{tenant}/alert-ways/{id}/test", "Oa"),
    ("GET", "/v1/admin/alerts", "OA"),
    ("GET", "/v1/admin/alert-ways", "O"),
    ("POST", "/v1/admin/alert-ways", "O"),
    ("DELETE", "/v1/admin/alert-ways/{id}", "O"),
    ("POST", "/v1/admin/alert-ways/{id}/test", "O"),
];

const WAYS: &str = "/v1/tenants/ann/alert-ways";
const DESK_WAYS: &str = "/v1/admin/alert-ways";

/// Has a household's bot receive nothing, for long enough that it is told.
pub(super) async fn deafen(desk: &TestDesk, of: &Household) {
    let store = desk.register.store();
    let told = store.record_outage(of.scope, of.bot, "its key was revoked", Duration::ZERO).await;
    assert!(told.expect("record an outage"));
}

/// Has a household's bot receive events again.
pub(super) async fn heal(desk: &TestDesk, of: &Household) {
    let store = desk.register.store();
    let day = Duration::from_hours(24);
    store.record_reception(of.scope, of.bot, day, "").await.expect("record an answer");
}

/// Returns the types and subjects of the posts and mails since the last look.
fn sent(desk: &TestDesk) -> Vec<(String, String)> {
    let messages = desk.alerts.take().into_iter();
    let kind = |body: &Value| body["type"].as_str().expect("a type").to_owned();
    messages.map(|message| (kind(&message.body), message.subject)).collect()
}

#[tokio::test]
async fn an_alert_arrives_is_listed_and_is_resolved() {
    let office = Office::open().await;
    let (admin, auditor) =
        (office.token(&[office.role('a')]).await, office.token(&[office.role('u')]).await);
    let added =
        office.call(("POST", WAYS), Some(&admin), &json!({ "mail": "ops@a.example" })).await;
    assert_eq!((added.status, &added.json()["kind"]), (201, &json!("mail")), "{}", added.text);
    let (desk, ann) = (&office.desk, &office.ann);
    deafen(desk, ann).await;

    desk.sweep_alerts().await;
    let opened = "Nightdesk: 1 bot receives no events (tenant ann)".to_owned();
    assert_eq!(sent(desk), [("alert.opened".to_owned(), opened)]);
    let alerts = ("GET", "/v1/tenants/ann/alerts");
    let listed = office.call(alerts, Some(&auditor), &json!({})).await.json();
    assert_eq!((&listed[0]["kind"], &listed[0]["state"]), (&json!("deaf-bot"), &json!("open")));
    assert!(listed[0]["samples"][0].as_str().is_some_and(|it| it.contains("revoked")), "{listed}");
    desk.sweep_alerts().await;
    assert!(sent(desk).is_empty(), "once");

    heal(desk, ann).await;
    desk.store.clock().let_pass(ALERT_CLEAR_AFTER);
    desk.sweep_alerts().await;
    let resolved = "Nightdesk: resolved: deaf-bot (tenant ann)".to_owned();
    assert_eq!(sent(desk), [("alert.resolved".to_owned(), resolved)]);
    let listed = office.call(alerts, Some(&auditor), &json!({})).await.json();
    assert_eq!(listed[0]["state"], "resolved", "{listed}");
}

#[tokio::test]
async fn a_message_that_fails_is_sent_again_and_its_way_shows_the_reason() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let way = json!({ "webhook": "https://ops.example/alerts" });
    let added = office.call(("POST", WAYS), Some(&admin), &way).await.json();
    assert!(added["secret"].as_str().is_some_and(|it| it.starts_with("whsec_")), "{added}");
    let desk = &office.desk;
    deafen(desk, &office.ann).await;
    desk.alerts.fail(true);

    desk.sweep_alerts().await;
    let ways = office.call(("GET", WAYS), Some(&admin), &json!({})).await.json();
    assert_eq!(ways[0]["failure"], "the test refuses it", "{ways}");
    assert_eq!(ways[0].get("secret"), None, "it was shown once");
    desk.alerts.fail(false);
    desk.sweep_alerts().await;
    assert!(sent(desk).is_empty(), "not at once");
    desk.store.clock().let_pass(ALERT_RETRY_FIRST);
    desk.sweep_alerts().await;
    assert_eq!(sent(desk).len(), 1);
    let ways = office.call(("GET", WAYS), Some(&admin), &json!({})).await.json();
    assert!(ways[0]["failure"].is_null() && ways[0]["told_at"].is_string(), "{ways}");
}

#[tokio::test]
async fn a_way_is_tested_once_a_minute_and_removed() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let call = async |method: &str, path: &str, body: Value| {
        office.call((method, path), Some(&admin), &body).await
    };
    let mail = json!({ "mail": "ops@a.example" });
    let id = call("POST", WAYS, mail.clone()).await.json()["way_id"].clone();
    let (way, test) = (
        format!("{WAYS}/{}", id.as_str().expect("an id")),
        format!("{WAYS}/{}/test", id.as_str().expect("an id")),
    );
    assert_eq!(call("POST", WAYS, mail).await.status, 409, "there is one");

    let tested = call("POST", &test, json!({})).await;
    assert_eq!((tested.status, &tested.json()["arrived"]), (200, &json!(true)), "{}", tested.text);
    assert_eq!(sent(&office.desk)[0].0, "alert.test");
    let early = call("POST", &test, json!({})).await;
    assert!(early.status == 409 && early.text.contains("within the last 60 s"), "{}", early.text);
    office.desk.store.clock().let_pass(ALERT_TEST_EVERY);
    office.desk.alerts.fail(true);
    let failed = call("POST", &test, json!({})).await;
    assert!(failed.text.contains("did not arrive: the test refuses it"), "{}", failed.text);
    assert_eq!(call("DELETE", &way, json!({})).await.status, 200);
    assert_eq!(call("DELETE", &way, json!({})).await.status, 404);
    assert_eq!(call("POST", &test, json!({})).await.status, 404);
}

#[tokio::test]
async fn the_operator_hears_of_tenants_on_a_way_that_covers_them() {
    let office = Office::open().await;
    let operator = office.token(&[Role::Operator]).await;
    let add = async |body: Value| office.call(("POST", DESK_WAYS), Some(&operator), &body).await;
    assert_eq!(add(json!({ "mail": "desk@a.example" })).await.status, 201);
    let all = json!({ "mail": "all@a.example", "all_tenants": true });
    assert_eq!(add(all).await.status, 201);
    deafen(&office.desk, &office.bob).await;

    office.desk.sweep_alerts().await;
    let sent = sent(&office.desk);
    assert!(sent.len() == 1 && sent[0].1.contains("(tenant bob)"), "{sent:?}");
    let listed = office.call(("GET", "/v1/admin/alerts"), Some(&operator), &json!({})).await.json();
    assert_eq!((&listed[0]["tenant"], &listed[0]["kind"]), (&json!("bob"), &json!("deaf-bot")));
    let anns = office.call(("GET", "/v1/tenants/ann/alerts"), Some(&operator), &json!({})).await;
    assert_eq!(anns.json(), json!([]), "{}", anns.text);
}

#[tokio::test]
async fn a_wrong_way_is_refused_with_the_reason() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let chat = |tenant: Value| {
        json!({ "chat": {
            "agent": "ann", "bot": office.ann.bot.to_string(), "chat_id": "c1", "tenant": tenant
        } })
    };
    for (body, reason) in [
        (json!({}), "exactly one of"),
        (json!({ "mail": "a@b.example", "webhook": "https://b.example" }), "exactly one of"),
        (json!({ "mail": "not an address" }), "one plain address"),
        (json!({ "webhook": "http://10.0.0.1/" }), "cannot be called"),
        (json!({ "mail": "a@b.example", "all_tenants": true }), "for ways of the operator"),
        (chat(json!("bob")), "for ways of the operator"),
    ] {
        let refused = office.call(("POST", WAYS), Some(&admin), &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.text);
        assert!(refused.text.contains(reason), "{body}: {}", refused.text);
    }
    let operator = office.token(&[Role::Operator]).await;
    let refused = office.call(("POST", DESK_WAYS), Some(&operator), &chat(Value::Null)).await;
    assert!(refused.text.contains("must name the tenant"), "{}", refused.text);
}

#[tokio::test]
async fn an_alert_is_written_in_the_chat_of_an_agent_that_may_write_there() {
    let (office, platform) = (Office::open().await, TestPlatform::open().await);
    let desk = &office.desk;
    let eve = desk.household_with("eve", "gw-eve", platform.settings()).await;
    desk.grant(eve.scope, eve.agent, eve.bot, "ops").await;
    let operator = office.token(&[Role::Operator]).await;
    for chat_id in ["ops", "foreign"] {
        let chat = json!({ "agent": "eve", "bot": eve.bot.to_string(), "chat_id": chat_id });
        let ways = ("POST", "/v1/tenants/eve/alert-ways");
        let added = office.call(ways, Some(&operator), &json!({ "chat": chat })).await;
        assert_eq!(added.status, 201, "{}", added.text);
    }
    deafen(desk, &eve).await;

    desk.sweep_alerts().await;
    let calls = platform.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&calls[0]["op"], &calls[0]["chat_id"]), (&json!("send"), &json!("ops")));
    let text = calls[0]["content"].as_str().expect("a text");
    assert!(text.contains("1 bot receives no events") && text.contains("Next step:"), "{text}");
    let ways = ("GET", "/v1/tenants/eve/alert-ways");
    let ways = office.call(ways, Some(&operator), &json!({})).await.json();
    assert_eq!(ways[0]["failure"], Value::Null, "{ways}");
    assert!(ways[1]["failure"].as_str().is_some_and(|it| it.contains("may not write")), "{ways}");
}
