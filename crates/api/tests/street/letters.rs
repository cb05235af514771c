//! Letters between agents: awake or asleep, answered or not, of one tenant or of two.

#[path = "letters/sessions.rs"]
mod sessions;

use std::time::Duration;

use aws_lc_rs::{digest, hmac};
use nightdesk_letters::{Grants as _, Hooks as _, Party};
use nightdesk_testdesk::{Answered, Household, TestDesk, TestGateway, get, post, upgrade_token_at};
use nightdesk_types::limits::{HOPS_MAX, LETTER_BODY_BYTES_MAX, LETTER_BYTES_MAX};
use nightdesk_types::{Clock, Quota};
use serde_json::{Value, json};

/// A desk with two agents of one tenant.
struct Street {
    desk: TestDesk,
    ann: Household,
    bob: Household,
}

fn party(household: &Household) -> Party {
    Party { scope: household.scope, agent: household.agent }
}

/// Another agent of the same tenant, with a gateway of its own.
async fn sibling(desk: &TestDesk, of: &Household, name: &str) -> Household {
    let agent = desk.register.store().create_agent(of.scope, name).await.expect("an agent");
    let gateway = format!("gw-{name}");
    let (id, secret) =
        desk.register.create_gateway(of.scope, agent, &gateway).await.expect("a gateway");
    Household { agent, gateway: id, name: gateway, secret, ..of.clone() }
}

async fn street() -> Street {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-ann").await;
    let bob = sibling(&desk, &ann, "bob").await;
    Street { desk, ann, bob }
}

impl Street {
    async fn send(&self, from: &Household, body: &Value) -> Answered {
        let bearer = format!("Bearer {}", upgrade_token_at(&from.name, &from.secret, 300));
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        post(self.desk.address(), "/v1/letters", &headers, body.to_string().as_bytes()).await
    }

    async fn look(&self, from: &Household, path: &str) -> Answered {
        let bearer = format!("Bearer {}", upgrade_token_at(&from.name, &from.secret, 300));
        get(self.desk.address(), path, &[("authorization", bearer.as_str())]).await
    }

    async fn up(&self, household: &Household) -> TestGateway {
        let mut line = self.desk.dial(household).await;
        line.hello("discord").await;
        line.hear_frame("descriptor").await;
        line
    }

    async fn waiting(&self, household: &Household) -> i64 {
        self.desk.head_of(household).await.get()
    }
}

/// Replies to a letter as a stock client does: an ordinary send to that chat, marked as the reply.
async fn answers(line: &mut TestGateway, entry: &Value, words: &str) -> Value {
    says(line, entry, words, &json!({ "notify": true })).await
}

/// Sends a text to the chat of a letter.
async fn says(line: &mut TestGateway, entry: &Value, words: &str, metadata: &Value) -> Value {
    let chat = &entry["event"]["source"]["chat_id"];
    let send = json!({
        "type": "outbound", "requestId": format!("r-{words}"), "platform": "relay",
        "action": { "op": "send", "chat_id": chat, "content": words, "metadata": metadata },
    });
    line.say(&send).await;
    line.hear_frame("outbound_result").await
}

#[tokio::test]
async fn a_letter_reaches_an_agent_that_is_up_and_says_who_sent_it() {
    let street = street().await;
    let mut bob = street.up(&street.bob).await;
    let sent = street.send(&street.ann, &json!({ "agent": "bob", "message": "hi" })).await;

    assert_eq!(sent.status, 200, "{}", sent.text);
    let way = &sent.json()["dispatched"][0];
    assert_eq!((way["ok"].clone(), way["route"].clone()), (json!(true), json!("deliver")));
    assert_eq!(way["delivered"]["session_id"], "gw-bob");
    assert!(way["delivered"].get("delivery_skipped").is_none(), "{way}");
    let entry = bob.hear_frame("inbound").await;
    assert_eq!(entry["event"]["text"], "hi");
    assert_eq!(entry["event"]["letter"]["from"], "ann");
    assert_eq!(entry["event"]["source"]["user_id"], json!(street.ann.agent.to_string()));
}

#[tokio::test]
async fn a_letter_to_a_sleeper_waits_and_is_honest_about_it() {
    let street = street().await;
    let body = json!({ "agent": "bob@gw-bob", "message": "up", "dispatch_id": "d1" });
    let sent = street.send(&street.ann, &body).await;
    let way = sent.json()["dispatched"][0].clone();
    assert_eq!(
        (way["route"].clone(), way["woken"]["woken"].clone()),
        (json!("wake"), json!(false))
    );
    assert_eq!(street.waiting(&street.bob).await, 1);

    let mut bob = street.up(&street.bob).await;
    assert_eq!(bob.hear_frame("inbound").await["event"]["text"], "up");
    let again = street.send(&street.ann, &body).await;
    assert_eq!(street.waiting(&street.bob).await, 1, "the same dispatch is the same letter");
    assert_eq!(again.json()["dispatched"][0]["woken"]["woken"], true);
    assert_eq!(again.json()["dispatched"][0]["woken"]["session_id"], "gw-bob");
}

#[tokio::test]
async fn an_exchange_is_answered_by_an_ordinary_send_also_of_a_sleeper() {
    let street = street().await;
    let body = json!({
        "op": "exchange", "agent": "bob", "message": "2+2?", "correlation_id": "c1",
        "timeout_ms": 60_000,
    });
    let (sent, ()) = tokio::join!(street.send(&street.ann, &body), async {
        let mut bob = street.up(&street.bob).await;
        let entry = bob.hear_frame("inbound").await;
        assert_eq!(entry["event"]["letter"]["correlation_id"], "c1");
        let aside = says(&mut bob, &entry, "No home channel is set.", &json!({})).await;
        assert_eq!(aside["result"]["success"], true, "what is said by the way goes nowhere");
        assert_eq!(answers(&mut bob, &entry, "4").await["result"]["success"], true);
        assert_eq!(answers(&mut bob, &entry, "5").await["result"]["success"], true, "and no reply");
    });

    assert_eq!(sent.status, 200, "{}", sent.text);
    let response = &sent.json()["response"];
    assert_eq!(
        (response["content"].clone(), response["correlation_id"].clone()),
        (json!("4"), json!("c1"))
    );
    assert_eq!(response["agent_id"], "bob");
    let list = street.look(&street.ann, "/v1/letters").await.json();
    let letter = &list["letters"][0];
    assert_eq!((letter["state"].clone(), letter["reply"].clone()), (json!("replied"), json!("4")));
    let path = format!("/v1/letters/{}", letter["letter_id"].as_str().expect("an id"));
    assert_eq!(street.look(&street.ann, &path).await.json()["hop"], 1);
    assert_eq!(street.look(&street.bob, &path).await.status, 404, "it is not theirs");
}

#[tokio::test]
async fn an_exchange_that_nobody_answers_times_out_once_and_for_all() {
    let street = street().await;
    let body = json!({
        "op": "exchange", "agent": "bob", "message": "?", "dispatch_id": "d1", "timeout_ms": 5_000,
    });
    let mut bob = street.up(&street.bob).await;
    let (sent, entry) = tokio::join!(street.send(&street.ann, &body), async {
        let entry = bob.hear_frame("inbound").await;
        street.desk.store.clock().let_pass(Duration::from_secs(6));
        entry
    });
    assert_eq!((sent.status, sent.json()["code"].clone()), (504, json!("no-reply")));

    let late = answers(&mut bob, &entry, "late").await;
    assert_eq!(late["result"]["success"], false, "{late}");
    let again = street.send(&street.ann, &body).await;
    assert_eq!(again.status, 504, "asked again it is the same exchange");
    assert_eq!(street.waiting(&street.bob).await, 1);
}

#[tokio::test]
async fn a_loop_of_letters_ends() {
    let street = street().await;
    let (mut from, mut to) = ((&street.ann, "bob"), (&street.bob, "ann"));
    for _ in 0..HOPS_MAX {
        let sent = street.send(from.0, &json!({ "agent": from.1, "message": "again" })).await;
        assert_eq!(sent.json()["dispatched"][0]["ok"], true, "{}", sent.text);
        std::mem::swap(&mut from, &mut to);
    }

    let body = json!({ "op": "deliver", "agent": from.1, "message": "again" });
    let refused = street.send(from.0, &body).await;
    assert_eq!((refused.status, refused.json()["code"].clone()), (403, json!("letter-refused")));
    let half = i64::from(HOPS_MAX / 2);
    assert_eq!(
        (street.waiting(&street.ann).await, street.waiting(&street.bob).await),
        (half, half)
    );
}

#[tokio::test]
async fn nothing_goes_to_another_tenant_without_a_grant_from_both_sides() {
    let street = street().await;
    let eve = street.desk.household("eve", "gw-eve").await;
    let to_eve = eve.agent.to_string();
    for op in ["notify", "deliver", "wake", "exchange"] {
        for agent in [to_eve.clone(), format!("{to_eve}@gw-eve")] {
            let body = json!({ "op": op, "agent": agent, "message": "hi" });
            let refused = street.send(&street.ann, &body).await;
            assert_eq!(refused.status, 403, "{op} {agent}: {}", refused.text);
        }
    }
    let (ann, peer, store) = (party(&street.ann), party(&eve), &street.desk.store);
    store.grant(ann, peer).await.expect("grant");
    let body = json!({ "op": "deliver", "agent": to_eve, "message": "hi" });
    assert_eq!(street.send(&street.ann, &body).await.status, 403, "one side is not enough");
    assert_eq!(street.waiting(&eve).await, 0);
    assert_eq!(street.desk.wake_state(&eve).await, None, "nobody is woken");

    store.grant(peer, ann).await.expect("grant");
    assert_eq!(street.send(&street.ann, &body).await.status, 200);
    assert_eq!(street.waiting(&eve).await, 1);
    let agents = street.look(&street.ann, "/v1/agents").await.json();
    let ids: Vec<_> = agents["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|agent| &agent["agent_id"])
        .collect();
    assert_eq!(ids, [&json!("ann"), &json!("bob"), &json!(to_eve)]);
}

#[tokio::test]
async fn nobody_is_known_by_a_name_of_another_tenant() {
    let street = street().await;
    street.desk.household("eve", "gw-eve").await;

    let notify = street.send(&street.ann, &json!({ "agent": "eve", "message": "hi" })).await;
    assert_eq!((notify.status, notify.json()["dispatched"].clone()), (200, json!([])));
    let deliver = json!({ "op": "deliver", "agent": "eve", "message": "hi" });
    let unknown = street.send(&street.ann, &deliver).await;
    assert_eq!((unknown.status, unknown.json()["code"].clone()), (404, json!("no-such-agent")));
}

#[tokio::test]
async fn a_wake_for_later_comes_when_it_is_due_and_hides_from_the_agents_own_jobs() {
    let street = street().await;
    street.desk.keep_time();
    let now = street.desk.store.clock().now().as_millisecond();
    let body = json!({
        "op": "wake", "agent": "bob", "message": "later", "when": now + 60_000, "dispatch_id": "d1",
    });
    let woken = street.send(&street.ann, &body).await.json()["dispatched"][0]["woken"].clone();
    assert_eq!(woken["woken"], false, "{woken}");
    let again = street.send(&street.ann, &body).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert_eq!(street.waiting(&street.bob).await, 0);
    assert_eq!(street.look(&street.bob, "/api/agent-cron/list").await.json()["armed"], json!([]));

    let mut bob = street.up(&street.bob).await;
    street.desk.store.clock().let_pass(Duration::from_secs(61));
    street.desk.desk.stops.schedule.claim_soon();
    let entry = bob.hear_frame("inbound").await;
    assert_eq!(entry["event"]["text"], "later");
    answers(&mut bob, &entry, "done").await;
    let list = street.look(&street.ann, "/v1/letters").await.json();
    assert_eq!(list["letters"].as_array().expect("a list").len(), 1);
    assert_eq!(list["letters"][0]["reply"], "done");
}

/// A webhook by which other programs write as ann.
async fn hook(street: &Street) -> &'static str {
    const SECRET: &str = "a-secret-of-a-webhook";
    let hashed = digest::digest(&digest::SHA256, SECRET.as_bytes());
    let key = hashed.as_ref().try_into().expect("32 bytes");
    street.desk.store.make_hook(party(&street.ann), "runtime", key).await.expect("make");
    SECRET
}

/// As a real runtime sends it.
fn real(dispatch_id: &str, trigger: &str) -> String {
    format!(
        r#"{{"agent_id":"bob","kind":"augment","content":"hi","meta":{{"dispatch_id":"{dispatch_id}","sent_at":1794696802569,"origin":{{"skill_name":"ping","trigger_kind":"{trigger}","caller_agent_id":"mallory"}},"event_type":"x"}}}}"#
    )
}

#[tokio::test]
async fn what_the_example_connector_posts_is_taken_by_bearer_or_signature_and_once() {
    let street = street().await;
    let secret = hook(&street).await;
    let path = format!("/v1/webhook/{secret}/deliver");
    let at = street.desk.address();
    let body = real("d1", "supervisor");
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signature = format!("sha256={}", hex::encode(hmac::sign(&key, body.as_bytes())));
    let bearer = format!("Bearer {secret}");
    let proofs = [("authorization", bearer.as_str()), ("x-signature", signature.as_str())];
    for proof in proofs {
        let taken = post(at, &path, &[proof], body.as_bytes()).await;
        assert_eq!(taken.status, 200, "{proof:?} {}", taken.text);
        assert!(taken.json()["delivered_at"].is_i64() && taken.json()["delivery_id"].is_string());
    }
    assert_eq!(street.waiting(&street.bob).await, 1, "the same dispatch is the same letter");

    let wrong = format!("sha256={}", "0".repeat(64));
    let other = real("d2", "cron");
    for (path, proofs, body) in [
        (path.as_str(), vec![], &other),
        (&path, vec![("x-signature", wrong.as_str())], &other),
        (&path, vec![("x-signature", signature.as_str())], &other),
        (&path, vec![("authorization", "Bearer other")], &other),
        ("/v1/webhook/other/deliver", vec![("authorization", bearer.as_str())], &other),
    ] {
        let refused = post(at, path, &proofs, body.as_bytes()).await;
        assert_eq!(refused.status, 401, "{path} {proofs:?}");
    }
    let unknown = other.replace("augment", "binary");
    assert_eq!(post(at, &path, &[proofs[0]], unknown.as_bytes()).await.status, 400);
    assert_eq!(street.waiting(&street.bob).await, 1);
    let mut bob = street.up(&street.bob).await;
    let letter = bob.hear_frame("inbound").await["event"]["letter"].clone();
    assert_eq!(letter["from"], "ann", "whoever the body says called");
    assert_eq!(letter["origin"]["caller_agent_id"], "mallory", "as the runtime reports it");
}

#[tokio::test]
async fn the_examples_bare_wake_calls_and_ours_carries_its_context() {
    let street = street().await;
    let secret = hook(&street).await;
    let (at, path) = (street.desk.address(), format!("/v1/webhook/{secret}/wake"));
    let bare = post(at, &path, &[], br#"{"agent_id":"bob@kitchen"}"#).await;
    assert_eq!((bare.status, bare.json()["woken"].clone()), (200, json!(false)));
    assert_eq!(street.waiting(&street.bob).await, 0, "it tells nobody anything");

    let ours = br#"{"agent_id":"bob","context":"get up","session_id":"gw-bob"}"#;
    assert_eq!(post(at, &path, &[], ours).await.status, 401, "words need a proof");
    let bearer = format!("Bearer {secret}");
    let mut bob = street.up(&street.bob).await;
    let woken = post(at, &path, &[("authorization", bearer.as_str())], ours).await;
    assert_eq!((woken.status, woken.json()["woken"].clone()), (200, json!(true)), "{}", woken.text);
    assert_eq!(bob.hear_frame("inbound").await["event"]["text"], "get up");
    let status = format!("/v1/webhook/{secret}/status");
    assert_eq!(get(at, &status, &[]).await.status, 204);
}

#[tokio::test]
async fn which_skill_sent_a_letter_and_who_called_it_first_is_told_by_every_op() {
    let street = street().await;
    let mut bob = street.up(&street.bob).await;
    let origin = json!({
        "skill_name": "brief", "entry_skill_name": "morning", "trigger_kind": "supervisor",
        "caller_agent_id": "cc",
    });
    for op in ["notify", "deliver", "wake"] {
        let body = json!({ "op": op, "agent": "bob", "message": op, "origin": origin });
        assert_eq!(street.send(&street.ann, &body).await.status, 200, "{op}");
        let entry = bob.hear_frame("inbound").await;
        let told = &entry["event"]["letter"]["origin"];
        assert_eq!(
            (&told["skill_name"], &told["trigger_kind"]),
            (&origin["skill_name"], &origin["trigger_kind"]),
            "{op}"
        );
        assert_eq!(
            (&told["entry_skill_name"], &told["caller_agent_id"]),
            (&json!("morning"), &json!("cc")),
            "{op}"
        );
        assert_eq!(entry["event"]["letter"]["from"], "ann", "the sender is proven");
        bob.ack(&entry["bufferId"]).await;
    }
    let long = json!({ "agent": "bob", "origin": { "skill_name": "x".repeat(257), "trigger_kind": "cron" } });
    let refused = street.send(&street.ann, &long).await.json();
    assert_eq!(refused["dispatched"][0]["cause"], "client_validation", "{refused}");
}

#[tokio::test]
async fn a_full_inbox_refuses_a_letter_by_its_own_name() {
    let street = street().await;
    let store = street.desk.register.store();
    store.set_quota(street.bob.scope, Quota::PendingEntries, 1).await.expect("a quota");
    let body = |op: &str| json!({ "op": op, "agent": "bob", "message": "hi" });

    assert_eq!(street.send(&street.ann, &body("deliver")).await.status, 200);
    let told = street.send(&street.ann, &body("notify")).await.json();
    assert_eq!(told["dispatched"][0]["cause"], "full", "{told}");
    let refused = street.send(&street.ann, &body("deliver")).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("over-quota")));
    assert_eq!(street.waiting(&street.bob).await, 1);
}

#[tokio::test]
async fn a_letter_may_be_as_long_as_it_may_be() {
    let street = street().await;
    let body = |words: String| json!({ "op": "deliver", "agent": "bob", "message": words });

    let longest = street.send(&street.ann, &body("\u{1}".repeat(LETTER_BYTES_MAX))).await;
    assert_eq!(longest.status, 200, "{}", longest.text);
    let longer = street.send(&street.ann, &body("x".repeat(LETTER_BYTES_MAX + 1))).await;
    assert_eq!(longer.status, 400);
    let far = street.send(&street.ann, &body("x".repeat(LETTER_BODY_BYTES_MAX))).await;
    assert_eq!(far.status, 413);
}

#[tokio::test]
async fn who_can_be_written_to_is_told_with_how_it_stands() {
    let street = street().await;
    let _bob = street.up(&street.bob).await;

    let agents = street.look(&street.ann, "/v1/agents").await.json();
    let told: Vec<_> = agents["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|agent| (agent["agent_id"].clone(), agent["status"].clone()))
        .collect();
    assert_eq!(told, [(json!("ann"), json!("asleep")), (json!("bob"), json!("idle"))]);
}

#[tokio::test]
async fn a_page_of_letters_begins_after_its_cursor_also_beside_other_parameters() {
    let street = street().await;
    for number in 1..=3 {
        let letter = json!({"agent": "bob", "message": number.to_string(), "op": "deliver"});
        assert_eq!(street.send(&street.ann, &letter).await.status, 200);
    }
    let ids = |listed: &Value| -> Vec<Value> {
        let letters = listed["letters"].as_array().expect("a list");
        letters.iter().map(|letter| letter["letter_id"].clone()).collect()
    };
    let all = ids(&street.look(&street.ann, "/v1/letters").await.json());

    let cursor = all[0].as_str().expect("an id");
    for query in [
        format!("before={cursor}"),
        format!("before={cursor}&limit=9"),
        format!("limit=9&before={cursor}"),
    ] {
        let page = street.look(&street.ann, &format!("/v1/letters?{query}")).await;
        assert_eq!(ids(&page.json()), all[1..], "{query}: {}", page.text);
    }
}

#[tokio::test]
async fn a_cursor_that_cannot_be_read_is_a_bad_request_and_not_page_one() {
    let street = street().await;

    for query in ["before=", "before=odd", "before=7&limit=1", "limit=1&before=odd"] {
        let refused = street.look(&street.ann, &format!("/v1/letters?{query}")).await;
        let problem = refused.json();
        assert_eq!((refused.status, &problem["code"]), (400, &json!("bad-request")), "{query}");
        assert!(problem["detail"].as_str().is_some_and(|it| it.contains("before")), "{problem}");
    }
    let unknown = get(street.desk.address(), "/v1/letters?before=odd", &[]).await;
    assert_eq!(unknown.status, 401, "the credential is checked first");
}
