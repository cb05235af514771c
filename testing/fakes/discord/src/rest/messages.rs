//! Serves messages of a channel: read, send, edit, delete, react.

use serde_json::{Value, json};

use super::{Answered, Refusal, done, draft, need, nothing};
use crate::request::{Asked, File};
use crate::world::messages::is_ephemeral;
use crate::world::permissions::{
    ADD_REACTIONS, ATTACH_FILES, MANAGE_MESSAGES, READ_MESSAGE_HISTORY, SEND_MESSAGES,
    SEND_MESSAGES_IN_THREADS,
};
use crate::world::{World, number};

const LIMIT_MAX: u64 = 100;
const LIMIT_ELSE: u64 = 50;

/// Lists messages, the newest first, up to a limit, before, after or around one.
pub(super) fn list(world: &World, bot: u64, channel: u64, asked: &Asked) -> Answered {
    let limit = asked.asks("limit").unwrap_or(LIMIT_ELSE);
    if !(1..=LIMIT_MAX).contains(&limit) {
        let message = "int value should be between 1 and 100.";
        return Err(Refusal::form("limit", "NUMBER_TYPE_MAX", message));
    }
    let limit = usize::try_from(limit).unwrap_or_default();
    if !world.may(bot, channel, READ_MESSAGE_HISTORY) {
        return done(json!([]));
    }
    let all = world.messages.range((channel, 0)..=(channel, u64::MAX));
    let all = all.filter(|(_, message)| !is_ephemeral(message));
    let all: Vec<(u64, &Value)> = all.map(|((_, id), message)| (*id, message)).collect();
    let from = |id: u64| all.partition_point(|(one, _)| *one < id);
    let (begin, end) = if let Some(after) = asked.asks("after") {
        let begin = from(after.saturating_add(1));
        (begin, begin + limit)
    } else if let Some(around) = asked.asks("around") {
        let begin = from(around).saturating_sub(limit / 2);
        (begin, begin + limit)
    } else {
        let end = asked.asks("before").map_or(all.len(), from);
        (end.saturating_sub(limit), end)
    };
    let page = &all[begin.min(all.len())..end.min(all.len())];
    done(page.iter().rev().map(|(_, message)| world.told_now(message)).collect())
}

pub(super) fn get(world: &World, channel: u64, id: u64) -> Answered {
    let message = world.messages.get(&(channel, id)).filter(|message| !is_ephemeral(message));
    done(world.told_now(message.ok_or_else(Refusal::unknown_message)?))
}

pub(super) fn send(world: &mut World, bot: u64, channel: u64, asked: &Asked) -> Answered {
    may_send(world, bot, channel, asked)?;
    let mut message = draft::read(world, bot, channel, asked)?;
    if draft::is_empty(&message) {
        return Err(Refusal::of(400, 50_006, "Cannot send an empty message"));
    }
    if asked.body["enforce_nonce"] == true
        && let Some(before) = sent_before(world, bot, channel, &message["nonce"])
    {
        return done(before);
    }
    let reference = &asked.body["message_reference"];
    let answered = number(&reference["message_id"]);
    if answered.is_some_and(|id| !world.messages.contains_key(&(channel, id))) {
        if reference["fail_if_not_exists"] != false {
            let code = "REPLYING_TO_UNKNOWN_MESSAGE";
            return Err(Refusal::form("message_reference", code, "Unknown message"));
        }
        message["message_reference"] = Value::Null;
    }
    done(world.post(bot, channel, message))
}

fn may_send(world: &World, bot: u64, channel: u64, asked: &Asked) -> Result<(), Refusal> {
    need(
        world,
        bot,
        channel,
        if world.is_thread(channel) { SEND_MESSAGES_IN_THREADS } else { SEND_MESSAGES },
    )?;
    if !asked.files.is_empty() {
        need(world, bot, channel, ATTACH_FILES)?;
        let is_over = |file: &File| file.bytes.len() > world.settings.file_bytes_max;
        if asked.files.iter().any(is_over) {
            return Err(Refusal::of(413, 40_005, "Request entity too large"));
        }
    }
    let is_direct = world.is_direct(channel);
    if is_direct && world.people(channel).iter().any(|user| world.blocked.contains(user)) {
        return Err(Refusal::of(403, 50_007, "Cannot send messages to this user"));
    }
    Ok(())
}

/// Returns the message that a bot sent with a nonce, if there is one.
fn sent_before(world: &World, bot: u64, channel: u64, nonce: &Value) -> Option<Value> {
    let bot = json!(bot.to_string());
    let mut all = world.messages.range((channel, 0)..=(channel, u64::MAX));
    let is_same = |message: &Value| message["nonce"] == *nonce && message["author"]["id"] == bot;
    let (_, message) = all.find(|(_, message)| !nonce.is_null() && is_same(message))?;
    Some(message.clone())
}

fn author(world: &World, channel: u64, id: u64) -> Result<u64, Refusal> {
    let message = world.messages.get(&(channel, id)).ok_or_else(Refusal::unknown_message)?;
    Ok(number(&message["author"]["id"]).unwrap_or_default())
}

pub(super) fn edit(
    world: &mut World,
    bot: u64,
    (channel, id): (u64, u64),
    asked: &Asked,
) -> Answered {
    if author(world, channel, id)? != bot {
        let message = "Cannot edit a message authored by another user";
        return Err(Refusal::of(403, 50_005, message));
    }
    let changes = draft::read(world, bot, channel, asked)?;
    done(world.edit(channel, id, &changes).ok_or_else(Refusal::unknown_message)?)
}

pub(super) fn delete(world: &mut World, bot: u64, (channel, id): (u64, u64)) -> Answered {
    if author(world, channel, id)? != bot {
        if world.is_direct(channel) {
            return Err(Refusal::of(403, 50_003, "Cannot execute action on a DM channel"));
        }
        need(world, bot, channel, MANAGE_MESSAGES)?;
    }
    world.delete(channel, id).ok_or_else(Refusal::unknown_message)?;
    nothing()
}

pub(super) fn react(
    world: &mut World,
    bot: u64,
    (channel, id): (u64, u64),
    (method, emoji): (&str, &str),
) -> Answered {
    author(world, channel, id)?;
    need(world, bot, channel, READ_MESSAGE_HISTORY)?;
    let is_added = method == "PUT";
    if is_added {
        need(world, bot, channel, ADD_REACTIONS)?;
    }
    if emoji.is_ascii() && !emoji.contains(':') {
        return Err(Refusal::of(400, 10_014, "Unknown Emoji"));
    }
    world.react(bot, (channel, id), emoji, is_added).ok_or_else(Refusal::unknown_message)?;
    nothing()
}
