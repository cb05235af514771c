//! Rate limits of visitors.

use nightdesk_testdesk::get;
use nightdesk_types::limits::{
    CHAT_BODY_BYTES_MAX, CHAT_MESSAGES_AT_ONCE, CHAT_SESSIONS_PER_MINUTE,
};
use serde_json::json;

use super::Scene;

#[tokio::test]
async fn a_visitor_who_writes_too_fast_is_asked_to_wait() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    for number in 0..CHAT_MESSAGES_AT_ONCE {
        assert_eq!(browser.says(&format!("n{number}"), "hi").await.0, 200, "{number}");
    }

    let refused = browser.posts(&json!({"nonce": "more", "text": "hi"})).await;
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").and_then(|wait| wait.parse().ok()).unwrap_or(0);
    assert!((1..=3).contains(&wait), "{wait}");
    assert!(refused.text.contains("Please wait"), "{}", refused.text);
    assert_eq!(scene.entries().await, i64::from(CHAT_MESSAGES_AT_ONCE));
    assert_eq!(scene.browser().await.says("n", "hi").await.0, 200, "another is not held up");
}

#[tokio::test]
async fn an_address_brings_so_many_new_visitors() {
    let scene = Scene::open().await;
    let known = scene.browser().await;
    let path = format!("/chat/{}", scene.path);
    let from = |address| [("x-forwarded-for", address)];
    for _ in 0..CHAT_SESSIONS_PER_MINUTE {
        get(scene.desk.address(), &path, &from("192.0.2.7")).await;
    }

    let refused = get(scene.desk.address(), &path, &from("192.0.2.7")).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some() && refused.header("set-cookie").is_none());
    assert_eq!(get(scene.desk.address(), &path, &from("192.0.2.8")).await.status, 200);
    assert_eq!(known.load().await.status, 200, "who is known comes from wherever they like");
}

#[tokio::test]
async fn a_body_has_a_bound() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let headers = [("cookie", browser.cookie.as_str()), ("content-type", "application/json")];
    let over = browser.posts_with(&headers, &vec![b' '; CHAT_BODY_BYTES_MAX + 1]).await;

    assert_eq!(over.status, 413);
    let longest = "\\ud83e\\udd89".repeat(8_000);
    let body = format!(r#"{{"nonce":"n","text":"{longest}"}}"#);
    assert_eq!(browser.posts_with(&headers, body.as_bytes()).await.status, 200);
}
