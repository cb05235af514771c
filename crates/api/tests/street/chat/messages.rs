//! Messages of visitors.

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::PageAccess;
use serde_json::json;

use super::{Scene, answers, does};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[tokio::test]
async fn a_repeat_is_one_entry_and_one_line() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    for _ in 0..3 {
        assert_eq!(browser.says("n1", "only once").await.0, 200);
    }

    assert_eq!(scene.entries().await, 1);
    assert_eq!(browser.load().await.text.matches("only once").count(), 1);
}

#[tokio::test]
async fn a_line_that_could_not_be_written_is_written_by_the_repeat() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    scene.desk.chats_are_down(true);
    let (status, told) = browser.says("n1", "at last").await;
    assert_eq!((status, told["result"].as_str()), (503, Some("try_again")));
    scene.desk.chats_are_down(false);

    assert_eq!(browser.says("n1", "at last").await.0, 200);
    assert_eq!(scene.entries().await, 1, "the inbox had it already");
    assert!(browser.load().await.text.contains("at last"));
}

#[tokio::test]
async fn who_is_not_linked_is_told_so_and_nothing_is_kept() {
    let scene = Scene::with(PageAccess::Linked).await;
    let browser = scene.browser().await;
    let (status, told) = browser.says("n1", "canary").await;

    assert_eq!((status, told["result"].as_str()), (403, Some("linked_only")));
    assert_eq!(told["notice"]["code"], browser.visitor());
    assert_eq!(scene.entries().await, 0);
    let page = browser.load().await.text;
    assert!(!page.contains("canary"), "no line was written");
}

#[tokio::test]
async fn who_is_linked_by_their_code_is_let_in() {
    let scene = Scene::with(PageAccess::Linked).await;
    let browser = scene.browser().await;
    let bot = scene.desk.register.bot_at(&scene.path).await.expect("found").expect("there").0.id;
    let (scope, agent) = (scene.ann.scope, scene.ann.agent);
    let bound =
        scene.desk.register.store().bind(AgentOnBot { scope, agent, bot }, browser.visitor()).await;
    bound.expect("bind the visitor");

    assert_eq!(browser.says("n1", "it is me").await.0, 200);
    assert_eq!(scene.entries().await, 1);
    assert_eq!(scene.browser().await.says("n1", "it is not").await.0, 403);
}

#[tokio::test]
async fn without_a_script_the_form_does_the_same() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let headers = [("cookie", browser.cookie.as_str()), FORM, ("sec-fetch-site", "same-origin")];
    let sent = browser.posts_with(&headers, b"nonce=n1&text=by+form%0D%0Atwo+lines").await;

    assert_eq!(sent.status, 303);
    assert_eq!(sent.header("location"), Some(format!("/chat/{}", scene.path).as_str()));
    assert!(browser.load().await.text.contains("by form<br>two lines"));
    assert_eq!(scene.entries().await, 1);
    let empty = browser.posts_with(&headers, b"nonce=n2&text=++").await;
    assert_eq!(empty.status, 400);
    assert!(empty.text.contains("Write something first."), "the page says why");
}

#[tokio::test]
async fn without_a_script_a_refusal_keeps_what_was_written() {
    let scene = Scene::with(PageAccess::Linked).await;
    let browser = scene.browser().await;
    let headers = [("cookie", browser.cookie.as_str()), FORM];
    let refused = browser.posts_with(&headers, b"nonce=n1&text=dear+owl").await;

    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("linked people") && refused.text.contains(browser.visitor()));
    assert!(refused.text.contains(">dear owl</textarea>"));
}

#[tokio::test]
async fn a_visitor_without_a_cookie_gets_one_with_the_answer() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let json = [("content-type", "application/json")];
    let sent = browser.posts_with(&json, br#"{"nonce":"n1","text":"hi"}"#).await;

    assert_eq!(sent.status, 200);
    assert!(sent.header("set-cookie").is_some());
    assert!(sent.text.contains(r#""fresh":true"#), "the page shows another chat");
    assert!(!browser.load().await.text.contains("hi</p>"), "it is somebody else's");
}

#[tokio::test]
async fn a_post_of_another_site_is_refused() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let cookie = ("cookie", browser.cookie.as_str());
    for from in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.test")] {
        let refused = browser.posts_with(&[cookie, FORM, from], b"nonce=n1&text=forged").await;
        assert_eq!(refused.status, 403, "{from:?}");
    }

    assert_eq!(scene.entries().await, 0);
}

#[tokio::test]
async fn what_is_not_a_message_is_told_so_and_kept_nowhere() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let cases = [
        ("no nonce", json!({"text": "canary"}), 400),
        ("an odd nonce", json!({"nonce": "a b", "text": "canary"}), 400),
        ("empty", json!({"nonce": "n", "text": " "}), 400),
        ("too long", json!({"nonce": "n", "text": "x".repeat(8_001)}), 413),
        ("a forged button", json!({"nonce": "n", "press": "e30.00"}), 400),
        ("not an object", json!("canary"), 400),
    ];
    for (name, body, status) in cases {
        assert_eq!(browser.posts(&body).await.status, status, "{name}");
    }

    let bot = scene.desk.register.bot_at(&scene.path).await.expect("found").expect("there").0.id;
    assert_eq!(scene.desk.store.quarantined(scene.ann.scope, bot).len(), 0);
    assert_eq!(browser.says("n", &"x".repeat(8_000)).await.0, 200, "the longest fits");
}

#[tokio::test]
async fn a_button_says_what_it_was_offered_for() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    browser.says("n1", "shall I?").await;
    agent.hear_frame("inbound").await;
    let prompt = json!({
        "op": "prompt", "chat_id": browser.visitor(), "content": "Really?", "prompt_kind": "choice",
        "prompt_id": "p1", "options": [{"id": "yes", "label": "Yes, do"}, {"id": "no", "label": "No"}],
    });
    assert_eq!(does(&mut agent, "r1", &prompt).await["success"], true);
    let page = browser.load().await.text;
    let values: Vec<&str> = page.split("name=\"press\" value=\"").skip(1).collect();
    assert_eq!(values.len(), 2, "two buttons");

    let value = values[0].split('"').next().expect("a value");
    assert_eq!(browser.posts(&json!({"nonce": "n2", "press": value})).await.status, 200);
    let pressed = agent.hear_frame("inbound").await;
    assert_eq!(pressed["event"]["text"], "Yes, do");
    assert_eq!(pressed["event"]["prompt_response"]["prompt_id"], "p1");
    assert_eq!(pressed["event"]["prompt_response"]["option_id"], "yes");
    let other = scene.browser().await;
    let stolen = other.posts(&json!({"nonce": "n2", "press": value})).await;
    assert_eq!(stolen.status, 400, "another visitor was not asked");
}

#[tokio::test]
async fn an_agent_changes_its_own_lines_and_no_others() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    browser.says("n1", "mine").await;
    agent.hear_frame("inbound").await;
    let chat = browser.visitor();
    let message = answers(&mut agent, chat, "rough").await;
    let edit = |message: &str| json!({"op": "edit", "chat_id": chat, "message_id": message, "content": "first"});

    assert_eq!(does(&mut agent, "r1", &edit(&message)).await["success"], true);
    let page = browser.load().await.text;
    assert!(page.contains("<p>first</p>") && page.contains("edited"), "{page}");
    assert_eq!(does(&mut agent, "r2", &edit("1")).await["success"], false, "the visitor's");
    let delete = json!({"op": "delete", "chat_id": chat, "message_id": message});
    assert_eq!(does(&mut agent, "r3", &delete).await["success"], true);
    assert!(browser.load().await.text.contains("This message was deleted."));
}
