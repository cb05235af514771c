//! Tests Discord on a whole desk: messages on the fake reach the agent, and its answers the fake.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;
use std::time::Duration;

use nightdesk_desk::{Adapters, SessionBudgets};
use nightdesk_discord::{Discord, DiscordUrls};
use nightdesk_fake_discord::{FakeDiscord, Order, Settings};
use nightdesk_memory::Memory;
use nightdesk_register::{AgentOnBot, BotDraft};
use nightdesk_testdesk::{Household, TestDesk, TestGateway};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{BotId, GrantTarget, SystemClock};
use nightdesk_vault::Key;
use serde_json::{Value, json};

mod commands;
mod context;
mod files;
mod gaps;
mod interactions;
mod waking;

/// The part before the first dot encodes the bot's id, 4242.
const TOKEN: &str = "NDI0Mg.Gabcde.the-key";
const BOT: u64 = 4242;
const ANN: u64 = 900;
const BOB: u64 = 901;
const GUILD: u64 = 70;
const GENERAL: u64 = 500;
const PATIENCE: Duration = Duration::from_secs(20);

struct Stage {
    fake: FakeDiscord,
    desk: TestDesk,
    household: Household,
    bot: BotId,
    path: String,
}

/// Sets up a server with Ann, who has an agent, and Bob, who has none.
async fn stage() -> Stage {
    stage_ahead_by(Duration::ZERO).await
}

/// Sets up a server whose clock is ahead.
async fn stage_ahead_by(ahead_by: Duration) -> Stage {
    let settings = Settings { identify_every: Duration::ZERO, ahead_by, ..Settings::default() };
    let fake = FakeDiscord::start_with(settings).await.expect("a free port");
    fake.bot(TOKEN, BOT, "desk");
    fake.person(ANN, "ann");
    fake.person(BOB, "bob");
    let member = |id: u64| json!({ "user": { "id": id.to_string() }, "roles": [] });
    fake.guild(&json!({
        "id": GUILD.to_string(), "name": "Home", "owner_id": "1", "members": [member(ANN), member(BOB)],
        "channels": [{ "id": GENERAL.to_string(), "name": "general" }],
    }));
    fake.join(TOKEN, GUILD);
    let (desk, household, (bot, path)) = desk(&fake).await;
    Stage { fake, desk, household, bot, path }
}

async fn desk(fake: &FakeDiscord) -> (TestDesk, Household, (BotId, String)) {
    let (api, gateway) = (fake.url(), fake.gateway_url());
    let at = DiscordUrls { api: &api, gateway: &gateway, cdn: &api };
    let budget = Arc::new(SessionBudgets(Arc::new(Memory::new(FakeClock::default()))));
    let discord = Discord::open(at, Arc::new(SystemClock::start()), budget);
    let platform = Arc::new(discord.expect("addresses"));
    let desk = TestDesk::open_with(Adapters::from([("discord".to_owned(), platform as _)])).await;
    let household = desk.household("ann", "gw").await;
    let draft = BotDraft {
        platform: "discord".to_owned(),
        adapter: "discord".to_owned(),
        handle: "desk".to_owned(),
        settings: json!({ "public_key": fake.public_key(TOKEN), "application_id": BOT.to_string() }),
        key: Some(Key::new(TOKEN.to_owned())),
    };
    let entered = desk.bot(&household, draft, &ANN.to_string()).await;
    (desk, household, entered)
}

impl Stage {
    /// Listens, and waits until the bot is online: earlier messages are not dispatched.
    async fn arrive(&self) {
        self.desk.listen();
        let is_there = |fake: &FakeDiscord| !fake.identifies().is_empty();
        assert!(self.fake.until(PATIENCE, is_there).await, "the bot is there");
    }

    async fn on_a_line(&self) -> TestGateway {
        let mut gateway = self.desk.dial(&self.household).await;
        gateway.hello("discord").await;
        gateway.hear_frame("descriptor").await;
        gateway
    }
}

/// Returns the next entry's event.
async fn heard(gateway: &mut TestGateway) -> Value {
    let entry = gateway.hear_frame("inbound").await;
    gateway.ack(&entry["bufferId"]).await;
    entry["event"].clone()
}

/// Sends an action of the agent. Returns its result.
async fn does(gateway: &mut TestGateway, request: &str, action: Value) -> Value {
    let frame = json!({
        "type": "outbound", "requestId": request, "action": action, "platform": "discord",
    });
    gateway.say(&frame).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn the_descriptor_has_discords_emoji_and_ids_stay_visible_for_mentions() {
    let stage = stage().await;
    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("discord").await;

    let descriptor = gateway.hear_frame("descriptor").await["descriptor"].clone();
    assert_eq!(descriptor["emoji"], json!("🎮"));
    assert_eq!(descriptor["pii_safe"], json!(false));
}

#[tokio::test]
async fn what_is_said_comes_to_the_agent_and_its_answer_back() {
    let stage = stage().await;
    let mut gateway = stage.on_a_line().await;
    stage.arrive().await;
    stage.fake.say(BOB, GENERAL, "who is there?");
    stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> hello"));

    let event = heard(&mut gateway).await;
    assert_eq!(event["text"], json!("hello"), "Bob reaches nobody");
    let source = &event["source"];
    assert_eq!(source["chat_id"], json!(GENERAL.to_string()));
    assert_eq!(source["scope_id"], json!(GUILD.to_string()));
    let action = json!({
        "op": "send", "chat_id": GENERAL.to_string(), "content": "hello, @everyone", "metadata": {},
    });
    let result = does(&mut gateway, "r1", action).await;
    assert_eq!(result["success"], true, "{result}");
    let said = stage.fake.messages(GENERAL).pop().expect("an answer");
    assert_eq!(said["content"], json!("hello, @everyone"));
    assert_eq!(said["mention_everyone"], json!(false), "it rings for nobody");
    assert_eq!(Some(&result["message_id"]), said.get("id"));
}
