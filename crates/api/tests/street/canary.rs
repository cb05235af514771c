//! Tokens, secrets and texts never get into a log.

use nightdesk_testdesk::{Browser, PageAccess, TestDesk, TestGateway};
use nightdesk_testkit::logs::Log;
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::enrol::enroll;
use crate::oauth::{access_token, ask, invited};

#[tokio::test]
async fn no_token_secret_or_text_is_logged() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        // The most detailed level that the binary offers.
        .with_env_filter(EnvFilter::new("trace,tungstenite=info,tokio_tungstenite=info,hyper=info"))
        .with_writer(move || writer.clone())
        .init();
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let secret = ann.secret.with(str::to_owned);
    let refused = TestGateway::dial_with(desk.address(), "canary-token").await;
    assert_eq!(refused.err(), Some(401));
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    desk.says(&ann, "ann", "canary-text").await;
    let entry = gateway.hear_frame("inbound").await;
    gateway.ack(&entry["bufferId"]).await;
    let action = json!({"op": "send", "chat_id": "c1", "content": "canary-answer"});
    gateway.say(&json!({"type": "outbound", "requestId": "r", "action": action})).await;
    gateway.hear_frame("outbound_result").await;
    let lent = json!({ "kind": "discord.interaction_token", "value": "canary-capability" });
    let source = json!({ "chat_id": "c1", "user_id": "ann" });
    let event = json!({ "id": "lent", "event": { "source": source }, "capability": lent });
    assert_eq!(desk.hook(&ann, &event).await, 200);
    let action = json!({"op": "follow_up", "session_key": "agent:main:discord:dm:c1",
        "kind": "discord.interaction_token", "content": "canary-answer"});
    gateway.hear_frame("inbound").await;
    gateway.say(&json!({"type": "outbound", "requestId": "f", "action": action})).await;
    gateway.hear_frame("outbound_result").await;
    let invited = invited(&desk, &ann).await;
    let access = access_token(&desk, &invited).await;
    let token = invited.token.with(str::to_owned);
    let enrolled = enroll(&desk, &access, &invited.token, "gw-2").await.json();
    assert_eq!(enroll(&desk, "canary-bearer", &invited.token, "gw-3").await.status, 401);
    assert_eq!(ask(&desk, "canary-client", "canary-client-secret").await.status, 401);
    let (_, path) = desk.page(&ann, PageAccess::Anyone).await;
    let browser = Browser::open(desk.address(), &path).await;
    desk.chats_are_down(true);
    assert_eq!(browser.says("n1", "canary-visitor").await.0, 503);
    desk.chats_are_down(false);
    assert_eq!(browser.says("n1", "canary-visitor").await.0, 200);
    let cookie = browser.cookie.rsplit('.').next().unwrap_or_default();
    tracing::info!("the log is read");

    let log = log.text();
    assert!(log.contains("the log is read"), "the log is kept");
    assert!(log.contains("enrolled gateway gw-2"), "what happened is told");
    let client_secret = invited.client_secret.with(str::to_owned);
    let new_secret = enrolled["secret"].as_str().expect("a secret");
    let delivery_key = enrolled["deliveryKey"].as_str().expect("a key");
    let canaries =
        ["canary-token", "canary-text", "canary-answer", "canary-bearer", "canary-capability"];
    let secrets = [&secret, &access, &token, &client_secret].map(String::as_str);
    let more = ["canary-client-secret", new_secret, delivery_key, "canary-visitor", cookie];
    for canary in canaries.into_iter().chain(secrets).chain(more) {
        let line = log.lines().find(|line| line.contains(canary));
        assert_eq!(line, None, "{canary}");
    }
}
