//! The guard of the way out, from outside: the chats and bots that an agent may write with.

use std::time::Duration;

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::{Household, TestDesk, TestGateway, TestPlatform};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_hours(24);

/// Two households on one platform, each with a bot; Ann's gateway is on a line.
struct Stage {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
    bob: Household,
    gateway: TestGateway,
    asked: usize,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
        let bob = desk.household_with("bob", "gw-2", platform.settings()).await;
        let gateway = on_a_line(&desk, &ann).await;
        Self { desk, platform, ann, bob, gateway, asked: 0 }
    }

    /// Has Ann's author say something, which lets her agent answer there.
    async fn ann_says(&mut self, chat: &str) {
        let key = format!("k {chat}");
        assert_eq!(self.desk.says_in(chat, &self.ann, "ann", &key).await, 200);
        self.gateway.hear_frame("inbound").await;
    }

    /// The result of a send of Ann's agent to a chat, under a tag.
    async fn write(&mut self, chat: &str, tag: &Value) -> Value {
        self.asked += 1;
        let action = json!({"op": "send", "chat_id": chat, "content": "hi"});
        let id = format!("r{}", self.asked);
        let mut frame = json!({"type": "outbound", "requestId": id, "action": action});
        for (key, value) in tag.as_object().into_iter().flatten() {
            frame[key] = value.clone();
        }
        self.gateway.say(&frame).await;
        self.gateway.hear_frame("outbound_result").await["result"].clone()
    }

    async fn declined(&mut self, why: &str, chat: &str, tag: &Value) {
        let before = self.platform.calls().len();
        let result = self.write(chat, tag).await;
        assert_eq!(result["code"], "egress_declined", "{why}: {result}");
        assert_eq!(self.platform.calls().len(), before, "{why}: nobody was called");
    }

    async fn said(&mut self, why: &str, chat: &str, tag: &Value) {
        let result = self.write(chat, tag).await;
        assert_eq!(result["success"], true, "{why}: {result}");
    }
}

async fn on_a_line(desk: &TestDesk, household: &Household) -> TestGateway {
    let mut gateway = desk.dial(household).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway
}

#[tokio::test]
async fn an_agent_writes_where_it_may_and_nowhere_else() {
    let mut stage = Stage::set().await;
    let mut bobs = on_a_line(&stage.desk, &stage.bob).await;
    assert_eq!(stage.desk.says_in("bobs", &stage.bob, "bob", "k").await, 200);
    bobs.hear_frame("inbound").await;
    stage.ann_says("c1").await;
    // The bots are shared: Bob's person is known on Ann's, too.
    let Household { scope, agent, .. } = stage.bob;
    let register = stage.desk.register.store();
    register.bind(AgentOnBot { scope, agent, bot: stage.ann.bot }, "bob-here").await.expect("bind");
    let untagged = json!({});

    stage.said("it heard from there", "c1", &untagged).await;
    stage.said("its own person, first", "ann", &untagged).await;
    stage.declined("nobody's chat", "c9", &untagged).await;
    stage.declined("another tenant's chat", "bobs", &untagged).await;
    stage.declined("another tenant's person", "bob", &untagged).await;
    stage.declined("another tenant's person on its own bot", "bob-here", &untagged).await;
    let lies = [
        ("another platform", json!({"platform": "telegram"})),
        ("another tenant's bot", json!({"platform": "discord", "botId": "bot-bob"})),
        ("nobody's bot", json!({"platform": "discord", "botId": "nobody"})),
    ];
    for (why, tag) in &lies {
        stage.declined(why, "c1", tag).await;
    }
    stage.said("the truth", "c1", &json!({"platform": "discord", "botId": "bot-ann"})).await;
    stage.said("half of it", "c1", &json!({"platform": "discord"})).await;
}

#[tokio::test]
async fn another_agent_of_the_same_tenant_is_another() {
    let mut stage = Stage::set().await;
    let register = stage.desk.register.store();
    let scope = stage.ann.scope;
    let other = register.create_agent(scope, "other").await.expect("enter an agent");
    stage.desk.grant(scope, other, stage.ann.bot, "others").await;

    stage.declined("its sister's chat", "others", &json!({})).await;
}

#[tokio::test]
async fn a_bot_it_did_not_greet_for_is_not_its_to_use() {
    let mut stage = Stage::set().await;
    // Bound on Bob's bot, too, but its line speaks for its own alone.
    let register = stage.desk.register.store();
    let bound = register
        .bind(
            AgentOnBot { scope: stage.ann.scope, agent: stage.ann.agent, bot: stage.bob.bot },
            "ann-at-bobs",
        )
        .await;
    bound.expect("bind");

    stage.gateway = stage.desk.dial(&stage.ann).await;
    stage.gateway.hello_for("discord", "bot-ann").await;
    stage.gateway.hear_frame("descriptor").await;
    stage.declined("no hello for it", "ann-at-bobs", &json!({})).await;
    stage.gateway.hello("discord").await;
    stage.gateway.hear_frame("descriptor").await;
    stage.said("hello", "ann-at-bobs", &json!({})).await;
}

#[tokio::test]
async fn what_was_heard_long_ago_counts_no_more() {
    let mut stage = Stage::set().await;
    stage.ann_says("c1").await;

    stage.desk.store.clock().let_pass(DAY * 29);
    stage.said("29 days", "c1", &json!({})).await;
    stage.desk.store.clock().let_pass(DAY * 2);
    stage.declined("31 days", "c1", &json!({})).await;
}

#[tokio::test]
async fn a_revoked_binding_ends_what_it_allowed() {
    let mut stage = Stage::set().await;
    stage.ann_says("c1").await;
    let Household { scope, agent, bot, .. } = stage.ann;
    stage
        .desk
        .register
        .store()
        .unbind(AgentOnBot { scope, agent, bot }, "ann")
        .await
        .expect("unbind");

    stage.declined("first words to the person", "ann", &json!({})).await;
    stage.declined("the chat it heard from", "c1", &json!({})).await;
}

#[tokio::test]
async fn every_chat_is_not_one_to_write_to_first() {
    let mut stage = Stage::set().await;
    let Household { scope, agent, bot, .. } = stage.ann;
    stage.desk.grant(scope, agent, bot, "*").await;

    stage.declined("nobody wrote there", "c7", &json!({})).await;
    stage.declined("not a chat", "*", &json!({})).await;
    assert_eq!(stage.desk.says_in("c7", &stage.ann, "stranger", "k").await, 200);
    stage.gateway.hear_frame("inbound").await;
    stage.said("an answer", "c7", &json!({})).await;
}

#[tokio::test]
async fn two_bots_that_know_a_chat_must_be_told_apart() {
    let mut stage = Stage::set().await;
    let Household { scope, agent, bot, .. } = stage.ann;
    let register = stage.desk.register.store();
    for bot in [bot, stage.bob.bot] {
        register.bind(AgentOnBot { scope, agent, bot }, "both").await.expect("bind");
    }
    stage.gateway.hello("discord").await;
    stage.gateway.hear_frame("descriptor").await;

    stage.declined("which one?", "both", &json!({})).await;
    stage.declined("which one of discord's?", "both", &json!({"platform": "discord"})).await;
    stage.said("this one", "both", &json!({"platform": "discord", "botId": "bot-bob"})).await;
}
