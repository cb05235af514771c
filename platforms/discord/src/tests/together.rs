//! Tests of the whole adapter against the fake Discord, which was written independently from its documentation.

use std::time::Duration;

use nightdesk_fake_discord::{FakeDiscord, Fault, Kind, Order, Settings};
use nightdesk_port::{
    CAPABILITY_GONE, Deliver, DeliverError, HistoryRange, Listen, PlatformEvent, SessionBudget,
    VisibilitySource,
};
use nightdesk_types::event::{ChatType, Content, Message, Source};
use nightdesk_types::send::{Op, PromptOption};
use nightdesk_types::{Send, Visibility};
use serde_json::{Map, Value, json};

use super::*;
use crate::DiscordUrls;

mod faults;
mod ops;
mod sockets;

const BOT: u64 = 4242;
const ANN: u64 = 900;
const BOB: u64 = 901;
const GUILD: u64 = 70;
const GENERAL: u64 = 500;
const HIDDEN: u64 = 501;
const ROLE: u64 = 71;

struct Stage {
    fake: FakeDiscord,
    bot: Bot,
    discord: Discord,
    cursor: Option<String>,
}

async fn stage() -> Stage {
    let settings = Settings { identify_every: Duration::ZERO, ..Settings::default() };
    let fake = FakeDiscord::start_with(settings).await.unwrap();
    fake.bot(TOKEN, BOT, "desk");
    fake.person(ANN, "ann");
    fake.person(BOB, "bob");
    let overwrite = |id: u64, (allow, deny): (u64, u64)| {
        let kind = u8::from(id == BOT);
        json!({ "id": id.to_string(), "type": kind, "allow": allow.to_string(), "deny": deny.to_string() })
    };
    let view = 1 << 10;
    fake.guild(&json!({
        "id": GUILD.to_string(), "name": "Home", "owner_id": "1",
        "roles": [{ "id": ROLE.to_string(), "permissions": "0" }],
        "members": [
            { "user": { "id": ANN.to_string() }, "roles": [ROLE.to_string()] },
            { "user": { "id": BOB.to_string() }, "roles": [] },
        ],
        "channels": [
            { "id": GENERAL.to_string(), "name": "general" },
            { "id": HIDDEN.to_string(), "name": "hidden", "permission_overwrites": [
                overwrite(GUILD, (0, view)), overwrite(ROLE, (view, 0)), overwrite(BOT, (view, 0)),
            ] },
        ],
    }));
    fake.join(TOKEN, GUILD);
    let discord = node(&fake);
    Stage { fake, bot: bot(), discord, cursor: None }
}

/// Creates one of several nodes.
fn node(fake: &FakeDiscord) -> Discord {
    node_with(fake, Arc::new(UnlimitedBudget))
}

fn node_with(fake: &FakeDiscord, budget: Arc<dyn SessionBudget>) -> Discord {
    let (api, gateway) = (fake.url(), fake.gateway_url());
    let at = DiscordUrls { api: &api, gateway: &gateway, cdn: &api };
    Discord::open(at, Arc::new(FakeClock::default()), budget).unwrap()
}

impl Stage {
    /// Listens until a message arrives, and stores every event as the desk does.
    async fn heard(&mut self) -> Vec<PlatformEvent> {
        loop {
            let heard = self.discord.listen(&self.bot, self.cursor.as_deref()).await.unwrap();
            self.cursor = heard.last().map(|one| one.cursor.clone()).or(self.cursor.take());
            if heard.iter().any(|one| !matches!(one.event, Ok(None))) {
                return heard;
            }
        }
    }

    /// Listens until the bot is connected. Earlier messages are not sent.
    async fn arrive(&mut self) {
        while self.cursor.is_none() {
            let heard = self.discord.listen(&self.bot, None).await.unwrap();
            self.cursor = heard.last().map(|one| one.cursor.clone());
        }
    }

    /// Listens until this number of messages arrived, and returns their texts.
    async fn texts(&mut self, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.len() < count {
            texts.extend(said(&self.heard().await).into_iter().map(|(_, message)| message.text));
        }
        texts
    }

    async fn deliver(&self, channel: u64, op: Op) -> Result<nightdesk_port::Receipt, DeliverError> {
        self.discord.deliver(&self.bot, &to(channel, op)).await
    }
}

fn to(channel: u64, op: Op) -> Send {
    Send { chat_id: channel.to_string(), op, metadata: Map::new() }
}

fn text(content: &str) -> Op {
    Op::Send { content: content.to_owned(), reply_to: None }
}

/// Returns the messages and their places.
fn said(heard: &[PlatformEvent]) -> Vec<(Source, Message)> {
    let said = |heard: &PlatformEvent| {
        let draft = heard.event.as_ref().ok()?.as_ref()?;
        let Content::Message(message) = &draft.content else { panic!("a message") };
        Some((draft.source.clone(), (**message).clone()))
    };
    heard.iter().filter_map(said).collect()
}

#[tokio::test]
async fn somebody_speaks_and_is_answered() {
    let mut stage = stage().await;
    stage.arrive().await;
    let question = stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> are you there?"));
    let (source, message) = said(&stage.heard().await).remove(0);
    assert_eq!(message.text, "are you there?");
    assert!(message.mentions_bot);
    let place = (source.chat_type, source.scope_id.as_deref(), source.chat_name.as_deref());
    assert_eq!(place, (ChatType::Group, Some("70"), Some("general")));

    let reply = Op::Send { content: "I am".to_owned(), reply_to: message.message_id };
    let send = to(GENERAL, reply);
    let first = stage.discord.deliver_as(&stage.bot, &send, "one").await.unwrap();
    let again = stage.discord.deliver_as(&stage.bot, &send, "one").await.unwrap();
    assert_eq!(first, again, "the same name is the same message");
    let messages = stage.fake.messages(GENERAL);
    assert_eq!(messages.len(), 2);
    let reference = &messages[1]["message_reference"]["message_id"];
    assert_eq!(*reference, json!(question.to_string()));
    assert_eq!(messages[1]["mentions"], json!([]), "nobody is called");
}

#[tokio::test]
async fn a_thread_has_its_place_also_for_who_was_not_told_of_it() {
    let mut stage = stage().await;
    stage.arrive().await;
    let thread = stage.fake.thread(GENERAL, ANN, None, "plans");
    stage.fake.say(ANN, thread, "first");
    let (told, _) = said(&stage.heard().await).remove(0);
    assert_eq!(told.chat_type, ChatType::Thread);
    assert_eq!(told.parent_chat_id, Some(GENERAL.to_string()));

    // Another node continues without a cache.
    stage.discord.leave(&stage.bot).await;
    stage.discord = node(&stage.fake);
    stage.fake.say(ANN, thread, "second");
    let (asked, _) = said(&stage.heard().await).remove(0);
    assert_eq!(Source { message_id: None, ..asked }, Source { message_id: None, ..told });
}

#[tokio::test]
async fn who_sees_what_follows_what_happens() {
    let mut stage = stage().await;
    stage.arrive().await;
    stage.fake.say(ANN, HIDDEN, "psst");
    let (source, _) = said(&stage.heard().await).remove(0);
    let sight = |stage: &Stage, who: u64| {
        stage.discord.visibility_of(&stage.bot, &source, &who.to_string())
    };
    assert_eq!(sight(&stage, ANN), Visibility::Sees);
    assert_eq!(sight(&stage, BOB), Visibility::Blind);

    stage.fake.member(GUILD, BOB, &[ROLE]);
    stage.fake.leave(GUILD, ANN);
    stage.fake.say(BOB, GENERAL, "tick");
    stage.heard().await;
    assert_eq!((sight(&stage, ANN), sight(&stage, BOB)), (Visibility::Blind, Visibility::Sees));

    // Another node continues and requests the data.
    stage.discord.leave(&stage.bot).await;
    stage.discord = node(&stage.fake);
    for (who, want) in [(ANN, Visibility::Blind), (BOB, Visibility::Sees)] {
        assert_eq!(sight(&stage, who), Visibility::Unknown);
        stage.discord.fetch_missing(&stage.bot, &source, &who.to_string()).await;
        assert_eq!(sight(&stage, who), want, "{who}");
    }
}

#[tokio::test]
async fn what_is_told_meanwhile_is_newer_than_what_was_asked_for() {
    let stage = stage().await;
    let route = "GET /guilds/{}/members/{}";
    stage.fake.fault(Fault::at(route, 1, Kind::Slow(Duration::from_millis(500))));
    let source = Source {
        chat_id: HIDDEN.to_string(),
        scope_id: Some(GUILD.to_string()),
        ..Source::default()
    };
    let ann = ANN.to_string();
    let told = async {
        let is_asked = |fake: &FakeDiscord| !fake.calls_of("GET /channels/{}").is_empty();
        assert!(stage.fake.until(Duration::from_secs(5), is_asked).await);
        let lost = json!({ "guild_id": GUILD.to_string(), "role_id": ROLE.to_string() });
        stage.discord.guilds.apply_event(
            stage.bot.id,
            "GUILD_ROLE_DELETE",
            lost.to_string().as_bytes(),
        );
    };
    let ((), ()) = tokio::join!(stage.discord.fetch_missing(&stage.bot, &source, &ann), told);
    assert_eq!(
        stage.discord.visibility_of(&stage.bot, &source, &ann),
        Visibility::Unknown,
        "it may be old"
    );
    stage.discord.fetch_missing(&stage.bot, &source, &ann).await;
    assert_eq!(stage.discord.visibility_of(&stage.bot, &source, &ann), Visibility::Sees);
}

#[tokio::test]
async fn a_command_is_taken_when_it_is_stored_and_answered_with_its_token() {
    let mut stage = stage().await;
    stage.arrive().await;
    let id = stage.fake.command(
        BOT,
        ANN,
        GENERAL,
        (
            "ask",
            &json!([
                { "name": "question", "type": 3, "value": "what is new?" },
            ]),
        ),
    );
    let heard = stage.heard().await;
    assert_eq!(said(&heard)[0].1.text, "/ask what is new?");
    let lent = heard.iter().find_map(|one| one.capability.clone()).unwrap();
    let answered = |fake: &FakeDiscord| {
        fake.interactions().into_iter().find(|one| one.id == id).unwrap().answered
    };
    assert_eq!(answered(&stage.fake), None, "nothing is promised yet");

    stage.fake.say(ANN, GENERAL, "hello?");
    stage.heard().await;
    let is_taken = |fake: &FakeDiscord| answered(fake) == Some(5);
    assert!(stage.fake.until(Duration::from_secs(5), is_taken).await);
    let follow_up = to(
        GENERAL,
        Op::FollowUp {
            session_key: String::new(),
            kind: lent.kind.clone(),
            content: "nothing @everyone".to_owned(),
        },
    );
    stage.discord.follow_up(&stage.bot, &follow_up, &lent.secret).await.unwrap();
    let last = stage.fake.messages(GENERAL);
    assert!(last.iter().any(|message| message["content"] == "nothing @everyone"));
    assert!(last.iter().all(|message| message["mention_everyone"] != true), "T17");

    stage.fake.end_interaction(id);
    let gone = stage.discord.follow_up(&stage.bot, &follow_up, &lent.secret).await.unwrap_err();
    assert!(
        matches!(gone, DeliverError::Refused { platform_code } if platform_code == CAPABILITY_GONE)
    );
}

#[tokio::test]
async fn a_question_is_answered_by_a_button() {
    let mut stage = stage().await;
    stage.arrive().await;
    let option =
        |id: &str| PromptOption { id: id.to_owned(), label: id.to_uppercase(), style: None };
    let prompt = Op::Prompt {
        content: "Shall I?".to_owned(),
        prompt_kind: "approval".to_owned(),
        prompt_id: "a1b2c3.d4e5f607".to_owned(),
        options: vec![option("yes"), option("no")],
        reply_to: None,
        timeout_s: None,
    };
    let made = stage.deliver(GENERAL, prompt).await.unwrap().message_id.unwrap();
    stage.fake.press(ANN, GENERAL, made.parse().unwrap(), "hp1:a1b2c3.d4e5f607:yes");
    let (source, message) = said(&stage.heard().await).remove(0);

    let response = message.prompt_response.unwrap();
    assert_eq!((response.option_id.as_str(), response.label.as_deref()), ("yes", Some("YES")));
    assert_eq!(response.prompt_message_id, Some(made));
    assert_eq!(source.user_id, Some(ANN.to_string()));
}

#[tokio::test]
async fn what_an_agent_does_is_done() {
    let stage = stage().await;
    let made = stage.deliver(GENERAL, text("hi")).await.unwrap().message_id.unwrap();
    let id: u64 = made.parse().unwrap();
    let edit = Op::Edit { message_id: made.clone(), content: "ho".to_owned() };
    stage.deliver(GENERAL, edit).await.unwrap();
    let react = |remove| Op::React { message_id: made.clone(), emoji: "👍".to_owned(), remove };
    stage.deliver(GENERAL, react(false)).await.unwrap();
    assert_eq!(stage.fake.message(GENERAL, id).unwrap()["content"], "ho");
    stage.deliver(GENERAL, react(true)).await.unwrap();
    stage.deliver(GENERAL, Op::Typing { content: None }).await.unwrap();
    let open = Op::ThreadCreate { thread_name: "plans".to_owned() };
    let thread = stage.deliver(GENERAL, open).await.unwrap().thread_id.unwrap();
    let metadata = json!({ "thread_id": thread }).as_object().unwrap().clone();
    let send = Send { metadata, ..to(GENERAL, text("in here")) };
    stage.discord.deliver(&stage.bot, &send).await.unwrap();
    assert_eq!(stage.fake.messages(thread.parse().unwrap()).last().unwrap()["content"], "in here");
    let rename = Op::ThreadRename { message_id: thread.clone(), thread_name: "done".to_owned() };
    let metadata = json!({ "only_if_connector_created": true, "only_if_current_name": "plans" });
    let metadata = metadata.as_object().unwrap().clone();
    let rename = Send { metadata, ..to(GENERAL, rename) };
    stage.discord.deliver(&stage.bot, &rename).await.unwrap();
    let info = stage.deliver(thread.parse().unwrap(), Op::GetChatInfo).await.unwrap().chat.unwrap();
    assert_eq!((info.name.as_str(), info.kind.as_str()), ("done", "thread"));
    stage.deliver(GENERAL, Op::Delete { message_id: made.clone() }).await.unwrap();
    assert_eq!(stage.fake.message(GENERAL, id), None);
    stage.deliver(GENERAL, Op::Delete { message_id: made }).await.unwrap();
}

#[tokio::test]
async fn what_fell_into_a_gap_is_found() {
    let mut stage = stage().await;
    stage.arrive().await;
    let before = stage.fake.say(ANN, GENERAL, "before");
    stage.heard().await;
    for text in ["one", "two"] {
        stage.fake.say(BOB, GENERAL, text);
    }
    let channel = GENERAL.to_string();
    let found = stage
        .discord
        .backfill(&stage.bot, &channel, HistoryRange::After(&before.to_string()))
        .await
        .unwrap();
    let live = stage.heard().await;
    let keys = |heard: &[PlatformEvent]| -> Vec<Value> {
        let drafts = heard.iter().filter_map(|one| one.event.as_ref().ok()?.as_ref());
        drafts.map(|draft| json!([draft.key, draft.source.scope_id])).collect()
    };
    assert_eq!(keys(&found).len(), 2);
    assert_eq!(keys(&found)[0], keys(&live)[0], "it is the same event, whichever way it came");
}
