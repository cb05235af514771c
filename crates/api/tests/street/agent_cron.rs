//! Jobs of an agent, as stock 0.19.0 arms them, and the operator's schedulers that may report them as due.

use aws_lc_rs::hmac;
use nightdesk_testdesk::{
    Answered, Household, RELAY_SECRET, TestDesk, get, post, upgrade_token_at,
};
use nightdesk_types::limits::{AGENT_JOBS_QUOTA, JOBS_PER_MINUTE};
use nightdesk_types::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::oauth::{access_token, invited};

const CALLBACK: &str = "https://agents.example/ann";
const FAR: &str = "2096-06-18T12:34:56.961760+00:00";

async fn ask(desk: &TestDesk, bearer: &str, what: &str, body: &Value) -> Answered {
    let bearer = format!("Bearer {bearer}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let path = format!("/api/agent-cron/{what}");
    if what == "list" {
        return get(desk.address(), &path, &headers).await;
    }
    post(desk.address(), &path, &headers, body.to_string().as_bytes()).await
}

fn job(id: &str, fire_at: &str) -> Value {
    json!({
        "job_id": id, "fire_at": fire_at, "agent_callback_url": CALLBACK,
        "dedup_key": format!("{id}:{fire_at}"),
    })
}

async fn armed(desk: &TestDesk, bearer: &str) -> Vec<(String, String)> {
    let list = ask(desk, bearer, "list", &Value::Null).await;
    assert_eq!(list.status, 200, "{}", list.text);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let armed = list.json()["armed"].as_array().expect("a list").clone();
    armed.iter().map(|job| (text(&job["job_id"]), text(&job["fire_at"]))).collect()
}

/// A desk, a household and an access token of its agent's machine identity.
async fn street() -> (TestDesk, Household, String) {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw").await;
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    (desk, ann, bearer)
}

#[tokio::test]
async fn a_job_is_armed_listed_byte_for_byte_moved_and_cancelled() {
    let (desk, _, bearer) = street().await;
    let first = ask(&desk, &bearer, "provision", &job("j1", FAR)).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let again = ask(&desk, &bearer, "provision", &job("j1", FAR)).await;
    assert_eq!(first.json()["schedule_id"], again.json()["schedule_id"]);
    assert_eq!(armed(&desk, &bearer).await, [("j1".to_owned(), FAR.to_owned())]);

    let moved = "2097-01-01T00:00:00-05:30";
    ask(&desk, &bearer, "provision", &job("j1", moved)).await;
    assert_eq!(armed(&desk, &bearer).await, [("j1".to_owned(), moved.to_owned())]);

    for outcome in ["cancelled", "unknown"] {
        let answer = ask(&desk, &bearer, "cancel", &json!({ "job_id": "j1" })).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json(), json!({ "ok": true, "outcome": outcome }));
    }
    assert!(armed(&desk, &bearer).await.is_empty());
}

#[tokio::test]
async fn every_proof_of_an_agent_is_the_same_agents() {
    let (desk, ann, machine) = street().await;
    let now = SystemClock::start().now();
    let issuer = desk.desk.stops.issuers.own_issuer();
    let agent = issuer.agent_token(ann.scope, ann.agent, now).await.expect("a token");
    let (_, session) = issuer.begin_session(ann.scope, ann.agent, now).await.expect("a session");
    let gateway = upgrade_token_at(&ann.name, &ann.secret, 60);
    let all = [machine, agent.with(str::to_owned), session.access.with(str::to_owned), gateway];
    for (number, bearer) in all.iter().enumerate() {
        let id = format!("j{number}");
        assert_eq!(ask(&desk, bearer, "provision", &job(&id, FAR)).await.status, 200, "{number}");
    }
    for bearer in &all {
        assert_eq!(armed(&desk, bearer).await.len(), all.len());
    }
}

#[tokio::test]
async fn another_agent_sees_and_cancels_nothing() {
    let (desk, _, anns) = street().await;
    let bob = desk.household("bob", "gw").await;
    let bobs = access_token(&desk, &invited(&desk, &bob).await).await;
    ask(&desk, &anns, "provision", &job("j1", FAR)).await;

    assert!(armed(&desk, &bobs).await.is_empty());
    let cancel = ask(&desk, &bobs, "cancel", &json!({ "job_id": "j1" })).await;
    assert_eq!(cancel.json()["outcome"], "unknown");
    ask(&desk, &bobs, "provision", &job("j1", "2097-01-01T00:00:00Z")).await;
    assert_eq!(armed(&desk, &anns).await, [("j1".to_owned(), FAR.to_owned())]);
}

#[tokio::test]
async fn what_cannot_be_had_is_refused_in_words() {
    let (desk, _, bearer) = street().await;
    let with = |key: &str, value: Value| {
        let mut body = job("j1", FAR);
        body[key] = value;
        body
    };
    for (body, words) in [
        (json!({}), "job_id"),
        (with("job_id", json!("")), "job_id must be"),
        (with("fire_at", json!("soon")), "fire_at must be"),
        (with("agent_callback_url", json!("http://169.254.169.254/")), "cron.chronos.callback_url"),
        (with("overlap", json!("often")), "skip, buffer_one"),
        (with("catch_up_seconds", json!(9_999_999_999_u64)), "catch_up_seconds"),
        (with("jitter_seconds", json!(86_400)), "jitter_seconds"),
    ] {
        let answer = ask(&desk, &bearer, "provision", &body).await;
        assert_eq!(answer.status, 400, "{body}");
        let error = answer.json()["error"].as_str().expect("words").to_owned();
        assert!(error.contains(words), "{body}: {error}");
    }
    assert!(armed(&desk, &bearer).await.is_empty());
}

#[tokio::test]
async fn an_agent_has_so_many_jobs_and_asks_so_often() {
    let (desk, _, bearer) = street().await;
    for number in 0..AGENT_JOBS_QUOTA {
        let answer = ask(&desk, &bearer, "provision", &job(&format!("j{number}"), FAR)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let over = ask(&desk, &bearer, "provision", &job("one-more", FAR)).await;
    assert_eq!(over.status, 403);
    assert!(over.json()["error"].as_str().is_some_and(|words| words.contains("agent-jobs")));
    let moved = ask(&desk, &bearer, "provision", &job("j0", "2097-01-01T00:00:00Z")).await;
    assert_eq!(moved.status, 200, "what is armed can be moved");
    assert_eq!(
        i64::from(JOBS_PER_MINUTE) / AGENT_JOBS_QUOTA,
        3,
        "a client arms all it has at once"
    );
}

async fn relay(desk: &TestDesk, signature: &str, body: &Value) -> Answered {
    let headers = [("nightdesk-signature", signature), ("content-type", "application/json")];
    let body = body.to_string();
    post(desk.address(), "/api/agent-cron/relay", &headers, body.as_bytes()).await
}

fn signed(body: &Value) -> String {
    let seconds = SystemClock::start().now().as_second();
    let key = hmac::Key::new(hmac::HMAC_SHA256, RELAY_SECRET.as_bytes());
    let v1 = hmac::sign(&key, format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", hex::encode(v1))
}

#[tokio::test]
async fn another_scheduler_proves_itself_and_makes_nothing_early() {
    let (desk, ann, bearer) = street().await;
    ask(&desk, &bearer, "provision", &job("j1", FAR)).await;
    let body = |job: &str| json!({ "tenant": ann.scope.tenant().to_string(), "agent_id": ann.agent.to_string(), "job_id": job });

    let not_due = relay(&desk, &signed(&body("j1")), &body("j1")).await;
    assert_eq!(not_due.status, 425);
    assert!(not_due.text.contains("retry-after"), "{}", not_due.text);
    let gone = relay(&desk, &signed(&body("none")), &body("none")).await;
    assert_eq!((gone.status, gone.json()), (200, json!({ "status": "done" })));
    for signature in ["", "t=1,v1=00", &signed(&body("j2"))] {
        assert_eq!(relay(&desk, signature, &body("j1")).await.status, 401, "{signature}");
    }
    let odd = json!({ "job_id": "j1" });
    assert_eq!(relay(&desk, &signed(&odd), &odd).await.status, 400);
}

#[tokio::test]
async fn a_run_that_nobody_began_cannot_end() {
    let (desk, ann, bearer) = street().await;
    let done = |fire: &str| json!({ "fire_id": fire, "ok": true });
    let unknown = ask(&desk, &bearer, "done", &done(&ann.agent.to_string())).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    assert_eq!(ask(&desk, &bearer, "done", &done("x")).await.status, 400);
}
