//! Checks a bot's message as Discord does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Refusal;
use crate::request::Asked;
use crate::world::messages::mentioned;
use crate::world::permissions::MENTION_EVERYONE;
use crate::world::{World, number};

const CONTENT_MAX: usize = 2_000;
const NONCE_MAX: usize = 25;
const FILES_MAX: usize = 10;
const EMBEDS_MAX: usize = 10;
const ROWS_MAX: usize = 5;
const BUTTONS_IN_ROW_MAX: usize = 5;
const CUSTOM_ID_MAX: usize = 100;
const LABEL_MAX: usize = 80;

/// Fields of a body that are copied unchanged.
const PASSED_ON: [&str; 7] =
    ["content", "embeds", "components", "tts", "flags", "nonce", "message_reference"];

/// Reads a message from a body, and stores its files.
pub(super) fn read(
    world: &mut World,
    bot: u64,
    channel: u64,
    asked: &Asked,
) -> Result<Value, Refusal> {
    check(&asked.body, asked.files.len())?;
    let mut message = json!({});
    for name in PASSED_ON {
        if !asked.body[name].is_null() {
            message[name] = asked.body[name].clone();
        }
    }
    if asked.body["content"].is_null() && asked.body.get("content").is_some() {
        message["content"] = json!("");
    }
    if !asked.files.is_empty() || asked.body["attachments"].is_array() {
        message["attachments"] = attachments(world, channel, asked);
    }
    if message.get("content").is_some() {
        mention(world, (bot, channel), &asked.body, &mut message)?;
    }
    Ok(message)
}

/// Returns true if a message has nothing to show.
pub(super) fn is_empty(message: &Value) -> bool {
    let is_none = |name: &str| message[name].as_array().is_none_or(Vec::is_empty);
    let content = message["content"].as_str().unwrap_or_default();
    content.trim().is_empty() && ["embeds", "components", "attachments"].into_iter().all(is_none)
}

fn check(body: &Value, files: usize) -> Result<(), Refusal> {
    limit(&body["content"], "content", CONTENT_MAX)?;
    limit(&body["nonce"], "nonce", NONCE_MAX)?;
    let many = |name: &str| body[name].as_array().map_or(0, Vec::len);
    let counts = [
        ("embeds", many("embeds"), EMBEDS_MAX),
        ("attachments", many("attachments").max(files), FILES_MAX),
        ("components", many("components"), ROWS_MAX),
    ];
    for (name, count, max) in counts {
        if count > max {
            return Err(Refusal::too_long(name, max));
        }
    }
    check_buttons(&body["components"])
}

fn limit(value: &Value, name: &str, max: usize) -> Result<(), Refusal> {
    let length = value.as_str().map_or(0, |text| text.chars().count());
    if length > max { Err(Refusal::too_long(name, max)) } else { Ok(()) }
}

fn check_buttons(rows: &Value) -> Result<(), Refusal> {
    let mut ids = BTreeSet::new();
    for row in rows.as_array().into_iter().flatten() {
        let buttons = row["components"].as_array().map(Vec::as_slice).unwrap_or_default();
        if buttons.len() > BUTTONS_IN_ROW_MAX {
            return Err(Refusal::too_long("components", BUTTONS_IN_ROW_MAX));
        }
        for button in buttons {
            limit(&button["custom_id"], "custom_id", CUSTOM_ID_MAX)?;
            limit(&button["label"], "label", LABEL_MAX)?;
            if let Some(id) = button["custom_id"].as_str()
                && !ids.insert(id.to_owned())
            {
                let code = "COMPONENT_CUSTOM_ID_DUPLICATED";
                return Err(Refusal::form(
                    "components",
                    code,
                    "Component custom id cannot be duplicated",
                ));
            }
        }
    }
    Ok(())
}

/// Returns the new files, and the previous ones that are to stay.
fn attachments(world: &mut World, channel: u64, asked: &Asked) -> Value {
    let named = asked.body["attachments"].as_array().cloned().unwrap_or_default();
    let is_of = |one: &Value, place: &str| match one["id"].as_str() {
        Some(id) => id == place,
        None => number(&one["id"]).is_some_and(|id| id.to_string() == place),
    };
    let kept = asked.files.iter().map(|file| {
        let said = named.iter().find(|one| is_of(one, &file.place));
        let name = said.and_then(|said| said["filename"].as_str()).unwrap_or(&file.name);
        let mut kept = world.keep_file(channel, name, &file.kind, file.bytes.clone());
        if let Some(description) = said.and_then(|said| said["description"].as_str()) {
            kept["description"] = json!(description);
        }
        kept
    });
    let kept: Vec<Value> = kept.collect();
    let stays = named.into_iter().filter(|one| one["url"].is_string());
    stays.chain(kept).collect()
}

/// Sets the mentions: the users that the text names and `allowed_mentions` permits.
fn mention(
    world: &World,
    (bot, channel): (u64, u64),
    body: &Value,
    message: &mut Value,
) -> Result<(), Refusal> {
    let allowed = &body["allowed_mentions"];
    let text = message["content"].as_str().unwrap_or_default().to_owned();
    let listed = |name: &str| allowed[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let parses = |name: &str| allowed.is_null() || listed("parse").iter().any(|one| one == name);
    if !allowed.is_null() && parses("users") && !listed("users").is_empty() {
        let message = "parse:[\"users\"] and users: [ids...] are mutually exclusive.";
        return Err(Refusal::form(
            "allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
            message,
        ));
    }
    let is_let = |user: &u64| {
        parses("users") || listed("users").iter().any(|one| number(one) == Some(*user))
    };
    let mut people: Vec<u64> = mentioned(&text, "<@").into_iter().filter(is_let).collect();
    let answered = number(&body["message_reference"]["message_id"]);
    let answered = answered.and_then(|id| world.messages.get(&(channel, id)));
    let author = answered.and_then(|message| number(&message["author"]["id"]));
    if allowed.is_null() || allowed["replied_user"] == true {
        people.extend(author);
    }
    people.sort_unstable();
    people.dedup();
    message["mentions"] = people.into_iter().map(|user| world.user(user)).collect();
    let is_to_all = text.contains("@everyone") || text.contains("@here");
    let may = world.may(bot, channel, MENTION_EVERYONE);
    message["mention_everyone"] = json!(is_to_all && parses("everyone") && may);
    Ok(())
}
