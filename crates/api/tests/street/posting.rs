//! Agents that the desk calls with each entry.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nightdesk_line::{PostAnswer, PostOutcome};
use nightdesk_testdesk::{Answered, Household, TestDesk, TestPlatform, post, upgrade_token_at};
use serde_json::{Value, json};

/// A household whose agent has a webhook.
async fn with_webhook() -> (TestDesk, TestPlatform, Household) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    desk.is_posted_at(&ann, "https://agents.example/ann").await;
    (desk, platform, ann)
}

fn answer(text: &str) -> PostOutcome {
    PostOutcome::Handled(PostAnswer { text: Some(text.to_owned()), ..PostAnswer::default() })
}

/// Calls a route of the line with the agent's own token, and without naming a line.
async fn calls_line(desk: &TestDesk, agent: &Household, route: &str, body: &Value) -> Answered {
    let token = upgrade_token_at(&agent.name, &agent.secret, 300);
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let path = format!("/v1/line/{route}");
    post(desk.address(), &path, &headers, body.to_string().as_bytes()).await
}

async fn sends(desk: &TestDesk, agent: &Household, request_id: &str) -> Answered {
    let action = json!({ "op": "send", "chat_id": "c1", "content": request_id });
    let send = json!({ "request_id": request_id, "action": action });
    calls_line(desk, agent, "send", &send).await
}

/// Waits until a condition holds.
async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(10);
    while !holds().await {
        assert!(Instant::now() < give_up, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The texts that the platform got.
fn said(platform: &TestPlatform) -> Vec<Value> {
    let calls = platform.calls().into_iter();
    calls.filter(|call| call["op"] == "send").map(|call| call["content"].clone()).collect()
}

#[tokio::test]
async fn a_sleeping_agent_gets_a_post_and_its_answer_is_sent() {
    let (desk, platform, ann) = with_webhook().await;
    desk.posts.answer(|post| {
        let frame: Value = serde_json::from_str(&post.body).expect("a frame is JSON");
        assert_eq!(frame["bufferId"], post.id.as_str());
        answer(&format!("you said {}", frame["event"]["text"].as_str().expect("a text")))
    });

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    wait_until("the entry is acknowledged", async || desk.acked(&ann).await == 1).await;
    assert_eq!(said(&platform), ["you said k1"]);
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    wait_until("the line is still open", async || desk.acked(&ann).await == 2).await;
    assert_eq!(desk.posts.ids().len(), 2);
}

#[tokio::test]
async fn one_chat_gets_one_post_at_a_time_and_two_chats_get_two() {
    let (desk, _platform, ann) = with_webhook().await;
    desk.posts.answer(|_| PostOutcome::Later);

    for (chat, key) in [("c1", "k1"), ("c1", "k2"), ("c2", "k3")] {
        assert_eq!(desk.says_in(chat, &ann, "ann", key).await, 200);
    }
    wait_until("two chats were posted", async || desk.posts.ids().len() == 2).await;
    let first = desk.posts.ids()[0].clone();
    let acked = calls_line(&desk, &ann, "ack", &json!({ "buffer_ids": [first] })).await;
    assert_eq!(acked.status, 204);
    wait_until("the second entry of the chat follows", async || desk.posts.ids().len() == 3).await;
    assert_eq!(desk.acked(&ann).await, 1);
}

#[tokio::test]
async fn an_entry_that_fails_three_times_is_parked() {
    let (desk, _platform, ann) = with_webhook().await;
    let posts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&posts);
    desk.posts.answer(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        PostOutcome::Failed("answered with status 500".to_owned())
    });

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    for tries in 1..=3 {
        wait_until("the entry is posted", async || posts.load(Ordering::Relaxed) == tries).await;
        wait_until("the line ends", async || desk.ears.find_line(ann.agent).is_none()).await;
        desk.wakes_after(Duration::from_mins(2)).await;
    }
    desk.posts.answer(|_| answer(""));
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    desk.wakes_after(Duration::from_mins(2)).await;
    wait_until("the next entry passes", async || desk.acked(&ann).await == 2).await;
    assert_eq!(posts.load(Ordering::Relaxed), 3, "the first one was parked");
}

#[tokio::test]
async fn an_unreachable_agent_costs_no_try() {
    let (desk, _platform, ann) = with_webhook().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    for posts in 1..=5 {
        wait_until("the entry is posted", async || desk.posts.ids().len() == posts).await;
        wait_until("the line ends", async || desk.ears.find_line(ann.agent).is_none()).await;
        if posts == 5 {
            desk.posts.answer(|_| answer("here"));
        }
        desk.wakes_after(Duration::from_mins(2)).await;
    }
    wait_until("the entry passes", async || desk.acked(&ann).await == 1).await;
}

#[tokio::test]
async fn an_agent_that_answers_later_sends_and_then_acknowledges() {
    let (desk, platform, ann) = with_webhook().await;
    desk.posts.answer(|_| PostOutcome::Later);
    assert_eq!(desk.says_in("c1", &ann, "ann", "k1").await, 200);
    wait_until("the entry is posted", async || desk.posts.ids().len() == 1).await;

    let sent = sends(&desk, &ann, "r1").await;
    assert_eq!((sent.status, &sent.json()["success"]), (200, &json!(true)), "{}", sent.text);
    assert_eq!(desk.acked(&ann).await, 0, "a send acknowledges nothing");
    assert_eq!(sends(&desk, &ann, "r1").await.status, 200, "a repeat gets the result");
    let ids = json!({ "buffer_ids": desk.posts.ids() });
    assert_eq!(calls_line(&desk, &ann, "ack", &ids).await.status, 204);
    wait_until("the entry is acknowledged", async || desk.acked(&ann).await == 1).await;
    assert_eq!(said(&platform), ["r1"]);
}

#[tokio::test]
async fn an_agent_without_a_line_sends_and_its_line_opens() {
    let (desk, platform, ann) = with_webhook().await;
    desk.posts.answer(|_| PostOutcome::Failed("answered with status 500".to_owned()));
    assert_eq!(desk.says_in("c1", &ann, "ann", "k1").await, 200);
    wait_until("the entry is posted", async || desk.posts.ids().len() == 1).await;
    wait_until("the line ends", async || desk.ears.find_line(ann.agent).is_none()).await;

    desk.posts.answer(|_| PostOutcome::Later);
    let sent = sends(&desk, &ann, "r1").await;
    assert_eq!((sent.status, &sent.json()["success"]), (200, &json!(true)), "{}", sent.text);
    assert_eq!(said(&platform), ["r1"]);
    assert!(desk.ears.find_line(ann.agent).is_some());
}

#[tokio::test]
async fn only_an_agent_with_a_webhook_sends_without_a_line() {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    assert_eq!(desk.says_in("c1", &ann, "ann", "k1").await, 200);

    let refused = sends(&desk, &ann, "r1").await;
    assert_eq!((refused.status, &refused.json()["code"]), (410, &json!("line-gone")));
    let opened = calls_line(&desk, &ann, "take", &json!({ "wait_seconds": 0 })).await;
    assert_eq!(opened.status, 200);
    assert_eq!(
        sends(&desk, &ann, "r1").await.status,
        410,
        "a line that the agent polls has a name"
    );
    assert_eq!(said(&platform), Vec::<Value>::new());
}
