//! Messages over an author's rate limit: none is lost, and the excess wakes no agent.

use std::num::NonZeroU32;

use nightdesk_desk::{Adapters, RateSettings};
use nightdesk_testdesk::{Household, TestDesk, TestGateway, TestPlatform};
use nightdesk_types::limits::CALL_GAP;
use nightdesk_types::send::TOO_FAST;
use serde_json::json;

const URL: &str = "https://agents.example/wake";

/// A desk on which one message a minute wakes an agent and ten are delivered, and a household whose agent sleeps and can
/// be called.
async fn asleep() -> (TestDesk, TestPlatform, Household) {
    let rates = RateSettings {
        author_per_minute: NonZeroU32::MIN,
        webhooks_per_second: NonZeroU32::MAX,
        ..RateSettings::default()
    };
    let desk = TestDesk::open_limited(Adapters::default(), rates).await;
    let platform = TestPlatform::open().await;
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    desk.is_called_at(&ann, &[URL]).await;
    (desk, platform, ann)
}

async fn dial(desk: &TestDesk, ann: &Household) -> TestGateway {
    let mut gateway = desk.dial(ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway
}

/// Hears and acks the next entry. Returns its text.
async fn take_entry(gateway: &mut TestGateway) -> String {
    let entry = gateway.hear_frame("inbound").await;
    gateway.ack(&entry["bufferId"]).await;
    entry["event"]["text"].as_str().expect("a text").to_owned()
}

/// Returns the reasons of the parked entries.
fn parked(desk: &TestDesk, ann: &Household) -> Vec<&'static str> {
    let parked = desk.store.parked(ann.scope, ann.agent);
    parked.into_iter().map(|(_, reason)| reason.slug()).collect()
}

#[tokio::test]
async fn a_message_over_the_limit_is_handed_over_and_wakes_no_agent() {
    let (desk, _platform, ann) = asleep().await;
    let mut gateway = dial(&desk, &ann).await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(desk.says(&ann, "ann", key).await, 200);
        assert_eq!(take_entry(&mut gateway).await, key, "a line gets it at once");
    }
    while desk.acked(&ann).await < 3 {
        tokio::task::yield_now().await;
    }
    drop(gateway);
    while desk.ears.find_line(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }

    assert_eq!(desk.says(&ann, "ann", "k4").await, 200);
    desk.wakes_after(CALL_GAP).await;
    assert_eq!(desk.calls.urls(), [""; 0]);
    assert_eq!(desk.wake_state(&ann).await, None);
    let mut gateway = dial(&desk, &ann).await;
    assert_eq!(take_entry(&mut gateway).await, "k4", "it waited");
    assert_eq!(parked(&desk, &ann), [""; 0]);
}

#[tokio::test]
async fn a_message_far_over_the_limit_is_parked_and_its_author_notified_once() {
    let (desk, platform, ann) = asleep().await;
    for number in 0..60 {
        assert_eq!(desk.says(&ann, "ann", &format!("k{number}")).await, 200);
        desk.settled().await;
    }

    let reasons = parked(&desk, &ann);
    assert!(reasons.len() > 30, "{} were parked", reasons.len());
    assert!(reasons.iter().all(|reason| *reason == "rate-limit"), "{reasons:?}");
    assert_eq!(desk.entries_of(&ann).await.len(), 60, "the operator sees every one");
    let is_notice = |call: &serde_json::Value| call["content"] == json!(TOO_FAST);
    let notices: Vec<_> = platform.calls().into_iter().filter(is_notice).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["chat_id"], json!("c1"));
}

#[tokio::test]
async fn a_store_that_fails_for_a_while_costs_an_author_nothing() {
    let (desk, _platform, ann) = asleep().await;
    desk.store.fail_on_chat(Some("c1"));
    for _ in 0..30 {
        assert_eq!(desk.says(&ann, "ann", "k1").await, 503, "the platform keeps it");
    }

    desk.store.fail_on_chat(None);
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    desk.settled().await;
    assert_eq!(desk.entries_of(&ann).await.len(), 1);
    assert_eq!(desk.calls.urls(), [URL], "it was within the limit");
}

#[tokio::test]
async fn a_repeat_costs_an_author_nothing() {
    let (desk, _platform, ann) = asleep().await;
    for _ in 0..60 {
        assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    }

    for key in ["k2", "k3", "k4"] {
        assert_eq!(desk.says(&ann, "ann", key).await, 200);
    }
    assert_eq!(parked(&desk, &ann), [""; 0]);
    assert_eq!(desk.entries_of(&ann).await.len(), 4);
}
