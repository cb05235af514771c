//! Bots, tenants as a whole, signing keys, sessions of agents, and webhooks.

use nightdesk_testdesk::{ACCOUNT_TOKEN, Answered};
use nightdesk_types::TenantScope;
use serde_json::{Value, json};

use super::{Office, OfficeRoute};

pub(super) const ROUTES: &[OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/bots", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/bots", "Oa"),
    ("POST", "/v1/tenants/{tenant}/bots/connect", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/bots/{bot}", "Oa"),
    ("GET", "/v1/tenants/{tenant}/bots/{bot}/check", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/bots/{bot}/rotate-key", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/bots/{bot}/share", "Oa"),
    ("GET", "/v1/tenants/{tenant}/quotas", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/quotas", "O"),
    ("POST", "/v1/tenants/{tenant}/rotate-key", "O"),
    ("POST", "/v1/tenants/{tenant}/erase", "O"),
    ("POST", "/v1/admin/history", "O"),
    ("GET", "/v1/admin/signing-keys", "OA"),
    ("POST", "/v1/admin/signing-keys/{kid}/retire", "O"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/token", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/sessions", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/sessions/{session}", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/sessions/{session}", "Oa"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/webhook", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/webhook", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/agents/{agent}/webhook", "Oa"),
];

/// The body that a route of this file expects.
pub(super) fn body(path: &str) -> Option<Value> {
    Some(match path.strip_prefix("/v1/tenants/{tenant}") {
        Some("/bots") => json!({ "platform": "webchat", "handle": "page" }),
        Some("/bots/connect") => json!({ "platform": "scripted", "key": ACCOUNT_TOKEN }),
        Some("/bots/{bot}/rotate-key") => json!({ "key": "another" }),
        Some("/bots/{bot}/share") => json!({ "shared": true }),
        Some("/quotas") => json!({ "agents": 9 }),
        Some("/erase") => json!({ "confirm": "ann" }),
        Some("/agents/{agent}/sessions/{session}") => json!({ "issuer": "https://login.example" }),
        Some("/agents/{agent}/webhook") => json!({ "url": "https://agents.example/entries" }),
        None if path == "/v1/admin/history" => json!({ "reason": "snapshot put back" }),
        _ => return None,
    })
}

/// A caller of a test.
struct Caller {
    office: Office,
    token: String,
}

impl Caller {
    /// A caller with the role of a letter.
    async fn with_role(letter: char) -> Self {
        let office = Office::open().await;
        let token = office.token(&[office.role(letter)]).await;
        Self { office, token }
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> Answered {
        self.office.call((method, path), Some(&self.token), &body).await
    }

    /// Calls a route of ann's tenant. Fails if the status is another.
    async fn asks(&self, status: u16, (method, path): (&str, &str), body: Value) -> Value {
        let answer = self.call(method, &format!("/v1/tenants/ann/{path}"), body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        answer.json()
    }
}

#[tokio::test]
async fn a_bot_is_connected_once_and_removed() {
    let admin = Caller::with_role('a').await;
    let connect = json!({ "platform": "scripted", "key": ACCOUNT_TOKEN, "test_chat": "99" });
    let bot = admin.asks(201, ("POST", "bots/connect"), connect.clone()).await;
    assert_eq!(bot["handle"], "connected");
    assert!(bot["updates"].as_str().is_some_and(|hook| hook.contains("/hooks/")), "{bot}");
    assert!(bot["test"].as_str().is_some_and(|test| test.contains("was not sent")), "{bot}");
    let again = admin.asks(409, ("POST", "bots/connect"), connect).await;
    assert!(again["detail"].as_str().is_some_and(|detail| detail.contains("exists already")));

    let path = format!("bots/{}", bot["bot_id"].as_str().expect("an id"));
    let check = admin.asks(200, ("GET", &format!("{path}/check")), json!({})).await;
    assert_eq!((&check["wrong"], &check["handle"]), (&json!([]), &json!("connected")));
    let listed = admin.asks(200, ("GET", "bots"), json!({})).await;
    let listed = listed.as_array().expect("a list").iter();
    let own: Vec<_> = listed.filter(|one| one["bot_id"] == bot["bot_id"]).collect();
    assert_eq!((own.len(), &own[0]["own"]), (1, &json!(true)));

    let removed = admin.asks(200, ("DELETE", &path), json!({})).await;
    assert_eq!(removed["platform"], "the webhook was removed");
    admin.asks(404, ("DELETE", &path), json!({})).await;
}

#[tokio::test]
async fn a_platform_that_rejects_a_token_gets_no_bot() {
    let admin = Caller::with_role('a').await;
    let wrong = json!({ "platform": "scripted", "key": "canary-7f3a" });
    let refused = admin.asks(400, ("POST", "bots/connect"), wrong).await;
    assert!(!refused.to_string().contains("canary"), "{refused}");
    let unknown = json!({ "platform": "owls", "key": "x" });
    let refused = admin.asks(400, ("POST", "bots/connect"), unknown).await;
    assert_eq!(refused["detail"], "owls cannot be connected; use `scripted`");
    let empty = json!({ "platform": "scripted", "key": "" });
    admin.asks(400, ("POST", "bots/connect"), empty).await;

    assert_eq!(admin.asks(200, ("GET", "bots"), json!({})).await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_rotated_key_directs_the_platform_again() {
    let admin = Caller::with_role('a').await;
    let bot = format!("bots/{}", admin.office.ann.bot);
    let check = format!("{bot}/check");
    let before = admin.asks(200, ("GET", &check), json!({})).await;
    assert_eq!(before["wrong"], json!(["the platform posts elsewhere"]));

    let rotate = format!("{bot}/rotate-key");
    let new = json!({ "key": "another", "overlap_secs": 60 });
    let rotated = admin.asks(200, ("POST", &rotate), new).await;
    assert_eq!(rotated["overlap_s"], 60);
    assert_eq!(admin.asks(200, ("GET", &check), json!({})).await["wrong"], json!([]));
    let too_long = json!({ "key": "another", "overlap_secs": 86_401 });
    admin.asks(400, ("POST", &rotate), too_long).await;
}

#[tokio::test]
async fn a_page_is_created_once_with_its_address() {
    let admin = Caller::with_role('a').await;
    let page = json!({ "platform": "webchat", "handle": "hall" });
    let created = admin.asks(201, ("POST", "bots"), page.clone()).await;
    let url = created["url"].as_str().expect("an address");
    assert!(url.ends_with(&format!("/chat/{}", created["path"].as_str().expect("a path"))));
    admin.asks(409, ("POST", "bots"), page).await;
    let strange = json!({ "platform": "owls", "handle": "hall" });
    let refused = admin.asks(400, ("POST", "bots"), strange).await;
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("no adapter")));
}

#[tokio::test]
async fn a_bot_of_another_tenant_is_not_there() {
    let operator = Caller::with_role('O').await;
    let bot = format!("bots/{}", operator.office.bob.bot);
    let calls = [
        ("GET", "/check", json!({})),
        ("POST", "/rotate-key", json!({ "key": "another" })),
        ("PUT", "/share", json!({ "shared": true })),
        ("DELETE", "", json!({})),
    ];
    for (method, rest, body) in calls {
        operator.asks(404, (method, &format!("{bot}{rest}")), body).await;
    }
    let own = operator.office.ann.bot;
    for shared in [true, true, false] {
        let body = json!({ "shared": shared });
        let answer = operator.asks(200, ("PUT", &format!("bots/{own}/share")), body).await;
        assert_eq!(answer["shared"], shared);
    }
}

#[tokio::test]
async fn a_quota_is_set_by_its_name() {
    let operator = Caller::with_role('O').await;
    let set = operator.asks(200, ("PUT", "quotas"), json!({ "agents": 9 })).await;
    assert_eq!(set["agents"], 9);
    let unknown = json!({ "agents": 8, "owls": 1 });
    operator.asks(400, ("PUT", "quotas"), unknown).await;
    operator.asks(400, ("PUT", "quotas"), json!({ "agents": -1 })).await;

    assert_eq!(operator.asks(200, ("GET", "quotas"), json!({})).await, set);
}

#[tokio::test]
async fn a_tenant_is_erased_only_by_its_name_and_listed_before() {
    let operator = Caller::with_role('O').await;
    let (custody, tenant) =
        (operator.office.desk.custody.clone(), operator.office.ann.scope.tenant());
    for wrong in ["bob", "", "yes"] {
        operator.asks(400, ("POST", "erase"), json!({ "confirm": wrong })).await;
    }
    assert_eq!(custody.operations(), [""; 0]);

    let erased = operator.asks(200, ("POST", "erase"), json!({ "confirm": "ann" })).await;
    assert_eq!((&erased["erased"], &erased["texts"]), (&json!(true), &json!(2)));
    assert_eq!(custody.operations(), [format!("list {tenant}"), format!("erase {tenant}")]);
}

#[tokio::test]
async fn a_new_history_needs_a_reason() {
    let operator = Caller::with_role('O').await;
    let begin = async |reason: &str| {
        let body = json!({ "reason": reason });
        operator.call("POST", "/v1/admin/history", body).await
    };
    assert_eq!(begin("").await.status, 400);
    assert_eq!(begin(&"x".repeat(201)).await.status, 400);
    let history = begin("snapshot").await;
    assert_eq!((history.status, &history.json()["incarnation"]), (201, &json!(7)));

    let operations = operator.office.desk.custody.operations();
    let is_named =
        |one: &String| one.starts_with("begin a history by token:") && one.ends_with(": snapshot");
    assert!(operations.len() == 1 && is_named(&operations[0]), "{operations:?}");
}

#[tokio::test]
async fn a_session_is_begun_and_ended() {
    let admin = Caller::with_role('a').await;
    let begun = admin.asks(201, ("POST", "agents/ann/sessions"), json!({})).await;
    let tokens = &begun["auth"]["providers"]["nous"];
    assert!(tokens["refresh_token"].is_string() && begun["portal_url"].is_string(), "{begun}");
    let end = format!("sessions/{}", begun["session"].as_str().expect("an id"));
    assert_eq!(admin.asks(200, ("DELETE", &end), json!({})).await["ended"], true);
    admin.asks(404, ("DELETE", "sessions/unknown"), json!({})).await;

    let untrusted = json!({ "issuer": "https://login.example" });
    let refused = admin.asks(400, ("PUT", "agents/ann/sessions/s1"), untrusted).await;
    let detail = refused["detail"].as_str().expect("a text");
    assert!(detail.contains("is not a trusted issuer"), "{detail}");
    let token = admin.asks(201, ("POST", "agents/ann/token"), json!({})).await;
    assert!(token["token"].is_string() && token["expires_in_secs"].is_u64(), "{token}");
}

#[tokio::test]
async fn the_audit_log_names_the_token_that_retired_a_key() {
    let operator = Caller::with_role('O').await;
    let keys = operator.call("GET", "/v1/admin/signing-keys", json!({})).await.json();
    let kid = keys[0]["kid"].as_str().expect("a key").to_owned();
    let retire = format!("/v1/admin/signing-keys/{kid}/retire");
    for _ in 0..2 {
        let retired = operator.call("POST", &retire, json!({})).await;
        assert_eq!((retired.status, &retired.json()["retired"]), (200, &json!(true)));
    }
    let unknown = operator.call("POST", "/v1/admin/signing-keys/-x/retire", json!({})).await;
    assert!(unknown.status == 404 && unknown.text.contains("-x"), "{}", unknown.text);

    let desk = TenantScope::desk_own();
    let store = operator.office.desk.register.store();
    let acts = store.audit_records(desk, 0, 1_000).await.expect("read the audit log");
    let retired: Vec<_> = acts.iter().filter(|act| act.kind == "signing-key-retired").collect();
    assert!(retired.len() == 1 && retired[0].actor.starts_with("token:"), "{acts:?}");
}

#[tokio::test]
async fn a_webhook_is_set_with_a_secret_and_removed_once() {
    let admin = Caller::with_role('a').await;
    let webhook = "agents/ann/webhook";
    let url = json!({ "url": "https://agents.example/entries" });
    let first = admin.asks(200, ("POST", webhook), url.clone()).await;
    let second = admin.asks(200, ("POST", webhook), url.clone()).await;
    assert!(first["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")));
    assert_ne!(first["secret"], second["secret"]);
    let plain = json!({ "url": "http://agents.example/entries" });
    admin.asks(400, ("POST", webhook), plain).await;

    assert_eq!(admin.asks(200, ("GET", webhook), json!({})).await["url"], url["url"]);
    assert_eq!(admin.asks(200, ("DELETE", webhook), json!({})).await["url"], Value::Null);
    admin.asks(404, ("DELETE", webhook), json!({})).await;
}
