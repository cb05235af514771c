//! The page itself.

use nightdesk_testdesk::{PageAccess, get, post};

use super::{Scene, answers};

#[tokio::test]
async fn a_visitor_writes_and_reads_the_answer() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    let (status, told) = browser.says("n1", "hello <b>you</b>").await;
    assert_eq!((status, told["result"].as_str()), (200, Some("sent")));

    let entry = agent.hear_frame("inbound").await;
    let event = &entry["event"];
    assert_eq!(event["text"], "hello <b>you</b>");
    assert_eq!(event["source"]["platform"], "webchat");
    assert_eq!(event["source"]["chat_type"], "dm");
    assert_eq!(event["source"]["chat_id"], browser.visitor());
    assert_eq!(event["source"]["user_id"], browser.visitor());
    assert_eq!(event["message_id"], "n1");
    answers(&mut agent, browser.visitor(), "hi *there*").await;
    let page = browser.load().await.text;
    let question = page.find("hello &lt;b&gt;you&lt;/b&gt;").expect("the question, as text");
    let answer = page.find("hi <em>there</em>").expect("the answer, marked up");
    assert!(question < answer);
}

#[tokio::test]
async fn an_address_that_leads_nowhere_says_no_more() {
    let scene = Scene::open().await;
    let nobody = get(scene.desk.address(), "/chat/nobody", &[]).await;
    let hooked = get(scene.desk.address(), &format!("/chat/{}", scene.ann.path), &[]).await;

    assert_eq!((nobody.status, hooked.status), (404, 404));
    let body = |text: &str| text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    assert_eq!(body(&nobody.text), body(&hooked.text));
    for part in ["messages", "events"] {
        let path = format!("/chat/{}/{part}", scene.ann.path);
        let asked = if part == "events" {
            get(scene.desk.address(), &path, &[]).await
        } else {
            post(scene.desk.address(), &path, &[], b"{}").await
        };
        assert_eq!(asked.status, 404, "{part}");
    }
}

#[tokio::test]
async fn a_bot_with_a_page_has_no_webhook() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let path = format!("/hooks/{}", scene.path);
    let headers = [("cookie", browser.cookie.as_str()), ("content-type", "application/json")];

    let answered =
        post(scene.desk.address(), &path, &headers, br#"{"nonce":"n","text":"hi"}"#).await;
    assert_eq!(answered.status, 404);
    assert_eq!(scene.entries().await, 0);
}

#[tokio::test]
async fn a_page_loads_nothing_from_elsewhere_and_is_kept_nowhere() {
    let scene = Scene::open().await;
    let page = get(scene.desk.address(), &format!("/chat/{}", scene.path), &[]).await;

    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.contains(&format!("; Path=/chat/{};", scene.path)), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
}

#[tokio::test]
async fn assets_are_kept_under_names_that_change_with_them() {
    let scene = Scene::open().await;
    let page = get(scene.desk.address(), &format!("/chat/{}", scene.path), &[]).await.text;
    let assets: Vec<&str> =
        page.split('"').filter(|text| text.starts_with("/chat-assets/")).collect();

    assert_eq!(assets.len(), 3, "style, script and icon: {assets:?}");
    for asset in assets {
        let answered = get(scene.desk.address(), asset, &[]).await;
        assert_eq!(answered.status, 200, "{asset}");
        assert!(answered.header("cache-control").is_some_and(|kept| kept.contains("immutable")));
    }
    let unknown = get(scene.desk.address(), "/chat-assets/chat.0000.js", &[]).await;
    assert_eq!((unknown.status, unknown.header("cache-control")), (404, Some("no-store")));
}

#[tokio::test]
async fn a_cookie_that_is_not_ours_gets_a_new_visitor_and_no_error() {
    let scene = Scene::open().await;
    let (_, other_path) = {
        let bob = scene.desk.household("bob", "gw-2").await;
        scene.desk.page(&bob, PageAccess::Anyone).await
    };
    let mut browser = scene.browser().await;
    browser.says("n1", "mine alone").await;
    assert!(browser.load().await.text.contains("mine alone"));
    assert!(browser.load().await.header("set-cookie").is_none(), "who is known is told nothing");

    let own = browser.cookie.clone();
    let (first, last) = (&own[..own.len() - 1], own.chars().last());
    let flipped = if last == Some('0') { '1' } else { '0' };
    browser.cookie = format!("{first}{flipped}");
    let page = browser.load().await;
    assert_eq!(page.status, 200);
    assert!(page.header("set-cookie").is_some() && !page.text.contains("mine alone"));
    let other = format!("/chat/{other_path}");
    let elsewhere = get(scene.desk.address(), &other, &[("cookie", own.as_str())]).await;
    assert_eq!(elsewhere.status, 200);
    assert!(elsewhere.header("set-cookie").is_some(), "another bot's visitor is new here");
}
