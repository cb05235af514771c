//! Runs our Telegram adapter as a program, for a third-party fake or for Telegram itself: `telegram-echo URL HANDLE`,
//! with the bot's token as its input.
//!
//! It polls for messages and answers them: `edit …` and `delete …` with a message that it then edits or deletes,
//! `ask …` with buttons, and everything else with the same text.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a trial that cannot go on should stop"
)]

use std::sync::Arc;
use std::time::Duration;

use nightdesk_port::{Bot, Deliver, Listen};
use nightdesk_telegram::Telegram;
use nightdesk_types::event::{Content, Draft};
use nightdesk_types::send::{Op, PromptOption};
use nightdesk_types::{BotId, Send, SystemClock, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Map, json};
use uuid::Uuid;

const PAUSE: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, handle] = words.try_into().expect("an address and a handle");
    let mut key = String::new();
    std::io::stdin().read_line(&mut key).expect("a token");
    let telegram = Telegram::open(&url, Arc::new(SystemClock::start())).expect("an address");
    let bot = Bot {
        id: BotId::from_uuid(Uuid::nil()),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
        platform: "telegram".to_owned(),
        handle,
        settings: json!({}),
        key: Some(Key::new(key.trim().to_owned())),
        former_keys: Vec::new(),
    };
    let mut cursor: Option<String> = None;
    loop {
        for heard in telegram.listen(&bot, cursor.as_deref()).await.expect("it is there") {
            cursor = Some(heard.cursor);
            match heard.event {
                Ok(Some(draft)) => answer(&telegram, &bot, draft).await,
                other => println!("{other:?}"),
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn answer(telegram: &Telegram, bot: &Bot, draft: Draft) {
    let Content::Message(message) = draft.content else { return };
    let deliver = async |op| {
        let send = Send { chat_id: draft.source.chat_id.clone(), op, metadata: Map::new() };
        telegram.deliver(bot, &send).await.expect("it is done").message_id.unwrap_or_default()
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
        _ => drop(deliver(say(message.text.clone())).await),
    }
}

const fn say(content: String) -> Op {
    Op::Send { content, reply_to: None }
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
