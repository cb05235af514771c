//! Handles the first response to an interaction.

use serde_json::{Value, json};

use super::{Answered, Refusal, draft, id_of, nothing};
use crate::request::Asked;
use crate::world::World;
use crate::world::messages::is_ephemeral;

const PONG: u64 = 1;
const MESSAGE: u64 = 4;
const DEFERRED_MESSAGE: u64 = 5;
const DEFERRED_UPDATE: u64 = 6;
const UPDATE: u64 = 7;

/// Flag of a message that waits for its content.
pub(super) const LOADING: u64 = 1 << 7;

pub(super) fn answer(world: &mut World, id: &str, token: &str, asked: &Asked) -> Answered {
    let unknown = || Refusal::of(404, 10_062, "Unknown interaction");
    let id = id_of(id)?;
    let (now, wait) = (world.now(), world.settings.interaction_wait);
    let known = world.interactions.get(&id).filter(|one| one.token == token && !one.is_ended);
    let known = known.ok_or_else(unknown)?;
    if known.answered.is_some() {
        return Err(Refusal::of(400, 40_060, "Interaction has already been acknowledged."));
    }
    if now.saturating_sub(known.at) > wait {
        return Err(unknown());
    }
    let message = take(world, id, asked)?;
    if asked.query.get("with_response").is_none_or(|with| with != "true" && with != "1") {
        return nothing();
    }
    let kind = asked.number("type");
    let is_loading = kind == Some(DEFERRED_MESSAGE);
    Ok((
        200,
        json!({
            "interaction": {
                "id": id.to_string(), "type": world.interactions.get(&id).map(|one| &one.told["type"]),
                "response_message_id": message["id"], "response_message_loading": is_loading,
                "response_message_ephemeral": is_ephemeral(&message),
            },
            "resource": if message.is_null() { Value::Null } else { json!({ "type": kind, "message": message }) },
        }),
    ))
}

/// Executes a first response that came by callback or in a post's answer. Returns the resulting message.
pub(crate) fn take(world: &mut World, id: u64, asked: &Asked) -> Result<Value, Refusal> {
    let kind = asked.number("type");
    let one = world.interactions.get(&id).cloned().ok_or_else(Refusal::not_found)?;
    let data =
        Asked { body: asked.body["data"].clone(), files: asked.files.clone(), ..Asked::default() };
    let (bot, channel) = (one.application, one.channel);
    let message = match kind {
        Some(MESSAGE) => {
            let mut message = draft::read(world, bot, channel, &data)?;
            if draft::is_empty(&message) {
                return Err(Refusal::of(400, 50_006, "Cannot send an empty message"));
            }
            message["interaction_metadata"] = metadata(&one.told);
            world.post(bot, channel, message)
        }
        Some(DEFERRED_MESSAGE) => {
            let flags = data.number("flags").unwrap_or_default() | LOADING;
            let metadata = metadata(&one.told);
            let message = json!({ "flags": flags, "type": 20, "interaction_metadata": metadata });
            world.post(bot, channel, message)
        }
        Some(UPDATE) => {
            let changes = draft::read(world, bot, channel, &data)?;
            world.edit(channel, one.original.unwrap_or_default(), &changes).unwrap_or_default()
        }
        Some(PONG | DEFERRED_UPDATE | 8 | 9) => Value::Null,
        _ => return Err(Refusal::form("type", "BASE_TYPE_CHOICES", "Not a kind of answer")),
    };
    if let Some(one) = world.interactions.get_mut(&id) {
        one.answered = kind;
        one.said.push(message.clone());
        if let Some(said) = message["id"].as_str().and_then(|id| id.parse().ok()) {
            one.original = Some(said);
        }
    }
    Ok(message)
}

fn metadata(told: &Value) -> Value {
    let user = if told["member"].is_null() { &told["user"] } else { &told["member"]["user"] };
    json!({
        "id": told["id"], "type": told["type"], "user": user,
        "authorizing_integration_owners": told["authorizing_integration_owners"],
    })
}
