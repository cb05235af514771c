//! Tests of sends against a stub of Discord.

use nightdesk_port::ChatInfo;
use nightdesk_types::send::PromptOption;
use serde_json::{Map, Value, json};

use super::*;
use crate::tests::stub::Stub;
use crate::tests::{bot, discord_at};

mod errors;
mod logs;
mod ops;

pub(super) const CHANNEL: &str = "500";

pub(super) fn to(chat: &str, op: Op) -> Send {
    Send { chat_id: chat.to_owned(), op, metadata: Map::new() }
}

pub(super) fn in_thread(thread: &str, op: Op) -> Send {
    let metadata = json!({ "thread_id": thread }).as_object().unwrap().clone();
    Send { metadata, ..to(CHANNEL, op) }
}

pub(super) fn text(content: &str) -> Op {
    Op::Send { content: content.to_owned(), reply_to: None }
}

pub(super) fn code(result: Result<Receipt, DeliverError>) -> String {
    match result {
        Err(DeliverError::Refused { platform_code }) => platform_code,
        other => panic!("{other:?}"),
    }
}
