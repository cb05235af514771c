//! Implements a bot's messages, and the changes to them.

use serde_json::{Value, json};

use super::{Answered, bad, begun, chat, shown};
use crate::request::Asked;
use crate::world::World;

const TEXT_UTF16_MAX: usize = 4_096;

/// Some of the available reactions.
const REACTIONS: [&str; 8] = ["👍", "👎", "❤", "🔥", "🎉", "👀", "👌", "🤔"];

pub(super) fn message(world: &mut World, token: &str, asked: &Asked) -> Answered {
    let mut message = begun(world, token, asked)?;
    let text = shown(asked, "text", TEXT_UTF16_MAX)?;
    if text.is_empty() {
        return Err(bad("message text is empty"));
    }
    message.insert("text".to_owned(), json!(text));
    Ok(world.keep(Value::Object(message)))
}

/// Checks a draft, which is shown to one person and is no message.
pub(super) fn draft(world: &World, asked: &Asked) -> Answered {
    if chat(world, asked)?["type"] != json!("private") {
        return Err(bad("TEXTDRAFT_PEER_INVALID"));
    }
    if asked.number("draft_id").is_none_or(|id| id == 0) {
        return Err(bad("DRAFT_ID_INVALID"));
    }
    shown(asked, "text", TEXT_UTF16_MAX).map(|_| json!(true))
}

/// Returns the message of a call.
fn found(world: &World, asked: &Asked, missing: &str) -> Answered {
    let place = asked.number("chat_id").zip(asked.number("message_id"));
    let message = place.and_then(|(chat, id)| world.message(chat, id));
    message.cloned().ok_or_else(|| bad(missing))
}

pub(super) fn edit(world: &mut World, token: &str, asked: &Asked) -> Answered {
    let mut message = found(world, asked, "message to edit not found")?;
    if world.bot(token).is_none_or(|bot| message["from"]["id"] != json!(bot.id)) {
        return Err(bad("message can't be edited"));
    }
    let text = shown(asked, "text", TEXT_UTF16_MAX)?;
    if text.is_empty() {
        return Err(bad("message text is empty"));
    }
    if message["text"] == json!(text) {
        return Err(bad(
            "message is not modified: specified new message content and reply markup are exactly the \
             same as a current content and reply markup of the message",
        ));
    }
    message["text"] = json!(text);
    message["edit_date"] = message["date"].clone();
    Ok(world.keep(message))
}

pub(super) fn delete(world: &mut World, asked: &Asked) -> Answered {
    let place = asked.number("chat_id").zip(asked.number("message_id"));
    if place.is_some_and(|(chat, id)| world.forget(chat, id)) {
        return Ok(json!(true));
    }
    Err(bad("message to delete not found"))
}

pub(super) fn react(world: &World, asked: &Asked) -> Answered {
    drop(found(world, asked, "message to react not found")?);
    let reactions = asked.json("reaction").unwrap_or_default();
    let is_known = |one: &Value| one["emoji"].as_str().is_some_and(|one| REACTIONS.contains(&one));
    if reactions.as_array().is_some_and(|all| all.iter().all(is_known)) {
        return Ok(json!(true));
    }
    Err(bad("REACTION_INVALID"))
}

pub(super) fn rename(world: &mut World, asked: &Asked) -> Answered {
    let place = asked.number("chat_id").zip(asked.number("message_thread_id"));
    let opened = place.and_then(|(chat, topic)| world.message(chat, topic)).cloned();
    let opened = opened.filter(|one| one.get("forum_topic_created").is_some());
    let mut opened = opened.ok_or_else(|| bad("message thread not found"))?;
    let name = json!(asked.text("name").unwrap_or_default());
    if opened["forum_topic_created"]["name"] == name {
        return Err(bad("TOPIC_NOT_MODIFIED"));
    }
    opened["forum_topic_created"]["name"] = name;
    world.keep(opened);
    Ok(json!(true))
}

pub(super) fn topic(world: &mut World, token: &str, asked: &Asked) -> Answered {
    let mut message = begun(world, token, asked)?;
    if message["chat"]["is_forum"] != json!(true) {
        return Err(bad("the chat is not a forum"));
    }
    let name = asked.text("name").unwrap_or_default();
    let opened = json!({ "name": name, "icon_color": 7_322_096 });
    message.insert("forum_topic_created".to_owned(), opened.clone());
    let message = world.keep(Value::Object(message));
    let mut topic = opened;
    topic["message_thread_id"] = message["message_id"].clone();
    Ok(topic)
}
