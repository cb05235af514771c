//! The state of a tenant at a glance, events that reached no agent, usage and nodes.

use nightdesk_users::Role;
use serde_json::{Value, json};

use super::Office;

/// The routes of this file's subjects.
pub(super) const ROUTES: &[super::OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/summary", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agent-states", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/people", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/chat-grants", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/line", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/wakes", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/received-letters", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/stuck", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/parked/{reason}", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/parked/{reason}/resubmit", "Oam"),
    ("POST", "/v1/tenants/{tenant}/parked/{reason}/drop", "Oam"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/drop", "Oam"),
    ("GET", "/v1/tenants/{tenant}/usage", "OAamu"),
    ("GET", "/v1/admin/usage", "OA"),
    ("GET", "/v1/admin/usage/tenants", "OA"),
    ("GET", "/v1/admin/nodes", "OA"),
];

/// A caller of ann's tenant.
struct TenantCaller {
    office: Office,
    token: String,
}

impl TenantCaller {
    async fn with_role(letter: char) -> Self {
        let office = Office::open().await;
        let token = office.token(&[office.role(letter)]).await;
        Self { office, token }
    }

    /// Calls a route of ann's tenant. Fails if the status is another.
    async fn asks(&self, status: u16, call: (&str, &str), body: Value) -> Value {
        let path = format!("/v1/tenants/ann/{}", call.1);
        let answer = self.office.call((call.0, &path), Some(&self.token), &body).await;
        assert_eq!(answer.status, status, "{} {path}: {}", call.0, answer.text);
        answer.json()
    }

    async fn gets(&self, path: &str) -> Value {
        self.asks(200, ("GET", path), json!({})).await
    }

    /// Parks entries of ann's inbox.
    async fn park(&self, seqs: &[i64]) {
        for seq in seqs {
            let path = format!("agents/ann/inbox/{seq}/park");
            self.asks(200, ("POST", &path), json!({})).await;
        }
    }
}

#[tokio::test]
async fn a_summary_and_the_states_agree() {
    let member = TenantCaller::with_role('m').await;
    member.office.desk.settled().await;
    let summary = member.gets("summary").await;
    assert_eq!(summary["waking"], json!({ "count": 1, "more": false }), "{summary}");
    assert_eq!((&summary["waiting"]["count"], &summary["parked"]["count"]), (&json!(1), &json!(0)));
    assert!(summary["oldest_at"].is_string(), "{summary}");

    let states = member.gets("agent-states?state=needed").await;
    assert_eq!((&states[0]["name"], &states[0]["condition"]), (&json!("ann"), &json!("waking")));
    assert_eq!(member.gets("agent-states?prefix=b").await, json!([]));
    assert_eq!(member.gets("agent-states?state=awake").await, json!([]));
    member.asks(400, ("GET", "agent-states?state=odd"), json!({})).await;
    let people = member.gets("people").await;
    assert_eq!((&people[0]["author"], &people[0]["agent"]), (&json!("ann"), &json!("ann")));
    let after = people[0]["key"].as_str().expect("a key");
    assert_eq!(member.gets(&format!("people?after={after}")).await, json!([]));
    member.asks(400, ("GET", "people?after=odd"), json!({})).await;
    member.asks(404, ("GET", "agents/ann/line"), json!({})).await;
}

#[tokio::test]
async fn parked_entries_are_redelivered_and_dropped_by_reason() {
    let member = TenantCaller::with_role('m').await;
    let desk = &member.office.desk;
    for key in ["k2", "k3"] {
        assert_eq!(desk.says(&member.office.ann, "ann", key).await, 200);
    }
    member.park(&[1, 2, 3]).await;
    let stuck = member.gets("stuck").await;
    assert_eq!(stuck["parked"][0]["reason"], "operator");
    assert_eq!(stuck["parked"][0]["count"]["count"], 3);
    assert_eq!(stuck["parked"][0]["newest"]["agent"], "ann");
    let rows = member.gets("parked/operator").await;
    let after = rows[0]["key"].as_str().expect("a key").to_owned();
    let rest = member.gets(&format!("parked/operator?after={after}")).await;
    assert_eq!((rows.as_array().map(Vec::len), rest.as_array().map(Vec::len)), (Some(3), Some(2)));

    let drop_first = ("POST", "agents/ann/inbox/1/drop");
    member.asks(400, drop_first, json!({ "confirm": "yes" })).await;
    member.asks(204, drop_first, json!({ "confirm": "1" })).await;
    member.asks(409, drop_first, json!({ "confirm": "1" })).await;
    let again = member.asks(200, ("POST", "parked/operator/resubmit"), json!({})).await;
    assert_eq!(again, json!({ "changed": 2, "more": false }));
    member.park(&[4]).await;
    let drop_all = ("POST", "parked/operator/drop");
    member.asks(400, drop_all, json!({ "confirm": "tries" })).await;
    let dropped = member.asks(200, drop_all, json!({ "confirm": "operator" })).await;
    assert_eq!(dropped, json!({ "changed": 1, "more": false }));
    assert_eq!(member.gets("stuck").await["parked"], json!([]));
    member.asks(404, ("GET", "parked/boredom"), json!({})).await;
}

#[tokio::test]
async fn a_refused_event_is_shown_with_the_next_step() {
    let member = TenantCaller::with_role('m').await;
    let office = &member.office;
    assert_eq!(office.desk.says(&office.ann, "stranger", "k9").await, 200);
    let (notes, _) = office.desk.desk.refusals.take();
    office.desk.desk.stops.gate.note_refusals(&notes).await.expect("note refusals");

    let groups = member.gets("stuck").await["refused"].clone();
    assert_eq!((&groups[0]["reason"], &groups[0]["count"]), (&json!("unbound-author"), &json!(1)));
    assert!(groups[0]["advice"].as_str().is_some_and(|advice| advice.starts_with("Link")));
    assert!(!groups.to_string().contains(super::ANNS_WORDS));
}

#[tokio::test]
async fn usage_is_counted_by_tenant_and_for_the_desk() {
    let member = TenantCaller::with_role('m').await;
    let store: &dyn nightdesk_office::UsageReads = &member.office.desk.store;
    store.sample_usage(None, std::time::Duration::ZERO).await.expect("sample the usage");
    let sum = |rows: &Value| {
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["messages"].as_i64().expect("a number")).sum::<i64>()
    };
    let (hours, days) = (member.gets("usage?by=hour").await, member.gets("usage").await);
    assert_eq!(
        (hours.as_array().map(Vec::len), days.as_array().map(Vec::len)),
        (Some(24), Some(30))
    );
    assert_eq!((sum(&hours), sum(&days)), (1, 1));
    member.asks(400, ("GET", "usage?by=year"), json!({})).await;

    let operator = member.office.token(&[Role::Operator]).await;
    let get = async |path: &str| {
        member.office.call(("GET", path), Some(&operator), &json!({})).await.json()
    };
    assert_eq!(sum(&get("/v1/admin/usage?by=day").await), 1);
    let tenants = get("/v1/admin/usage/tenants").await;
    assert_eq!((&tenants[0]["name"], &tenants[0]["usage"]["messages"]), (&json!("ann"), &json!(1)));
    let nodes = get("/v1/admin/nodes").await;
    assert_eq!((&nodes[0]["name"], &nodes[0]["state"]), (&json!("test"), &json!("alive")));
}
