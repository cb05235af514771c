//! Responses to webhooks of a platform.

use nightdesk_register::BotDraft;
use nightdesk_testdesk::{Household, TestDesk, get, post};
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use nightdesk_types::limits::WEBHOOK_BYTES_MAX;
use nightdesk_vault::Key;
use serde_json::json;

/// A bot with a key of its own.
struct KeyedBot {
    key: String,
    path: String,
}

async fn keyed_bot(desk: &TestDesk, owner: &Household, number: usize) -> KeyedBot {
    let key = format!("key {number}");
    let draft = BotDraft {
        platform: "discord".to_owned(),
        adapter: "scripted".to_owned(),
        handle: format!("keyed-{number}"),
        settings: json!({}),
        key: Some(Key::new(key.clone())),
    };
    let (_, path) = desk.bot(owner, draft, "ann").await;
    KeyedBot { key, path }
}

#[tokio::test]
async fn a_request_nobody_signed_is_refused() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let path = format!("/hooks/{}", ann.path);

    assert_eq!(post(desk.address(), &path, &[], b"{}").await.status, 401);
    let signed = [("x-scripted-signature", "00")];
    assert_eq!(post(desk.address(), &path, &signed, b"{}").await.status, 401);
}

// T08: the path selects the key.
#[tokio::test]
async fn a_signature_is_valid_on_the_path_of_its_own_bot_alone() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut bots = Vec::new();
    for number in 0..5 {
        bots.push(keyed_bot(&desk, &ann, number).await);
    }

    for signer in &bots {
        for receiver in &bots {
            let source = json!({ "chat_id": "c1", "user_id": "ann" });
            let body = json!({ "id": signer.key, "event": { "source": source } }).to_string();
            let signature = sign(&signer.key, body.as_bytes());
            let path = format!("/hooks/{}", receiver.path);
            let headers = [(SIGNATURE_HEADER, &*signature)];
            let status = post(desk.address(), &path, &headers, body.as_bytes()).await.status;
            let want = if signer.path == receiver.path { 200 } else { 401 };
            assert_eq!(status, want, "{} on the path of {}", signer.key, receiver.key);
        }
    }
}

// T11: a challenge is answered only after its signature.
#[tokio::test]
async fn a_get_is_a_request_of_the_platform_and_needs_its_signature() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;

    let challenge = format!("/hooks/{}?hub.challenge=1", ann.path);
    let asked = get(desk.address(), &challenge, &[]).await;
    assert_eq!(asked.status, 401);
    assert!(asked.text.ends_with("\r\n\r\n"), "it has no body: {}", asked.text);
}

#[tokio::test]
async fn a_path_of_no_bot_is_not_there() {
    let desk = TestDesk::open().await;

    assert_eq!(post(desk.address(), "/hooks/nobody", &[], b"{}").await.status, 404);
}

#[tokio::test]
async fn a_body_may_be_as_long_as_the_limit_and_no_longer() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let path = format!("/hooks/{}", ann.path);
    let body = |bytes| vec![b'x'; bytes];

    let fits = post(desk.address(), &path, &[], &body(WEBHOOK_BYTES_MAX)).await;
    assert_eq!(fits.status, 401, "it was read, and its signature found missing");
    let over = post(desk.address(), &path, &[], &body(WEBHOOK_BYTES_MAX + 1)).await;
    assert_eq!(over.status, 413);
}

#[tokio::test]
async fn a_compressed_body_is_not_what_was_signed() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let path = format!("/hooks/{}", ann.path);

    let gzip = [("content-encoding", "gzip")];
    assert_eq!(post(desk.address(), &path, &gzip, b"x").await.status, 415);
}

#[tokio::test]
async fn a_stranger_is_told_ok_and_reaches_nobody() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;

    assert_eq!(desk.says(&ann, "stranger", "k1").await, 200);
    let heads =
        desk.desk.stops.inbox.store().read_heads(&[(ann.scope, ann.agent)]).await.expect("heads");
    assert_eq!(heads[0].get(), 0, "no number was taken");
}
