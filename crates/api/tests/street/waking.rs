//! People are told that their agent was asleep.

use nightdesk_testkit::desk::{Household, TestDesk, TestPlatform};
use serde_json::{Value, json};

async fn asleep() -> (TestDesk, TestPlatform, Household) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    (desk, platform, ann)
}

/// What the platform was asked once everything that was begun is done.
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
    while desk.ears.of(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    assert_eq!(in_the_end(&desk, &platform).await, [Value::Null; 0]);
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    assert_eq!(in_the_end(&desk, &platform).await.len(), 1, "a new one is");
}
