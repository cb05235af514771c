//! Tests of sends against the fake Telegram.

use std::time::Duration;

use nightdesk_fake_telegram::{Called, FakeTelegram, Fault, Kind};
use nightdesk_types::send::PromptOption;
use serde_json::Map;

use super::*;
use crate::tests::{TOKEN, bot, telegram_at};

mod errors;
mod logs;
mod ops;

const ANN: i64 = 900;
const FORUM: i64 = -1002;

pub(super) async fn fake() -> FakeTelegram {
    let fake = FakeTelegram::open().await;
    fake.bot(TOKEN, "desk_bot");
    fake.chat(json!({ "id": ANN, "type": "private", "first_name": "Ann", "last_name": "Lee" }));
    fake.chat(json!({ "id": FORUM, "type": "supergroup", "title": "Forum", "is_forum": true }));
    fake
}

pub(super) async fn deliver(fake: &FakeTelegram, send: &Send) -> Result<Receipt, DeliverError> {
    telegram_at(&fake.url()).deliver(&bot(), send).await
}

pub(super) fn to(chat: i64, op: Op) -> Send {
    Send { chat_id: chat.to_string(), op, metadata: Map::new() }
}

pub(super) fn text(content: &str) -> Op {
    Op::Send { content: content.to_owned(), reply_to: None }
}

/// Returns the last call and its result.
fn last(fake: &FakeTelegram) -> Called {
    fake.calls().pop().expect("a call")
}

fn made(fake: &FakeTelegram) -> Value {
    last(fake).answered.expect("it was done")
}
