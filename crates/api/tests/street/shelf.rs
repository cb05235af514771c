//! Skills and data that the agents of a tenant share.

use nightdesk_shelf::Approval;
use nightdesk_shelf::approval::sign::SigningKey;
use nightdesk_testdesk::{Answered, Household, TestDesk, get, post};
use nightdesk_types::limits::{
    CATALOGUES_PER_MINUTE, SHELF_BODY_BYTES_MAX, SHELF_PER_MINUTE, SKILL_BYTES_MAX,
};
use nightdesk_types::{AgentId, Clock, SystemClock};
use serde_json::{Value, json};

use crate::oauth::{access_token, invited};

const BRIEF: &str = "# Skill: brief\n# Status: Draft\n# Tags: day\n\nt:\n    emit(text=\"hi\")\n";

struct Street {
    desk: TestDesk,
    ann: Household,
    bearer: String,
}

impl Street {
    async fn open() -> Self {
        let desk = TestDesk::open().await;
        let ann = desk.household("ann", "gw").await;
        let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
        Self { desk, ann, bearer }
    }

    /// A token of another agent.
    async fn token(&self, household: &Household, agent: AgentId) -> String {
        let now = SystemClock::start().now();
        let issuer = self.desk.desk.stops.issuers.own_issuer();
        let token = issuer.agent_token(household.scope, agent, now).await;
        token.expect("a token").with(str::to_owned)
    }

    async fn get(&self, bearer: &str, path: &str) -> Answered {
        let bearer = format!("Bearer {bearer}");
        get(self.desk.address(), path, &[("authorization", &bearer)]).await
    }

    async fn post(&self, bearer: &str, path: &str, body: &Value) -> Answered {
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        post(self.desk.address(), path, &headers, body.to_string().as_bytes()).await
    }

    async fn write(&self, bearer: &str, source: &str, overwrite: bool) -> Answered {
        let body = json!({ "name": "brief", "source": source, "overwrite": overwrite });
        self.post(bearer, "/v1/skills", &body).await
    }
}

#[tokio::test]
async fn a_skill_is_written_read_approved_and_listed() {
    let street = Street::open().await;
    let (bearer, author) = (street.bearer.as_str(), street.ann.agent.to_string());
    let written = street.write(bearer, BRIEF, false).await;
    assert_eq!((written.status, &written.json()["status"]), (200, &json!("Draft")));

    let read = street.get(bearer, "/v1/skills/brief").await.json();
    assert_eq!((&read["source"], &read["version"]), (&json!(BRIEF), &written.json()["version"]));
    assert_eq!(street.get(bearer, "/v1/skills").await.json()["skills"], json!([]));
    let status = json!({ "status": "Approved" });
    let approved = street.post(bearer, "/v1/skills/brief/status", &status).await;
    assert_eq!(approved.json()["previous_status"], "Draft", "{}", approved.text);
    let listed = street.get(bearer, "/v1/skills?domain_tags=night,day").await.json();
    let entry = &listed["skills"][0];
    assert_eq!((&entry["name"], &entry["gate_ok"]), (&json!("brief"), &json!(true)));
    assert_eq!(entry["author"], author.as_str());
    assert_eq!(street.get(bearer, "/v1/skills?name_prefix=x").await.json()["skills"], json!([]));

    let old =
        format!("/v1/skills/brief?version={}", written.json()["version"].as_str().expect("one"));
    assert_eq!(street.get(bearer, &old).await.json()["source"], BRIEF);
    let versions = street.get(bearer, "/v1/skills/brief/versions").await.json();
    assert_eq!(versions.as_array().map(Vec::len), Some(2), "{versions}");
    for missing in ["/v1/skills/none", "/v1/skills/brief?version=0", "/v1/skills/none/versions"] {
        assert_eq!(street.get(bearer, missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn a_remote_store_queries_and_writes_as_the_contract_does() {
    let street = Street::open().await;
    let bearer = street.bearer.as_str();
    let query = async |filter: Value| {
        let answered = street.post(bearer, "/v1/skill-query", &filter).await;
        assert_eq!(answered.status, 200, "{filter}: {}", answered.text);
        answered.json()
    };
    let token = async || query(json!({ "limit": 0 })).await["version"].clone();
    let empty = token().await;
    let body = json!({
        "name": "brief", "source": BRIEF, "overwrite": true, "status": "Approved",
        "metadata_bag": { "from": "elsewhere" },
    });
    assert_eq!(street.post(bearer, "/v1/skills", &body).await.json()["status"], "Approved");
    street.post(bearer, "/v1/skills", &json!({ "name": "other", "source": "x" })).await;
    assert_ne!(token().await, empty, "the token moved");

    let all = query(json!({})).await;
    let read = street.get(bearer, "/v1/skills/brief").await.json();
    assert_eq!(all["skills"][0], read["metadata"], "metadata is the same everywhere");
    assert_eq!(read["metadata"]["metadata_bag"], json!({ "from": "elsewhere" }));
    assert_eq!(read["metadata"]["content_hash"], read["content_hash"]);
    let names = async |filter: Value| {
        let found = query(filter).await;
        let skills = found["skills"].as_array().cloned().expect("a list");
        skills.iter().map(|skill| skill["name"].clone()).collect::<Vec<_>>()
    };
    let cases = [
        (json!({ "limit": 0 }), json!([])),
        (json!({ "status": ["Approved"] }), json!(["brief"])),
        (json!({ "tag": "day" }), json!(["brief"])),
        (json!({ "name_pattern": "^o", "unheard_of": true }), json!(["other"])),
        (json!({ "offset": 1 }), json!(["other"])),
        (json!({ "author": "none" }), json!([])),
    ];
    for (filter, want) in cases {
        assert_eq!(json!(names(filter.clone()).await), want, "{filter}");
    }
    let odd = street.post(bearer, "/v1/skill-query", &json!({ "name_pattern": "(" })).await;
    assert_eq!(odd.status, 400, "{}", odd.text);
}

#[tokio::test]
async fn what_is_repeated_changes_nothing() {
    let street = Street::open().await;
    let bearer = street.bearer.as_str();
    let first = street.write(bearer, BRIEF, false).await;
    assert_eq!(street.write(bearer, BRIEF, false).await.text, first.text);
    let status = json!({ "status": "Approved" });
    let approved = street.post(bearer, "/v1/skills/brief/status", &status).await;
    let again = street.post(bearer, "/v1/skills/brief/status", &status).await;
    assert_eq!(approved.text, again.text);
    // The stored bytes have another status since, so a late repeat would end the approval.
    assert_eq!(street.write(bearer, BRIEF, false).await.json()["code"], "skill-conflict");
    let same = street.write(bearer, &BRIEF.replace("Draft", "Approved"), false).await;
    assert_eq!((same.status, same.json()["status"].clone()), (200, json!("Approved")));
    let entry = json!({ "content": "The kettle is blue." });
    let one = street.post(bearer, "/v1/data", &entry).await;
    assert_eq!((one.status, &street.post(bearer, "/v1/data", &entry).await.text), (200, &one.text));

    let changed = street.write(bearer, "other", false).await;
    assert_eq!((changed.status, &changed.json()["code"]), (409, &json!("skill-conflict")));
    assert_eq!(street.write(bearer, "other", true).await.status, 200);
    let versions = street.get(bearer, "/v1/skills/brief/versions").await.json();
    assert_eq!(versions.as_array().map(Vec::len), Some(3), "{versions}");
}

#[tokio::test]
async fn agents_of_a_tenant_share_and_do_not_take_from_each_other() {
    let street = Street::open().await;
    street.write(&street.bearer, BRIEF, false).await;
    let register = street.desk.register.store();
    let other = register.create_agent(street.ann.scope, "owl").await.expect("enter an agent");
    let owl = street.token(&street.ann, other).await;

    assert_eq!(street.get(&owl, "/v1/skills/brief").await.json()["source"], BRIEF);
    let taken = street.write(&owl, "mine", true).await;
    assert_eq!((taken.status, &taken.json()["code"]), (409, &json!("skill-conflict")));
    let entry =
        json!({ "content": "The kettle is blue.", "tags": ["kitchen"], "expires_at": null });
    let written = street.post(&owl, "/v1/data", &entry).await.json();
    let asked =
        json!({ "query": "kettle", "domain_tags": ["kitchen"], "agent_id": other.to_string() });
    let found = street.post(&street.bearer, "/v1/data/query", &asked).await.json();
    assert_eq!(found["items"][0]["id"], written["id"], "{found}");
    assert_eq!(found["items"][0]["agent_id"], other.to_string());
    assert!(found["items"][0].get("expires_at").is_some_and(Value::is_null), "{found}");
}

#[tokio::test]
async fn another_tenant_sees_nothing_whatever_it_knows() {
    let street = Street::open().await;
    street.write(&street.bearer, &BRIEF.replace("Draft", "Approved"), false).await;
    let entry = json!({ "content": "The kettle is blue." });
    let written = street.post(&street.bearer, "/v1/data", &entry).await.json();
    let bob = street.desk.household("bob", "gw").await;
    let bearer = street.token(&bob, bob.agent).await;

    assert_eq!(street.get(&bearer, "/v1/skills?audience=all").await.json()["skills"], json!([]));
    assert_eq!(street.get(&bearer, "/v1/skills/brief").await.status, 404);
    let path = format!("/v1/data/{}", written["id"].as_str().expect("an id"));
    assert_eq!(street.get(&bearer, &path).await.status, 404);
    assert_eq!(street.get(&street.bearer, &path).await.json()["detail"], "The kettle is blue.");
    let found = street.post(&bearer, "/v1/data/query", &json!({ "query": "kettle" })).await;
    assert_eq!(found.json()["items"], json!([]));
    assert_eq!(street.get("nobody", "/v1/skills").await.status, 401);
}

#[tokio::test]
async fn a_list_that_did_not_change_is_not_told_again() {
    let street = Street::open().await;
    let bearer = street.bearer.as_str();
    street.write(bearer, &BRIEF.replace("Draft", "Approved"), false).await;
    let seen = street.get(bearer, "/v1/skills").await.json();
    let seen = seen["catalog_version"].as_str().expect("a token").to_owned();
    let again = format!("/v1/skills?if_none_match={seen}");

    let told = street.get(bearer, &again).await.json();
    assert_eq!(told, json!({ "not_modified": true, "catalog_version": seen }));
    let other = street.get(bearer, &format!("{again}&audience=all")).await.json();
    assert_eq!(other["not_modified"], Value::Null, "it was never asked so");
    street.write(bearer, &BRIEF.replace("hi", "ho").replace("Draft", "Approved"), true).await;
    assert_eq!(street.get(bearer, &again).await.json()["skills"][0]["name"], "brief");
}

#[tokio::test]
async fn in_secured_mode_an_agent_approves_nothing() {
    let street = Street::open().await;
    let (bearer, key) = (street.bearer.as_str(), SigningKey::generate());
    let secured = Approval::Secured(key.public());
    let store: &dyn nightdesk_shelf::Skills = &street.desk.store;
    store.secure_shelf(street.ann.scope, &secured).await.expect("say who approves");

    let claimed = street.write(bearer, &BRIEF.replace("Draft", "Approved"), false).await;
    assert_eq!(claimed.json()["status"], "Draft", "{}", claimed.text);
    let refused =
        street.post(bearer, "/v1/skills/brief/status", &json!({ "status": "Approved" })).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("not-approved")));
    let body = json!({ "name": "signed", "source": key.approve(BRIEF) });
    let signed = street.post(bearer, "/v1/skills", &body).await;
    assert_eq!(signed.json()["status"], "Approved", "{}", signed.text);
}

#[tokio::test]
async fn what_is_not_kept_is_refused() {
    let street = Street::open().await;
    let bearer = street.bearer.as_str();
    let odd = street.post(bearer, "/v1/data/query", &json!({ "query": "x", "odd": 1 })).await;
    assert_eq!((odd.status, &odd.json()["code"]), (400, &json!("unsupported-filter")));
    assert!(odd.json()["detail"].as_str().is_some_and(|text| text.contains("domain_tags")));
    let cases = [
        ("/v1/data/query", json!({ "query": "x", "mode": "by-smell" })),
        ("/v1/data", json!({ "tags": [] })),
        ("/v1/skills", json!({ "name": "x" })),
        ("/v1/skills/brief/status", json!({ "status": "approved" })),
    ];
    for (path, body) in cases {
        assert_eq!(street.post(bearer, path, &body).await.status, 400, "{path}");
    }
    assert_eq!(street.get(bearer, "/v1/skills?status=odd").await.status, 400);
    let body = json!({ "name": "a/b", "source": "x" });
    assert_eq!(street.post(bearer, "/v1/skills", &body).await.status, 409);
}

#[tokio::test]
async fn bodies_and_calls_have_bounds() {
    let street = Street::open().await;
    let bearer = street.bearer.as_str();
    // The longest there is, written as long as it can be.
    let longest = street.write(bearer, &"\u{1}".repeat(SKILL_BYTES_MAX), false).await;
    assert_eq!(longest.status, 200, "{}", longest.text);
    let long = street.write(bearer, &"x".repeat(SHELF_BODY_BYTES_MAX), true).await;
    assert_eq!(long.status, 413);

    // Some come back while the others are asked.
    let mut calls = 0;
    while street.get(bearer, "/v1/data/none").await.status != 429 {
        calls += 1;
        assert!(calls < 2 * SHELF_PER_MINUTE, "it may ask for ever");
    }
    assert!(calls >= SHELF_PER_MINUTE - 2, "{calls}");
}

#[tokio::test]
async fn the_catalogue_is_asked_for_sixty_times_a_minute() {
    let street = Street::open().await;
    let mut calls = 0;
    while street.get(&street.bearer, "/v1/skills").await.status != 429 {
        calls += 1;
        assert!(calls < 2 * CATALOGUES_PER_MINUTE, "it may ask for ever");
    }

    assert!(calls >= CATALOGUES_PER_MINUTE - 2, "{calls}");
    assert_eq!(street.get(&street.bearer, "/v1/skills/none").await.status, 404, "the rest is open");
}

#[tokio::test]
async fn of_two_who_write_a_new_skill_at_once_one_does() {
    let street = Street::open().await;
    for round in 0..20 {
        let street = &street;
        let write = |source: String| async move {
            let body = json!({ "name": format!("brief-{round}"), "source": source });
            street.post(&street.bearer, "/v1/skills", &body).await.status
        };
        let (one, other) = tokio::join!(write(format!("{BRIEF}one")), write(format!("{BRIEF}two")));

        assert_eq!([one, other].into_iter().filter(|status| *status == 200).count(), 1, "{round}");
        assert!([one, other].contains(&409), "{one} {other}");
    }
}
