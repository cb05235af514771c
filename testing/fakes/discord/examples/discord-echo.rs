//! Runs our Discord adapter as a program, for Discord itself or for a fake: `discord-echo [API GATEWAY CDN]`, with the
//! bot's token as its input.
//!
//! It answers messages: `edit …` and `delete …` with a message that it then edits or deletes, `ask …` with a button,
//! `file …` with a file, and everything else with the same text.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a trial that cannot go on should stop"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use nightdesk_discord::{Discord, DiscordUrls};
use nightdesk_port::{Bot, Deliver, File, Listen, SessionBudget};
use nightdesk_testkit::memory_file;
use nightdesk_types::event::{Content, Draft};
use nightdesk_types::send::{Op, PromptOption};
use nightdesk_types::{BotId, Send, StoreError, SystemClock, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Map, json};
use uuid::Uuid;

/// Maximum number of sessions in one run. Discord revokes the token of a bot that begins a thousand a day.
const SESSIONS_MAX: u32 = 10;

struct Few(AtomicU32);

#[async_trait]
impl SessionBudget for Few {
    async fn spend(&self, _bot: &Bot) -> Result<bool, StoreError> {
        Ok(self.0.fetch_add(1, Ordering::SeqCst) < SESSIONS_MAX)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let at = match &words[..] {
        [api, gateway, cdn] => DiscordUrls { api, gateway, cdn },
        _ => DiscordUrls::default(),
    };
    let mut key = String::new();
    std::io::stdin().read_line(&mut key).expect("a token");
    let (clock, budget) = (Arc::new(SystemClock::start()), Arc::new(Few(AtomicU32::new(0))));
    let discord = Discord::open(at, clock, budget).expect("addresses");
    let bot = Bot {
        id: BotId::from_uuid(Uuid::nil()),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
        platform: "discord".to_owned(),
        handle: "echo".to_owned(),
        settings: json!({}),
        key: Some(Key::new(key.trim().to_owned())),
        former_keys: Vec::new(),
    };
    let mut cursor: Option<String> = None;
    loop {
        for heard in discord.listen(&bot, cursor.as_deref()).await.expect("it is there") {
            cursor = Some(heard.cursor);
            match heard.event {
                // Messages of other programs get no answer, because they might answer too.
                Ok(Some(draft)) if !draft.source.is_bot => answer(&discord, &bot, draft).await,
                Ok(_) => {}
                Err(error) => println!("{error}"),
            }
        }
    }
}

async fn answer(discord: &Discord, bot: &Bot, draft: Draft) {
    let Content::Message(message) = draft.content else { return };
    let send = |op| Send { chat_id: draft.source.chat_id.clone(), op, metadata: Map::new() };
    let deliver = async |op| {
        let done = discord.deliver(bot, &send(op)).await.expect("it is done");
        done.message_id.unwrap_or_default()
    };
    if let Some(press) = message.prompt_response {
        deliver(say(format!("pressed {}", press.option_id))).await;
        return;
    }
    let (word, rest) = message.text.split_once(' ').unwrap_or((&message.text, ""));
    match word {
        "edit" => {
            let message_id = deliver(say("to be edited".to_owned())).await;
            deliver(Op::Edit { message_id, content: rest.to_owned() }).await;
        }
        "delete" => {
            let message_id = deliver(say("to be deleted".to_owned())).await;
            deliver(Op::Delete { message_id }).await;
        }
        "ask" => drop(deliver(ask(rest)).await),
        "file" => {
            let [mime, filename] = ["text/plain", "words.txt"].map(|text| Some(text.to_owned()));
            let file = File { mime, filename, ..memory_file(rest) };
            let done = discord.upload(bot, &send(media()), &file, &draft.key).await;
            done.expect("it is done");
        }
        _ => drop(deliver(say(message.text.clone())).await),
    }
}

const fn say(content: String) -> Op {
    Op::Send { content, reply_to: None }
}

fn media() -> Op {
    Op::SendMedia {
        media_kind: "document".to_owned(),
        source_url: String::new(),
        content: String::new(),
        reply_to: None,
        filename: None,
    }
}

fn ask(question: &str) -> Op {
    Op::Prompt {
        content: question.to_owned(),
        prompt_kind: "approval".to_owned(),
        prompt_id: "a1.b2".to_owned(),
        options: vec![PromptOption { id: "yes".to_owned(), label: "Yes".to_owned(), style: None }],
        reply_to: None,
        timeout_s: None,
    }
}
