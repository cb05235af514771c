//! Tests Telegram on a whole desk: messages on the fake reach the agent under every fault.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;
use std::time::Duration;

use nightdesk_desk::{Adapters, RateSettings};
use nightdesk_fake_telegram::{FakeTelegram, Fault, Kind};
use nightdesk_register::BotDraft;
use nightdesk_telegram::{SECRET_HEADER, Telegram, webhook_secret};
use nightdesk_testdesk::{Household, TestDesk};
use nightdesk_types::{BotId, SystemClock};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use tokio::time::timeout;

mod author_rate;
mod batches;
mod context;
mod faults;
mod files;
mod hearing;
mod odd;
mod posts;
mod presses;
mod waking;

const TOKEN: &str = "4242:the-key";
const ANN: i64 = 900;
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the condition holds.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let so = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(timeout(PATIENCE, so).await.is_ok(), "not in time: {what}");
}

struct Stage {
    fake: FakeTelegram,
    desk: TestDesk,
    household: Household,
    bot: BotId,
    path: String,
}

async fn stage(settings: Value) -> Stage {
    stage_limited(settings, RateSettings::default()).await
}

async fn stage_limited(settings: Value, rates: RateSettings) -> Stage {
    let fake = FakeTelegram::open().await;
    fake.bot(TOKEN, "desk_bot");
    let clock = Arc::new(SystemClock::start());
    let telegram = Telegram::open(&fake.url(), clock).expect("an address");
    let platforms = Adapters::from([("telegram".to_owned(), Arc::new(telegram) as _)]);
    let desk = TestDesk::open_limited(platforms, rates).await;
    let household = desk.household("ann", "gw").await;
    let draft = BotDraft {
        platform: "telegram".to_owned(),
        adapter: "telegram".to_owned(),
        handle: "desk_bot".to_owned(),
        settings,
        key: Some(Key::new(TOKEN.to_owned())),
    };
    let (bot, path) = desk.bot(&household, draft, &ANN.to_string()).await;
    Stage { fake, desk, household, bot, path }
}

impl Stage {
    fn says(&self, texts: impl IntoIterator<Item = usize>) {
        for text in texts {
            self.fake.says(TOKEN, ANN, &text.to_string());
        }
    }

    async fn entries(&self) -> usize {
        usize::try_from(self.desk.head_of(&self.household).await.get()).expect("not negative")
    }

    /// Makes Telegram post the bot's updates to the desk, or to another URL.
    async fn post_to(&self, url: &str) {
        let account =
            self.desk.desk.stops.accounts.find_by_id(self.bot).await.expect("find the bot");
        let account = account.expect("it was entered");
        let secret = webhook_secret(&account.bot).expect("it has a key");
        let webhook = json!({ "url": url, "secret_token": secret.with(str::to_owned) });
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let set = client.post(format!("{}/bot{TOKEN}/setWebhook", self.fake.url())).json(&webhook);
        assert!(set.send().await.expect("it answers").status().is_success());
    }

    /// Returns the URL of the bot's webhook.
    fn hook(&self) -> String {
        format!("http://{}/hooks/{}", self.desk.address(), self.path)
    }

    /// Waits until the agent has this many entries, and Telegram has no unconfirmed update.
    async fn has(&self, entries: usize) {
        until("what was said comes", async || {
            self.entries().await >= entries && self.fake.pending(TOKEN) == 0
        })
        .await;
        assert_eq!(self.entries().await, entries, "nothing comes twice");
    }
}

#[tokio::test]
async fn the_descriptor_has_telegrams_emoji_and_ids_may_be_hidden() {
    let stage = stage(json!({})).await;
    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("telegram").await;

    let descriptor = gateway.hear_frame("descriptor").await["descriptor"].clone();
    assert_eq!(descriptor["emoji"], json!("✈️"));
    assert_eq!(descriptor["pii_safe"], json!(true));
}

#[tokio::test]
async fn what_is_said_comes_to_the_agent_and_its_answer_back() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("telegram").await;
    gateway.hear_frame("descriptor").await;
    stage.says([1]);

    let entry = gateway.hear_frame("inbound").await;
    assert_eq!(entry["event"]["text"], json!("1"));
    assert_eq!(entry["event"]["source"]["platform"], json!("telegram"));
    gateway.ack(&entry["bufferId"]).await;
    let action =
        json!({ "op": "send", "chat_id": "900", "content": "*so* it is.", "metadata": {} });
    let answer = json!({
        "type": "outbound", "requestId": "r1", "action": action, "platform": "telegram",
    });
    gateway.say(&answer).await;
    let result = gateway.hear_frame("outbound_result").await;
    assert_eq!(result["result"]["success"], json!(true), "{result}");
    let calls = stage.fake.calls();
    let sent = calls.iter().find(|call| call.method == "sendMessage").expect("it was sent");
    assert_eq!(sent.answered.as_ref().expect("it was done")["text"], json!("so it is."));
}

#[tokio::test]
async fn who_was_replaced_lets_go_and_nothing_is_lost() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    stage.says(0..3);
    stage.has(3).await;

    let store = stage.desk.desk.stops.inbox.store();
    let taken = store.take_source(stage.household.scope, stage.bot, "updates").await;
    let (_, cursor) = taken.expect("take the source");
    assert!(cursor.is_some_and(|cursor| cursor.starts_with("4@")), "it was committed");
    stage.says(3..6);
    stage.has(6).await;
}

#[tokio::test]
async fn a_node_that_stops_does_not_wait_for_telegram() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    stage.says(0..1);
    stage.has(1).await;

    let took = stage.desk.stop().await;
    assert!(took < Duration::from_secs(5), "it took {took:?}");
}
