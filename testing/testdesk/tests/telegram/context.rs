//! Tests the context of a message.

use nightdesk_types::Relevance;

use super::*;

const BOB: i64 = 901;
const ROOM: i64 = -100_500;

async fn in_a_room() -> Stage {
    let stage = stage(json!({})).await;
    stage.fake.chat(json!({ "id": ROOM, "type": "supergroup", "title": "Home", "is_forum": true }));
    let Household { scope, agent, .. } = stage.household;
    stage.desk.grant(scope, agent, stage.bot, &ROOM.to_string()).await;
    let relevance = Relevance { require_address: true, ..Relevance::default() };
    let store = stage.desk.register.store();
    store.declare(scope, agent, "telegram", &relevance).await.expect("declare");
    stage
}

impl Stage {
    /// Makes Bob write in a topic. A text that begins with a name mentions it.
    fn bob_says(&self, topic: i64, text: &str) {
        let named = text.split(' ').next().filter(|word| word.starts_with('@'));
        let called =
            named.map(|name| json!({ "type": "mention", "offset": 0, "length": name.len() }));
        let message = json!({
            "from": { "id": BOB, "is_bot": false, "first_name": "Bob" }, "text": text,
            "entities": called.as_slice(),
            "chat": { "id": ROOM, "type": "supergroup", "title": "Home", "is_forum": true },
            "message_thread_id": topic, "is_topic_message": true,
        });
        self.fake.happens(TOKEN, json!({ "message": message }));
    }
}

#[tokio::test]
async fn an_agent_is_told_what_was_said_before_in_the_same_topic() {
    let stage = in_a_room().await;
    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("telegram").await;
    gateway.hear_frame("descriptor").await;
    stage.bob_says(7, "the door is blue");
    stage.bob_says(8, "the cat is black");
    stage.bob_says(7, "@desk_bot which?");
    // A later message of the same batch is not context.
    stage.bob_says(7, "the door is green");
    stage.desk.listen();

    let event = gateway.hear_frame("inbound").await["event"].clone();
    let source = json!({ "user_name": "Bob", "user_id": BOB.to_string() });
    assert_eq!(event["context"], json!([{ "text": "the door is blue", "source": source }]));
}
