//! Buttons, from outside: a press reaches the agent that asked, and no other.

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::{Household, TestDesk, TestGateway, TestPlatform};
use serde_json::{Value, json};

const ROOM: &str = "room";

/// A chat on Ann's bot that belongs to Bob's agent. Both agents get the messages that Ann writes there.
struct Stage {
    desk: TestDesk,
    ann: Household,
    anns: TestGateway,
    bobs: TestGateway,
    /// A platform that accepts sends during the test.
    _platform: TestPlatform,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
        let bob = desk.household_with("bob", "gw-2", platform.settings()).await;
        // Bob can see the room, so his agent may.
        let on = AgentOnBot { scope: bob.scope, agent: bob.agent, bot: ann.bot };
        desk.register.store().bind(on, "bob").await.expect("bind Bob on Ann's bot");
        desk.grant(bob.scope, bob.agent, ann.bot, ROOM).await;
        let (anns, bobs) = (on_a_line(&desk, &ann).await, on_a_line(&desk, &bob).await);
        let mut stage = Self { desk, ann, anns, bobs, _platform: platform };
        stage.ann_writes("hello").await;
        assert_eq!(heard(&mut stage.anns).await, "hello");
        assert_eq!(heard(&mut stage.bobs).await, "hello");
        stage
    }

    async fn ann_writes(&mut self, text: &str) {
        self.post(text, &json!({ "text": text, "mentions_bot": true })).await;
    }

    async fn ann_presses(&mut self, prompt: &str) {
        let response = json!({ "prompt_id": prompt, "option_id": "yes" });
        self.post(
            &format!("press {prompt}"),
            &json!({ "text": prompt, "prompt_response": response }),
        )
        .await;
    }

    async fn post(&mut self, key: &str, event: &Value) {
        let mut event = event.clone();
        event["source"] = json!({
            "chat_id": ROOM, "user_id": "ann", "scope_id": "guild", "chat_type": "channel"
        });
        let status = self.desk.hook(&self.ann, &json!({ "id": key, "event": event })).await;
        assert_eq!(status, 200);
    }
}

async fn on_a_line(desk: &TestDesk, household: &Household) -> TestGateway {
    let mut gateway = desk.dial(household).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway
}

/// The text of the next entry.
async fn heard(gateway: &mut TestGateway) -> String {
    let frame = gateway.hear_frame("inbound").await;
    gateway.ack(&frame["bufferId"]).await;
    frame["event"]["text"].as_str().expect("an entry has a text").to_owned()
}

async fn asks(gateway: &mut TestGateway, prompt: &str) -> Value {
    let action = json!({
        "op": "prompt", "chat_id": ROOM, "content": "Shall I?", "prompt_kind": "approval",
        "prompt_id": prompt, "options": [{ "id": "yes", "label": "Yes" }]
    });
    let frame = json!({ "type": "outbound", "requestId": format!("r {prompt}"), "action": action });
    gateway.say(&frame).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn a_press_reaches_the_agent_that_asked_and_no_other() {
    let mut stage = Stage::set().await;
    assert_eq!(asks(&mut stage.anns, "of-ann").await["success"], true);
    assert_eq!(asks(&mut stage.bobs, "of-bob").await["success"], true);

    for prompt in ["of-bob", "of-ann", "of-nobody"] {
        stage.ann_presses(prompt).await;
    }
    stage.ann_writes("bye").await;
    for text in ["of-ann", "bye"] {
        assert_eq!(heard(&mut stage.anns).await, text);
    }
    for text in ["of-bob", "bye"] {
        assert_eq!(heard(&mut stage.bobs).await, text);
    }
}

#[tokio::test]
async fn nobody_asks_under_the_name_of_what_another_asked() {
    let mut stage = Stage::set().await;
    assert_eq!(asks(&mut stage.anns, "hers").await["success"], true);

    let refused = asks(&mut stage.bobs, "hers").await;
    assert_eq!(refused["code"], "egress_declined", "{refused}");
    stage.ann_presses("hers").await;
    stage.ann_writes("bye").await;
    assert_eq!(heard(&mut stage.bobs).await, "bye");
}
