//! Sleeping agents are called, and their people are notified.

use std::time::Duration;

use nightdesk_testdesk::{Household, TestDesk, TestPlatform};
use nightdesk_types::limits::{CALL_GAP, STILL_WAKING_AFTER, VANISHED_GRACE, WAKE_DEADLINE};
use nightdesk_types::send::{STILL_WAKING, UNREACHABLE};
use serde_json::{Value, json};

async fn asleep() -> (TestDesk, TestPlatform, Household) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    (desk, platform, ann)
}

/// The calls to the platform after all pending work is done.
async fn in_the_end(desk: &TestDesk, platform: &TestPlatform) -> Vec<Value> {
    desk.settled().await;
    platform.calls()
}

#[tokio::test]
async fn a_sleeping_agents_person_is_told_once_in_a_while() {
    let (desk, platform, ann) = asleep().await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(desk.says(&ann, "ann", key).await, 200);
    }
    assert_eq!(desk.says_in("c2", &ann, "ann", "k4").await, 200);

    let told = in_the_end(&desk, &platform).await;
    let chats: Vec<_> = told.iter().map(|call| call["chat_id"].clone()).collect();
    assert_eq!(chats.len(), 2, "{told:?}");
    assert!(chats.contains(&json!("c1")) && chats.contains(&json!("c2")));
    assert_eq!((&told[0]["op"], &told[0]["content"]), (&json!("typing"), &json!("waking…")));
}

#[tokio::test]
async fn nobody_is_told_of_what_was_refused_or_heard() {
    let (desk, platform, ann) = asleep().await;
    assert_eq!(desk.says(&ann, "stranger", "k1").await, 200);
    assert_eq!(in_the_end(&desk, &platform).await, [Value::Null; 0], "refused");

    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    gateway.hear_frame("inbound").await;
    assert_eq!(in_the_end(&desk, &platform).await, [Value::Null; 0], "awake");
}

#[tokio::test]
async fn a_repeat_is_not_told_again() {
    let (desk, platform, ann) = asleep().await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    gateway.hear_frame("inbound").await;
    drop(gateway);
    while desk.ears.find_line(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    assert_eq!(in_the_end(&desk, &platform).await, [Value::Null; 0]);
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    assert_eq!(in_the_end(&desk, &platform).await.len(), 1, "a new one is");
}

const FIRST: &str = "https://agents.example/first";
const SECOND: &str = "https://agents.example/second";

/// A household whose agent can be called.
async fn callable() -> (TestDesk, TestPlatform, Household) {
    let (desk, platform, ann) = asleep().await;
    desk.is_called_at(&ann, &[FIRST, SECOND]).await;
    (desk, platform, ann)
}

#[tokio::test]
async fn a_thousand_messages_make_one_call_in_fifteen_seconds() {
    let (desk, _platform, ann) = callable().await;
    for number in 0..1_000 {
        assert_eq!(desk.says(&ann, "ann", &format!("k{number}")).await, 200);
    }
    desk.settled().await;
    assert_eq!(desk.calls.urls(), [FIRST], "at once, and once");

    desk.wakes_after(CALL_GAP.saturating_sub(Duration::from_millis(1))).await;
    assert_eq!(desk.calls.urls().len(), 1);
    desk.wakes_after(Duration::from_millis(1)).await;
    assert_eq!(desk.calls.urls(), [FIRST, SECOND], "the next one is tried");
    desk.wakes_after(CALL_GAP).await;
    assert_eq!(desk.calls.urls(), [FIRST, SECOND, FIRST]);
}

#[tokio::test]
async fn what_the_gate_refused_wakes_nobody() {
    let (desk, _platform, ann) = callable().await;
    assert_eq!(desk.says(&ann, "stranger", "k1").await, 200);

    desk.wakes_after(CALL_GAP).await;
    assert_eq!(desk.calls.urls(), [""; 0]);
    assert_eq!(desk.wake_state(&ann).await, None);
}

#[tokio::test]
async fn an_agent_that_dials_in_is_called_no_more() {
    let (desk, _platform, ann) = callable().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    desk.calls.made(1).await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway.hear_frame("inbound").await;
    assert_eq!(desk.wake_state(&ann).await.as_deref(), Some("woken"));
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    gateway.hear_frame("inbound").await;

    desk.wakes_after(Duration::from_hours(1)).await;
    assert_eq!(desk.calls.urls(), [FIRST]);
}

#[tokio::test]
async fn an_agent_whose_line_died_with_an_entry_is_called_and_its_person_told() {
    let (desk, platform, ann) = callable().await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    gateway.hear_frame("inbound").await;
    drop(gateway);
    while desk.ears.find_line(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }

    desk.wakes_after(Duration::ZERO).await;
    assert_eq!(desk.calls.urls(), [""; 0], "its client may come back by itself");
    desk.wakes_after(VANISHED_GRACE).await;
    assert_eq!(desk.calls.urls(), [FIRST]);
    let told = in_the_end(&desk, &platform).await;
    assert_eq!((&told[0]["chat_id"], &told[0]["content"]), (&json!("c1"), &json!("waking…")));
    desk.wakes_after(CALL_GAP).await;
    assert_eq!(in_the_end(&desk, &platform).await.len(), 1, "told once");
}

#[tokio::test]
async fn an_agent_whose_line_is_silent_is_called_while_the_line_stays() {
    let (desk, _platform, ann) = callable().await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let frame = gateway.hear_frame("inbound").await;
    desk.suspects_line(&ann, 1).await;

    desk.wakes_after(Duration::ZERO).await;
    assert_eq!(desk.calls.urls(), [FIRST]);
    assert!(desk.ears.find_line(ann.agent).is_some(), "the line stays");
    gateway.ack(&frame["bufferId"]).await;
    while desk.acked(&ann).await < 1 {
        tokio::task::yield_now().await;
    }
    desk.wakes_after(Duration::from_hours(1)).await;
    assert_eq!(desk.calls.urls(), [FIRST], "it answered");
}

#[tokio::test]
async fn a_call_that_is_put_off_is_made_later_to_the_same() {
    let (desk, _platform, ann) = callable().await;
    desk.calls.put_off(Duration::from_secs(3));
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    desk.settled().await;

    desk.wakes_after(Duration::from_secs(2)).await;
    assert_eq!(desk.calls.urls().len(), 1);
    desk.calls.fail("answered with status 500");
    desk.wakes_after(Duration::from_secs(1)).await;
    assert_eq!(desk.calls.urls(), [FIRST, FIRST]);
    desk.wakes_after(CALL_GAP).await;
    assert_eq!(desk.calls.urls(), [FIRST, FIRST, SECOND], "of no use, so the next is tried");
}

/// Returns the messages to people, without the statuses.
fn messages(calls: &[Value]) -> Vec<(&Value, &Value)> {
    let sends = calls.iter().filter(|call| call["op"] == "send");
    sends.map(|call| (&call["chat_id"], &call["content"])).collect()
}

#[tokio::test]
async fn the_author_of_the_oldest_entry_hears_once_that_the_agent_still_wakes() {
    let (desk, platform, ann) = callable().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    assert_eq!(desk.says_in("c2", &ann, "ann", "k2").await, 200);
    desk.wakes_after(STILL_WAKING_AFTER.saturating_sub(CALL_GAP * 2)).await;
    assert!(messages(&in_the_end(&desk, &platform).await).is_empty());

    for _ in 0..4 {
        desk.wakes_after(STILL_WAKING_AFTER).await;
    }
    let told = in_the_end(&desk, &platform).await;
    assert_eq!(messages(&told), [(&json!("c1"), &json!(STILL_WAKING))]);
    assert_eq!(desk.wake_state(&ann).await.as_deref(), Some("due"));
}

#[tokio::test]
async fn an_author_hears_of_a_delay_also_if_the_agent_has_no_address() {
    let (desk, platform, ann) = asleep().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    for _ in 0..3 {
        desk.wakes_after(STILL_WAKING_AFTER).await;
    }

    let told = in_the_end(&desk, &platform).await;
    assert_eq!(messages(&told), [(&json!("c1"), &json!(STILL_WAKING))]);
}

#[tokio::test]
async fn who_cannot_be_woken_for_a_day_is_given_up_and_everybody_told_once() {
    let (desk, platform, ann) = callable().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    assert_eq!(desk.says_in("c2", &ann, "ann", "k2").await, 200);
    let before = in_the_end(&desk, &platform).await.len();

    for _ in 0..3 {
        desk.wakes_after(WAKE_DEADLINE).await;
    }
    let told = in_the_end(&desk, &platform).await;
    let mut chats: Vec<&str> =
        told[before..].iter().filter_map(|call| call["chat_id"].as_str()).collect();
    chats.sort_unstable();
    assert_eq!(chats, ["c1", "c2"], "{told:?}");
    assert_eq!(
        (&told[before]["op"], &told[before]["content"]),
        (&json!("send"), &json!(UNREACHABLE))
    );
    assert_eq!(desk.wake_state(&ann).await.as_deref(), Some("unreachable"));
    let [notice] = &desk.notices(&ann).await[..] else { unreachable!("one notice") };
    assert!(notice.contains("could not be woken for 24 hours"), "{notice}");
}
