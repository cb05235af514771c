//! The messages of a bot that several tenants share, from outside: an agent changes its own and no others.

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::{Household, TestDesk, TestGateway, TestPlatform};
use nightdesk_types::GrantTarget;
use serde_json::{Value, json};

const ROOM: &str = "room";

/// A chat on Ann's bot that the agents of two tenants write to.
struct Stage {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
    bob: Household,
    anns: TestGateway,
    bobs: TestGateway,
    asked: usize,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
        let bob = desk.household_with("bob", "gw-2", platform.settings()).await;
        let on = AgentOnBot { scope: bob.scope, agent: bob.agent, bot: ann.bot };
        desk.register.store().bind(on, "bob").await.expect("bind Bob on Ann's bot");
        desk.grant(bob.scope, bob.agent, ann.bot, ROOM).await;
        let (anns, bobs) = (on_a_line(&desk, &ann).await, on_a_line(&desk, &bob).await);
        let mut stage = Self { desk, platform, ann, bob, anns, bobs, asked: 0 };
        stage.ann_writes().await;
        stage
    }

    /// Posts a message of Ann's that both agents receive, so both may write to the room.
    async fn ann_writes(&mut self) {
        let source = json!({
            "chat_id": ROOM, "user_id": "ann", "scope_id": "guild", "chat_type": "channel"
        });
        let event = json!({ "text": "hello", "mentions_bot": true, "source": source });
        assert_eq!(self.desk.hook(&self.ann, &json!({ "id": "k", "event": event })).await, 200);
        for gateway in [&mut self.anns, &mut self.bobs] {
            let frame = gateway.hear_frame("inbound").await;
            gateway.ack(&frame["bufferId"]).await;
        }
    }

    async fn ann_does(&mut self, action: &Value) -> Value {
        self.asked += 1;
        does(&mut self.anns, self.asked, action).await
    }

    async fn bob_does(&mut self, action: &Value) -> Value {
        self.asked += 1;
        does(&mut self.bobs, self.asked, action).await
    }

    /// Sends a message of Ann's agent. Returns the message's id.
    async fn ann_sends(&mut self) -> String {
        let sent = self.ann_does(&json!({"op": "send", "chat_id": ROOM, "content": "mine"})).await;
        sent["message_id"].as_str().expect("a send has an id").to_owned()
    }
}

async fn on_a_line(desk: &TestDesk, household: &Household) -> TestGateway {
    let mut gateway = desk.dial(household).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway
}

async fn does(gateway: &mut TestGateway, asked: usize, action: &Value) -> Value {
    let frame = json!({"type": "outbound", "requestId": format!("r{asked}"), "action": action});
    gateway.say(&frame).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

/// All operations on a message, named by its id.
fn changes(message: &str) -> [Value; 5] {
    [
        json!({"op": "edit", "chat_id": ROOM, "message_id": message, "content": "changed"}),
        json!({"op": "react", "chat_id": ROOM, "message_id": message, "emoji": "👍"}),
        json!({
            "op": "react", "chat_id": ROOM, "message_id": message, "emoji": "👍", "remove": true
        }),
        json!({
            "op": "thread_rename", "chat_id": ROOM, "message_id": message, "thread_name": "new"
        }),
        json!({"op": "delete", "chat_id": ROOM, "message_id": message}),
    ]
}

#[tokio::test]
async fn an_agent_changes_no_message_of_another_tenants_agent() {
    let mut stage = Stage::set().await;
    let message = stage.ann_sends().await;
    let before = stage.platform.calls().len();

    for change in changes(&message) {
        let result = stage.bob_does(&change).await;
        assert_eq!(result["code"], "egress_declined", "{change}: {result}");
        let why = result["error"].as_str().expect("a refusal has a reason");
        assert!(why.contains("did not send this message"), "{why}");
    }
    assert_eq!(stage.platform.calls().len(), before, "the platform was not called");
}

#[tokio::test]
async fn an_agent_changes_its_own_messages() {
    let mut stage = Stage::set().await;
    let message = stage.ann_sends().await;

    for change in changes(&message) {
        let result = stage.ann_does(&change).await;
        assert_eq!(result["success"], true, "{change}: {result}");
    }
}

#[tokio::test]
async fn an_agent_reacts_to_a_persons_message_and_does_not_change_it() {
    let mut stage = Stage::set().await;
    let [edit, react, unreact, rename, delete] = changes("of-a-person");

    for change in [react, unreact] {
        assert_eq!(stage.bob_does(&change).await["success"], true, "{change}");
    }
    for change in [edit, rename, delete] {
        let result = stage.bob_does(&change).await;
        assert_eq!(result["code"], "egress_declined", "{change}: {result}");
    }
}

#[tokio::test]
async fn an_agent_with_moderation_changes_messages_of_others_until_the_grant_ends() {
    let mut stage = Stage::set().await;
    let message = stage.ann_sends().await;
    let [edit, ..] = changes(&message);
    let on = AgentOnBot { scope: stage.bob.scope, agent: stage.bob.agent, bot: stage.ann.bot };
    let room = GrantTarget::for_chat(None, ROOM);

    let register = stage.desk.register.store();
    assert!(register.allow_moderation(on, &room).await.expect("allow moderation"));
    assert_eq!(stage.bob_does(&edit).await["success"], true);
    let register = stage.desk.register.store();
    assert!(register.release(on, &room).await.expect("release a grant"));
    assert_eq!(stage.bob_does(&edit).await["code"], "egress_declined");
}
