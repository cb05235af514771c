//! Tests buttons and commands, over the gateway and by post.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use super::*;

/// Sends a bot's message with a button and presses it. Returns the interaction's id and the path of its callback.
async fn pressed(fake: &FakeDiscord) -> (u64, String) {
    let button = json!({ "type": 2, "style": 1, "label": "Yes", "custom_id": "yes" });
    let body =
        json!({ "content": "May I?", "components": [{ "type": 1, "components": [button] }] });
    let message = send(fake, GENERAL, &body).await.1["id"].as_str().unwrap().parse().unwrap();
    let id = fake.press(ANN, GENERAL, message, "yes");
    let token = fake.interactions().last().unwrap().token.clone();
    (id, format!("/interactions/{id}/{token}/callback"))
}

fn webhook(fake: &FakeDiscord) -> String {
    format!("/webhooks/{BOT}/{}", fake.interactions().last().unwrap().token)
}

#[tokio::test]
async fn a_press_is_answered_once_and_then_followed_up() {
    let fake = fake().await;
    let (_, callback) = pressed(&fake).await;
    let early = ask(&fake, Method::POST, &webhook(&fake), &json!({ "content": "early" })).await;
    assert_eq!(early.1["code"], json!(10_015), "there is nothing to follow up yet");

    assert_eq!(ask(&fake, Method::POST, &callback, &json!({ "type": 5 })).await.0, 204);
    let again = ask(&fake, Method::POST, &callback, &json!({ "type": 5 })).await;
    assert_eq!(again.1["code"], json!(40_060));
    let waits = fake.messages(GENERAL).len();
    ask(&fake, Method::POST, &webhook(&fake), &json!({ "content": "yes" })).await;
    assert_eq!(
        fake.messages(GENERAL).len(),
        waits,
        "the first words are those that were waited for"
    );
    ask(&fake, Method::POST, &webhook(&fake), &json!({ "content": "and more" })).await;
    assert_eq!(fake.messages(GENERAL).len(), waits + 1);
    let original = format!("{}/messages/@original", webhook(&fake));
    assert_eq!(get(&fake, &original).await.1["content"], json!("yes"));
}

#[tokio::test]
async fn an_answer_may_come_too_late() {
    let fake = fake().await;
    fake.settings(|settings| settings.interaction_wait = Duration::ZERO);
    let (_, callback) = pressed(&fake).await;
    let late = ask(&fake, Method::POST, &callback, &json!({ "type": 5 })).await;
    assert_eq!((late.0, &late.1["code"]), (404, &json!(10_062)));

    fake.settings(|settings| settings.interaction_wait = Duration::from_secs(3));
    let (id, callback) = pressed(&fake).await;
    ask(&fake, Method::POST, &callback, &json!({ "type": 5 })).await;
    fake.end_interaction(id);
    let late = ask(&fake, Method::POST, &webhook(&fake), &json!({ "content": "late" })).await;
    assert_eq!((late.0, &late.1["code"]), (401, &json!(50_027)));
}

#[tokio::test]
async fn what_is_for_one_alone_is_not_found() {
    let fake = fake().await;
    let (_, callback) = pressed(&fake).await;
    let secret = json!({ "type": 4, "data": { "content": "psst", "flags": 64 } });
    assert_eq!(ask(&fake, Method::POST, &callback, &secret).await.0, 204);

    let (_, page) = get(&fake, &format!("/channels/{GENERAL}/messages")).await;
    assert_eq!(page.as_array().map(Vec::len), Some(1), "the question alone");
    assert_eq!(fake.interactions()[0].said[0]["content"], json!("psst"));
}

/// Starts an endpoint that checks signatures and defers its answers, or one that accepts everything.
async fn endpoint(key: String, checks: bool) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let service = service_fn(|request| judge(&key, checks, request));
            drop(http1::Builder::new().serve_connection(TokioIo::new(socket), service).await);
        }
    });
    (url, server)
}

async fn judge(
    key: &str,
    checks: bool,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let signed = [head.headers["x-signature-timestamp"].as_bytes(), &body].concat();
    let signature = hex::decode(&head.headers["x-signature-ed25519"]).unwrap();
    let key = UnparsedPublicKey::new(&ED25519, hex::decode(key).unwrap());
    let mut response = Response::new(Full::new(Bytes::new()));
    if checks && key.verify(&signed, &signature).is_err() {
        *response.status_mut() = http::StatusCode::UNAUTHORIZED;
        return Ok(response);
    }
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let kind = if asked["type"] == 1 { 1 } else { 5 };
    *response.body_mut() = Full::new(Bytes::from(json!({ "type": kind }).to_string()));
    Ok(response)
}

#[tokio::test]
async fn a_press_is_posted_with_a_signature_to_who_wants_that() {
    let fake = fake().await;
    let (url, _server) = endpoint(fake.public_key(TOKEN), true).await;
    fake.post_interactions(TOKEN, &url).await.unwrap();

    pressed(&fake).await;
    let is_answered = |fake: &FakeDiscord| fake.interactions()[0].answered == Some(5);
    assert!(fake.until(PATIENCE, is_answered).await);
    let words = json!({ "content": "later" });
    let path = format!("{}/messages/@original", webhook(&fake));
    assert_eq!(ask(&fake, Method::PATCH, &path, &words).await.1["content"], json!("later"));
}

#[tokio::test]
async fn an_endpoint_that_checks_no_signature_is_not_taken() {
    let fake = fake().await;
    let (url, _server) = endpoint(fake.public_key(TOKEN), false).await;

    let refused = fake.post_interactions(TOKEN, &url).await;
    assert_eq!(refused, Err("a bad signature was answered Some(200)".to_owned()));
}
