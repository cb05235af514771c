//! Frames on a line.

use nightdesk_bus::{Bell, Ring};
use nightdesk_desk::line::StopResult;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_testdesk::{Heard, TestDesk, TestGateway};
use nightdesk_types::limits::{CONTROL_FRAMES_MAX, FRAGMENTS_MAX, FRAME_IN_BYTES_MAX};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// A desk with one household, and its gateway on a line that said hello.
async fn on_a_line() -> (TestDesk, nightdesk_testdesk::Household, TestGateway) {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    (desk, ann, gateway)
}

#[tokio::test]
async fn an_event_arrives_is_acked_and_does_not_come_again() {
    let (desk, ann, mut gateway) = on_a_line().await;

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let first = gateway.hear_frame("inbound").await;
    assert_eq!(first["event"]["text"], "k1");
    gateway.ack(&first["bufferId"]).await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200, "a repeat is told ok");
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "k2");
}

#[tokio::test]
async fn each_hello_gets_its_descriptor_in_order() {
    let (_desk, _, mut gateway) = on_a_line().await;

    for platform in ["telegram", "discord", "webchat"] {
        gateway.hello(platform).await;
    }
    for platform in ["telegram", "discord", "webchat"] {
        assert_eq!(gateway.hear_frame("descriptor").await["descriptor"]["platform"], platform);
    }
}

#[tokio::test]
async fn the_newest_line_counts_and_the_older_is_closed() {
    let (desk, ann, mut old) = on_a_line().await;
    desk.says(&ann, "ann", "k1").await;
    let unacked = old.hear_frame("inbound").await;

    let mut new = desk.dial(&ann).await;
    new.hello("discord").await;
    new.hear_frame("descriptor").await;
    assert_eq!(old.hear().await, Heard::Closed(4409));
    let again = new.hear_frame("inbound").await;
    assert_eq!(again["bufferId"], unacked["bufferId"], "the same entry by the same name");
}

#[tokio::test]
async fn a_revocation_closes_a_live_line() {
    let (desk, ann, mut gateway) = on_a_line().await;

    assert!(desk.ears.ring(Ring::Revoked { gateway: ann.gateway }).await);
    assert_eq!(gateway.hear().await, Heard::Closed(4401));
}

#[tokio::test]
async fn a_stop_reaches_the_agents_line_or_nobody() {
    let (desk, ann, mut gateway) = on_a_line().await;
    let session = SessionKey::new("agent:main:discord:dm:c1").expect("a session key");

    assert_eq!(desk.desk.line.stop_turn(ann.agent, &session, "c1").await, StopResult::Told);
    let frame = gateway.hear_frame("interrupt_inbound").await;
    assert_eq!(frame["session_key"], session.as_str());
    assert_eq!(frame["chat_id"], "c1");
    desk.ears.ring(Ring::Revoked { gateway: ann.gateway }).await;
    gateway.hear().await;
    while desk.ears.find_line(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.desk.line.stop_turn(ann.agent, &session, "c1").await, StopResult::NotRunning);
}

#[tokio::test]
async fn an_interrupt_comes_back_down_the_line() {
    let (_desk, _, mut gateway) = on_a_line().await;

    gateway.say(&json!({"type": "interrupt", "session_key": "agent:main:x", "reason": null})).await;
    assert_eq!(gateway.hear_frame("interrupt_inbound").await["session_key"], "agent:main:x");
}

#[tokio::test]
async fn a_send_to_a_foreign_chat_is_declined() {
    let (_desk, _, mut gateway) = on_a_line().await;
    let action = json!({"op": "send", "chat_id": "elsewhere", "content": "hi"});

    gateway.say(&json!({"type": "outbound", "requestId": "r1", "action": action, "platform": "discord"})).await;
    let answer = gateway.hear_frame("outbound_result").await;
    assert_eq!(answer["requestId"], "r1");
    assert_eq!(answer["result"]["code"], "egress_declined");
}

#[tokio::test]
async fn an_op_nobody_knows_is_answered() {
    let (_desk, _, mut gateway) = on_a_line().await;

    gateway.say(&json!({"type": "outbound", "requestId": "r1", "action": {"op": "juggle"}})).await;
    assert_eq!(gateway.hear_frame("outbound_result").await["result"]["success"], false);
}

#[tokio::test]
async fn what_is_too_big_closes_the_line_and_what_fits_does_not() {
    let (_desk, _, mut gateway) = on_a_line().await;
    let text = |bytes: usize| Message::text(format!("{}\n", "x".repeat(bytes - 1)));

    gateway.send(text(FRAME_IN_BYTES_MAX)).await;
    gateway.say(&json!({"type": "going_idle"})).await;
    gateway.hear_frame("going_idle_ack").await;
    gateway.send(text(FRAME_IN_BYTES_MAX + 1)).await;
    assert_eq!(gateway.hear().await, Heard::Closed(1009));
}

#[tokio::test]
async fn endless_fragments_close_the_line() {
    let (_desk, _, mut gateway) = on_a_line().await;
    let fragment = |number| {
        let code = if number == 0 { Data::Text } else { Data::Continue };
        Frame::message(Vec::new(), OpCode::Data(code), false)
    };

    gateway.send_raw((0..=FRAGMENTS_MAX).map(fragment)).await;
    assert_eq!(gateway.hear().await, Heard::Closed(1008));
}

#[tokio::test]
async fn a_flood_of_pings_closes_the_line() {
    let (_desk, _, mut gateway) = on_a_line().await;
    let ping = |_| Frame::ping(Vec::new());

    gateway.send_raw((0..CONTROL_FRAMES_MAX).map(ping)).await;
    gateway.say(&json!({"type": "going_idle"})).await;
    gateway.hear_frame("going_idle_ack").await;
    // The rate admits one more ping per second.
    gateway.send_raw((0..CONTROL_FRAMES_MAX).map(ping)).await;
    assert_eq!(gateway.hear().await, Heard::Closed(1008));
}

#[tokio::test]
async fn noise_is_passed_over() {
    let (desk, ann, mut gateway) = on_a_line().await;

    for noise in ["null", "[]", "{}", r#"{"type":7}"#, r#"{"type":"inbound_ack"}"#, "not json"] {
        gateway.send(Message::text(format!("{noise}\n"))).await;
    }
    desk.says(&ann, "ann", "k1").await;
    gateway.hear_frame("inbound").await;
}
