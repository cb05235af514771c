//! Letters, skills and data, as users see and manage them.

use nightdesk_letters::Party;
use nightdesk_shelf::approval::sign::SigningKey;
use nightdesk_testdesk::Answered;
use nightdesk_types::{AgentId, LetterId};
use nightdesk_users::Role;
use serde_json::{Value, json};

use super::{Office, OfficeRoute};

/// The routes of letters, skills and data.
pub(super) const ROUTES: &[OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/letters", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/letters", "Oam"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/letters/{id}", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/letter-hooks", "Oa"),
    ("GET", "/v1/tenants/{tenant}/letter-hooks", "OAamu"),
    ("DELETE", "/v1/tenants/{tenant}/letter-hooks/{name}", "Oa"),
    ("GET", "/v1/tenants/{tenant}/letter-grants", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/letter-grants/{peer_tenant}/{peer_agent}", "Oa"),
    (
        "DELETE",
        "/v1/tenants/{tenant}/agents/{agent}/letter-grants/{peer_tenant}/{peer_agent}",
        "Oa",
    ),
    ("GET", "/v1/tenants/{tenant}/skills", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/skills/{name}", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/skills/{name}", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/skills/{name}", "Oa"),
    ("GET", "/v1/tenants/{tenant}/skills/{name}/versions", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/skills/{name}/status", "Oa"),
    ("GET", "/v1/tenants/{tenant}/skills/{name}/approval", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/skills/{name}/approval", "Oa"),
    ("GET", "/v1/tenants/{tenant}/skill-key", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/skill-key", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/skill-key", "Oa"),
    ("POST", "/v1/tenants/{tenant}/data", "Oa"),
    ("POST", "/v1/tenants/{tenant}/data/query", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/data/{id}", "OAamu"),
];

const REPLY: &str = "the-owls-words";
const BRIEF: &str = "# Skill: brief\n# Status: Draft\n\nt:\n";

/// A caller of the office with a token.
struct Caller<'a> {
    office: &'a Office,
    token: String,
}

impl<'a> Caller<'a> {
    async fn with_role(office: &'a Office, role: Role) -> Self {
        Self { office, token: office.token(&[role]).await }
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> Answered {
        self.office.call((method, path), Some(&self.token), &body).await
    }

    async fn get(&self, path: &str) -> Answered {
        self.call("GET", path, json!({})).await
    }
}

/// Creates another agent of ann's tenant.
async fn owl(office: &Office) -> AgentId {
    let created = office.desk.register.store().create_agent(office.ann.scope, "owl").await;
    created.expect("create an agent")
}

#[tokio::test]
async fn a_letter_is_sent_once_and_its_reply_is_for_who_may_read_messages() {
    let office = Office::open().await;
    let owl = Party { scope: office.ann.scope, agent: owl(&office).await };
    let member = Caller::with_role(&office, office.role('m')).await;
    let letters = "/v1/tenants/ann/agents/ann/letters";
    let letter = json!({ "to": "owl", "text": "hello", "dispatch_id": "d1", "wait_secs": 60 });

    let sent = member.call("POST", letters, letter.clone()).await;
    assert_eq!((sent.status, &sent.json()["state"]), (200, &json!("put")), "{}", sent.text);
    let id = sent.json()["letter_id"].as_str().expect("an id").to_owned();
    let again = member.call("POST", letters, letter).await;
    assert_eq!(again.json()["letter_id"], json!(id), "{}", again.text);
    let letter: LetterId = id.parse().expect("an id");
    let store = &office.desk.desk.stops.letters.store;
    store.store_reply(owl, letter, REPLY).await.expect("store a reply");

    let one = format!("{letters}/{id}");
    assert_eq!(member.get(&one).await.json()["reply"], REPLY);
    assert_eq!(member.get(letters).await.json()[0]["reply"], REPLY);
    for role in [Role::Operator, Role::Auditor, office.role('u')] {
        let reader = Caller::with_role(&office, role).await;
        for path in [&one, letters] {
            let seen = reader.get(path).await;
            assert!(seen.status == 200 && !seen.text.contains(REPLY), "{role}: {}", seen.text);
            assert!(seen.text.contains("replied_at"), "{role}: {}", seen.text);
        }
    }
}

#[tokio::test]
async fn a_letter_that_cannot_be_sent_is_refused_with_the_next_step() {
    let office = Office::open().await;
    owl(&office).await;
    let member = Caller::with_role(&office, office.role('m')).await;
    let letters = "/v1/tenants/ann/agents/ann/letters";
    let cases = [
        (json!({ "to": "nobody", "text": "hello" }), 404, "agent list"),
        (json!({ "to": "bob", "text": "hello" }), 404, "agent list"),
        (json!({ "to": "owl", "text": "hello", "wait_secs": 301 }), 400, "300s"),
        (json!({ "to": "owl", "text": "hello", "dispatch_id": "" }), 400, "an id of a letter"),
        (json!({ "to": "owl", "text": "hello", "from": "owl" }), 400, "send JSON with"),
    ];
    for (body, status, next) in cases {
        let answer = member.call("POST", letters, body.clone()).await;
        assert!(answer.status == status && answer.text.contains(next), "{body}: {}", answer.text);
    }
    let sent = member.call("POST", letters, json!({ "to": "owl", "text": "hello" })).await;
    let id = sent.json()["letter_id"].as_str().expect("an id").to_owned();
    let owls = member.get(&format!("/v1/tenants/ann/agents/owl/letters/{id}")).await;
    assert_eq!(owls.status, 404, "another agent sent it: {}", owls.text);
}

#[tokio::test]
async fn a_webhook_for_letters_is_created_once_and_removed_once() {
    let office = Office::open().await;
    let admin = Caller::with_role(&office, office.role('a')).await;
    let hooks = "/v1/tenants/ann/agents/ann/letter-hooks";

    let created = admin.call("POST", hooks, json!({ "name": "runtime" })).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let status_url = created.json()["status_url"].as_str().expect("an address").to_owned();
    let path = status_url.split_once("/v1/").map(|(_, path)| format!("/v1/{path}"));
    let path = path.expect("a path of the desk");
    assert_eq!(office.call(("GET", &path), None, &json!({})).await.status, 204);
    assert_eq!(admin.call("POST", hooks, json!({ "name": "runtime" })).await.status, 409);
    let listed = admin.get("/v1/tenants/ann/letter-hooks").await;
    assert_eq!(listed.json(), json!([{ "name": "runtime", "agent_id": office.ann.agent }]));
    let secret = created.json()["secret"].as_str().expect("a secret").to_owned();
    assert!(!listed.text.contains(&secret));

    let one = "/v1/tenants/ann/letter-hooks/runtime";
    assert_eq!(admin.call("DELETE", one, json!({})).await.status, 204);
    assert_eq!(admin.call("DELETE", one, json!({})).await.status, 404);
}

#[tokio::test]
async fn letters_between_tenants_need_a_caller_with_a_role_in_both() {
    let office = Office::open().await;
    let admin = Caller::with_role(&office, office.role('a')).await;
    let operator = Caller::with_role(&office, Role::Operator).await;
    let grant = "/v1/tenants/ann/agents/ann/letter-grants/bob/bob";
    let refused = admin.call("PUT", grant, json!({})).await;
    assert!(refused.status == 404 && refused.text.contains("no tenant"), "{}", refused.text);

    for _ in 0..2 {
        let granted = operator.call("PUT", grant, json!({})).await;
        assert_eq!((granted.status, &granted.json()["granted"]), (200, &json!(true)));
    }
    let listed = admin.get("/v1/tenants/ann/letter-grants").await.json();
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["both_sides"]),
        (Some(1), &json!(false))
    );
    let same = "/v1/tenants/ann/agents/ann/letter-grants/ann/ann";
    assert_eq!(operator.call("PUT", same, json!({})).await.status, 400);
    assert_eq!(operator.call("DELETE", grant, json!({})).await.json()["granted"], false);
    assert_eq!(operator.call("DELETE", grant, json!({})).await.status, 404);
}

#[tokio::test]
async fn a_skill_is_approved_by_a_signature_of_the_tenants_key() {
    let office = Office::open().await;
    let admin = Caller::with_role(&office, office.role('a')).await;
    let (key, other) = (SigningKey::generate(), SigningKey::generate());
    let (brief, approval) =
        ("/v1/tenants/ann/skills/brief", "/v1/tenants/ann/skills/brief/approval");
    let public_key = json!({ "public_key": key.public().to_pem() });
    let secured = admin.call("PUT", "/v1/tenants/ann/skill-key", public_key).await;
    assert_eq!(secured.json()["secured"], true, "{}", secured.text);
    let written = admin.call("PUT", brief, json!({ "source": BRIEF })).await.json();
    assert_eq!(admin.call("PUT", brief, json!({ "source": BRIEF })).await.json(), written);
    let signature = |key: &SigningKey, version: &Value| json!({ "version": version, "signature": key.proof(BRIEF) });

    let status = format!("{brief}/status");
    let unsigned = admin.call("PUT", &status, json!({ "status": "Approved" })).await;
    assert_eq!(unsigned.status, 403, "{}", unsigned.text);
    let others = admin.call("PUT", approval, signature(&other, &written["version"])).await;
    assert!(others.status == 403 && others.text.contains("another key"), "{}", others.text);
    let stale = admin.call("PUT", approval, signature(&key, &json!("0"))).await;
    assert!(stale.status == 409 && stale.text.contains("read it again"), "{}", stale.text);
    let line = json!({ "version": written["version"], "signature": "v3:AA\nm:" });
    assert_eq!(admin.call("PUT", approval, line).await.status, 403);
    let approved = admin.call("PUT", approval, signature(&key, &written["version"])).await;
    assert_eq!(approved.json()["status"], "Approved", "{}", approved.text);
    let checked = admin.get(approval).await.json();
    assert_eq!((&checked["may_run"], &checked["why_not"]), (&json!(true), &Value::Null));
    assert_eq!(admin.get("/v1/tenants/ann/skills?status=Draft").await.json(), json!([]));
    assert_eq!(admin.get("/v1/tenants/ann/skills").await.json()[0]["status"], "Approved");
    assert_eq!(admin.call("DELETE", "/v1/tenants/ann/skill-key", json!({})).await.status, 200);
    assert_eq!(admin.call("DELETE", "/v1/tenants/ann/skill-key", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_skill_is_removed_only_with_a_confirmation() {
    let office = Office::open().await;
    let admin = Caller::with_role(&office, office.role('a')).await;
    let brief = "/v1/tenants/ann/skills/brief";
    admin.call("PUT", brief, json!({ "source": BRIEF })).await;
    let other = json!({ "source": "t:\n    &brief\n" });
    admin.call("PUT", "/v1/tenants/ann/skills/other", other).await;
    let remove = async |query: &str| {
        let path = format!("{brief}{query}");
        admin.call("DELETE", &path, json!({})).await
    };

    let mentioned = remove("?confirm=brief").await;
    assert!(mentioned.status == 409 && mentioned.text.contains("by other"), "{}", mentioned.text);
    let unconfirmed = remove("?force=true").await;
    assert_eq!(unconfirmed.status, 400, "{}", unconfirmed.text);
    let removed = remove("?force=true&confirm=brief").await;
    assert_eq!(removed.json()["mentioned_by"], json!(["other"]), "{}", removed.text);
    assert_eq!(remove("?confirm=brief").await.status, 404);
    assert_eq!(admin.get(brief).await.status, 404);
}

#[tokio::test]
async fn data_is_written_found_and_read_and_stays_in_its_tenant() {
    let office = Office::open().await;
    let admin = Caller::with_role(&office, office.role('a')).await;
    let entry = json!({ "content": "The kettle is blue.", "tags": ["kitchen"] });

    let written = admin.call("POST", "/v1/tenants/ann/data", entry.clone()).await;
    let id = written.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(admin.call("POST", "/v1/tenants/ann/data", entry).await.json()["id"], json!(id));
    let query = json!({ "query": "kettle", "domain_tags": "kitchen" });
    let found = admin.call("POST", "/v1/tenants/ann/data/query", query.clone()).await;
    assert_eq!(found.json()[0]["id"], json!(id), "{}", found.text);
    let odd = admin.call("POST", "/v1/tenants/ann/data/query", json!({ "odd": 1 })).await;
    assert!(odd.status == 400 && odd.text.contains("domain_tags"), "{}", odd.text);
    let read = admin.get(&format!("/v1/tenants/ann/data/{id}")).await;
    assert_eq!(read.json()["detail"], "The kettle is blue.", "{}", read.text);

    let operator = Caller::with_role(&office, Role::Operator).await;
    assert_eq!(operator.get(&format!("/v1/tenants/bob/data/{id}")).await.status, 404);
    let bobs = operator.call("POST", "/v1/tenants/bob/data/query", query).await;
    assert_eq!(bobs.json(), json!([]), "{}", bobs.text);
}
