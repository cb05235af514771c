//! The sessions of an agent that a letter can address.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Street, street};

/// Waits until an agent is listed with these live sessions.
async fn wait_for_sessions(street: &Street, agent: &str, sessions: &Value) {
    let listed = async || {
        let agents = street.look(&street.ann, "/v1/agents").await.json();
        let agents = agents["agents"].as_array().cloned().unwrap_or_default();
        let found = agents.into_iter().find(|listed| listed["agent_id"] == agent);
        found.map(|found| found["sessions"].clone())
    };
    let is_listed = async {
        while listed().await.as_ref() != Some(sessions) {
            tokio::task::yield_now().await;
        }
    };
    let waited = timeout(Duration::from_secs(10), is_listed).await;
    assert!(waited.is_ok(), "{agent} is not listed with {sessions}");
}

#[tokio::test]
async fn a_session_that_the_agent_names_is_woken_and_ends_with_its_line() {
    let street = street().await;
    let mut bob = street.up(&street.bob).await;
    bob.say(&json!({ "type": "sessions", "sessions": ["kitchen", "cellar"] })).await;
    wait_for_sessions(&street, "bob", &json!(["cellar", "kitchen"])).await;
    let body = json!({ "agent": "bob@kitchen", "message": "up" });
    let way = street.send(&street.ann, &body).await.json()["dispatched"][0].clone();

    let receipt = json!({ "woken": true, "session_id": "kitchen" });
    let told = json!({ "woken": way["woken"]["woken"], "session_id": way["woken"]["session_id"] });
    assert_eq!(told, receipt, "{way}");
    assert_eq!(bob.hear_frame("inbound").await["event"]["letter"]["session_id"], "kitchen");
    let body = json!({ "op": "deliver", "agent": "bob@cellar", "message": "x" });
    let way = street.send(&street.ann, &body).await.json()["dispatched"][0].clone();
    assert_eq!(way["delivered"]["session_id"], "cellar", "{way}");
    let body = json!({ "agent": "bob@attic", "message": "up" });
    let way = street.send(&street.ann, &body).await.json()["dispatched"][0].clone();
    assert_eq!(way["woken"]["woken"], false, "{way}");
    let warning = way["woken"]["warnings"][0].as_str().expect("a warning").to_owned();
    assert!(warning.contains("gw-bob, cellar, kitchen"), "{warning}");

    let _next = street.up(&street.bob).await;
    wait_for_sessions(&street, "bob", &Value::Null).await;
}

#[tokio::test]
async fn a_session_that_is_not_up_is_not_said_to_be_woken() {
    let street = street().await;
    let _bob = street.up(&street.bob).await;
    let body =
        json!({ "op": "wake", "agent": "bob@gw-bob", "session_id": "cellar", "message": "x" });
    let woken = street.send(&street.ann, &body).await.json()["dispatched"][0]["woken"].clone();

    assert_eq!(
        (woken["woken"].clone(), woken["session_id"].clone()),
        (json!(false), json!("cellar"))
    );
    assert!(woken["warnings"][0].as_str().expect("a warning").contains("gw-bob"));
}
