//! Results of a gateway's sends.

use nightdesk_testdesk::{TestDesk, TestGateway, TestPlatform};
use serde_json::{Value, json};

async fn on_a_line(change: impl FnOnce(&mut Value)) -> (TestDesk, TestPlatform, TestGateway) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let mut settings = platform.settings();
    change(&mut settings);
    let ann = desk.household_with("ann", "gw-1", settings).await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    (desk, platform, gateway)
}

async fn ask(gateway: &mut TestGateway, id: &str, action: &Value) -> Value {
    gateway.say(&json!({"type": "outbound", "requestId": id, "action": action})).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn a_long_text_is_said_in_parts_and_answered_with_the_first() {
    let (_desk, platform, mut gateway) =
        on_a_line(|settings| settings["message_length_max"] = json!(100)).await;
    let content = "word ".repeat(50);
    let action = json!({"op": "send", "chat_id": "ann", "content": content, "reply_to": "m0"});

    let result = ask(&mut gateway, "r1", &action).await;
    assert_eq!(result, json!({"success": true, "message_id": "m1"}));
    let calls = platform.calls();
    assert_eq!(calls.len(), 3);
    let replies: Vec<_> = calls.iter().map(|call| call["reply_to"].clone()).collect();
    assert_eq!(replies, [json!("m0"), json!(null), json!(null)]);
    assert_eq!(ask(&mut gateway, "r1", &action).await, result, "asking twice is asking once");
    assert_eq!(platform.calls().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_before_anything_is() {
    let (_desk, platform, mut gateway) = on_a_line(|settings| {
        settings["message_length_max"] = json!(100);
        settings["ops"] = json!(["send", "edit"]);
    })
    .await;
    let actions = [
        json!({"op": "send", "chat_id": "ann", "content": "x".repeat(4_001)}),
        json!({"op": "edit", "chat_id": "ann", "message_id": "m1", "content": "x".repeat(101)}),
        json!({"op": "typing", "chat_id": "ann"}),
        json!({"op": "juggle", "chat_id": "ann"}),
    ];
    let sent = json!({"op": "send", "chat_id": "ann", "content": "short"});
    assert_eq!(ask(&mut gateway, "r0", &sent).await["message_id"], "m1");
    let mut errors = Vec::new();
    for action in &actions {
        errors.push(ask(&mut gateway, "r1", action).await["error"].clone());
    }

    assert_eq!(platform.calls().len(), 1, "only the short one");
    assert_eq!(
        errors,
        [
            "message too long: more than 40 parts of 100; nothing was sent",
            "edit too long: more than 100, and only a send can be split; nothing was done",
            "op not supported: typing",
            "op not supported: juggle",
        ]
    );
}

#[tokio::test]
async fn typing_leaves_no_row_and_is_shown_once_a_second() {
    let (_desk, platform, mut gateway) = on_a_line(|_| ()).await;
    let typing = json!({"op": "typing", "chat_id": "ann"});
    for _ in 0..5 {
        assert_eq!(ask(&mut gateway, "r1", &typing).await["success"], true);
    }
    assert!(platform.calls().len() < 3, "five in a moment are one or two");

    let send = json!({"op": "send", "chat_id": "ann", "content": "hi"});
    assert_eq!(ask(&mut gateway, "r1", &send).await["success"], true, "the name is still free");
    assert_eq!(platform.calls().iter().filter(|call| call["op"] == "send").count(), 1);
    let elsewhere = json!({"op": "typing", "chat_id": "elsewhere"});
    assert_eq!(ask(&mut gateway, "r2", &elsewhere).await["code"], "egress_declined");
}
