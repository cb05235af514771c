//! Events of an open page.

use std::time::Duration;

use nightdesk_bus::Ring;
use nightdesk_testdesk::Stream;
use nightdesk_types::limits::CHAT_STREAMS_MAX;
use serde_json::{Value, json};

use super::{Scene, answers, does};

async fn line(stream: &mut Stream) -> (String, String) {
    let (id, said) = stream.hear("line").await.expect("a line comes");
    (id, said["item"].as_str().expect("an item").to_owned())
}

#[tokio::test]
async fn lines_come_as_they_are_written_to_every_tab() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    let mut tabs = [browser.listens(0).await.expect("one"), browser.listens(0).await.expect("two")];
    browser.says("n1", "hello").await;
    agent.hear_frame("inbound").await;
    answers(&mut agent, browser.visitor(), "hi *you*").await;

    for tab in &mut tabs {
        let (id, item) = line(tab).await;
        assert!(
            id == "1" && item.contains("data-nonce=\"n1\"") && item.contains("hello"),
            "{item}"
        );
        let (id, item) = line(tab).await;
        assert!(id == "2" && item.contains("hi <em>you</em>"), "{item}");
    }
}

#[tokio::test]
async fn a_lost_stream_goes_on_where_it_stood() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    for number in 1..=4 {
        browser.says(&format!("n{number}"), &format!("text {number}")).await;
    }
    let mut resumed = browser.resumes("2").await.expect("open");

    assert_eq!(line(&mut resumed).await.0, "3");
    assert_eq!(line(&mut resumed).await.0, "4");
    let nothing = resumed.hear_within("line", Duration::from_millis(200)).await;
    assert_eq!(nothing, None);
    let mut shown = browser.listens(3).await.expect("open");
    assert_eq!(line(&mut shown).await.0, "4", "what the page shows is not told again");
    let mut ahead = browser.resumes("99").await.expect("open");
    browser.says("n5", "text 5").await;
    assert_eq!(line(&mut ahead).await.0, "5", "a chat that was forgotten counts anew");
}

#[tokio::test]
async fn an_edit_comes_as_the_same_line_again() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    browser.says("n1", "hello").await;
    agent.hear_frame("inbound").await;
    let message = answers(&mut agent, browser.visitor(), "rough").await;
    let mut stream = browser.listens(2).await.expect("open");
    let chat = browser.visitor();
    let edit = json!({"op": "edit", "chat_id": chat, "message_id": message, "content": "first"});
    does(&mut agent, "r1", &edit).await;

    let (id, item) = line(&mut stream).await;
    assert_eq!(id, "3");
    assert!(item.contains(&format!("data-message=\"{message}\"")) && item.contains("first"));
}

#[tokio::test]
async fn a_status_comes_and_goes_and_is_no_line() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut agent = scene.agent().await;
    browser.says("n1", "hello").await;
    let entry = agent.hear_frame("inbound").await;
    // Until the agent acks, only a limited number of entries is handed over.
    agent.ack(&entry["bufferId"]).await;
    let mut stream = browser.listens(1).await.expect("open");
    let mut status = async || stream.hear("status").await.expect("a status").1;
    assert_eq!(status().await["text"], Value::Null);

    let typing =
        |content: Value| json!({"op": "typing", "chat_id": browser.visitor(), "content": content});
    does(&mut agent, "r1", &typing(json!("waking…"))).await;
    assert_eq!(status().await, json!({"text": "waking…", "left_ms": null}), "it stays");
    let page = browser.load().await.text;
    assert!(page.contains("waking…"), "who comes meanwhile sees it");
    // One status a second goes through.
    let shown = loop {
        does(&mut agent, "r2", &typing(Value::Null)).await;
        if let Some((_, shown)) = stream.hear_within("status", Duration::from_millis(100)).await {
            break shown;
        }
    };
    assert_eq!(shown["text"], "typing…");
    assert!(shown["left_ms"].as_u64().is_some_and(|left| left <= 10_000), "{shown}");
    answers(&mut agent, browser.visitor(), "hi").await;
    let ended = stream.hear("status").await.expect("a status").1;
    assert_eq!(ended["text"], Value::Null, "the answer ends it");
}

#[tokio::test]
async fn nobody_hears_another_visitors_chat() {
    let scene = Scene::open().await;
    let (one, other) = (scene.browser().await, scene.browser().await);
    let mut stream = other.listens(0).await.expect("open");
    one.says("n1", "secret").await;

    assert_eq!(stream.hear_within("line", Duration::from_millis(300)).await, None);
    let mut stranger = one.clone();
    stranger.cookie = "nightdesk_chat=forged".to_owned();
    assert_eq!(stranger.listens(0).await.err(), Some(403));
}

#[tokio::test]
async fn a_visitor_has_so_many_streams_and_another_when_one_ends() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut open = Vec::new();
    for _ in 0..CHAT_STREAMS_MAX {
        open.push(browser.listens(0).await.expect("there is room"));
    }
    assert_eq!(browser.listens(0).await.err(), Some(429));
    assert!(scene.browser().await.listens(0).await.is_ok(), "another visitor has their own");

    open.pop();
    let bot = scene.desk.register.bot_at(&scene.path).await.expect("found").expect("there").0.id;
    let mut again = browser.listens(0).await;
    for number in 0..100 {
        if again.is_ok() {
            break;
        }
        // A stream notices that its browser is gone at its next event.
        scene
            .desk
            .desk
            .stops
            .bell
            .ring(Ring::Chat { bot, chat: browser.visitor().to_owned() })
            .await;
        browser.says(&format!("n{number}"), "anybody?").await;
        again = browser.listens(0).await;
    }
    assert!(again.is_ok(), "the place of the one that ended is free");
}

#[tokio::test]
async fn a_desk_that_stops_ends_its_streams() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    let mut stream = browser.listens(0).await.expect("open");
    assert!(stream.hear("status").await.is_some());
    drop(scene);

    assert_eq!(stream.hear("line").await, None);
}

#[tokio::test]
async fn a_stream_begins_after_its_cursor_also_beside_other_parameters() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;
    for number in 1..=2 {
        browser.says(&format!("n{number}"), &format!("text {number}")).await;
    }

    for query in ["?after=1&tab=2", "?tab=2&after=1"] {
        let mut stream = browser.listens_with(query, &[]).await.expect("open");
        assert_eq!(line(&mut stream).await.0, "2", "{query}");
    }
}

#[tokio::test]
async fn a_stream_whose_cursor_cannot_be_read_is_a_bad_request() {
    let scene = Scene::open().await;
    let browser = scene.browser().await;

    for query in ["?after=", "?after=odd", "?tab=2&after=odd"] {
        assert_eq!(browser.listens_with(query, &[]).await.err(), Some(400), "{query}");
    }
}
