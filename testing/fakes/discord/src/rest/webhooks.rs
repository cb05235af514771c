//! Serves follow-up messages to an interaction while its token is valid.

use serde_json::{Value, json};

use super::callback::LOADING;
use super::{Answered, Refusal, done, draft, id_of, nothing};
use crate::request::Asked;
use crate::world::interactions::Interaction;
use crate::world::{World, number};

pub(super) fn answer(
    world: &mut World,
    (method, application, token): (&str, &str, &str),
    rest: &[&str],
    asked: &Asked,
) -> Answered {
    let one = known(world, id_of(application)?, token)?;
    if let ("POST", []) = (method, rest) {
        return follow_up(world, &one, asked);
    }
    let ["messages", which] = rest else { return Err(Refusal::not_found()) };
    let id = if *which == "@original" { one.original } else { Some(id_of(which)?) };
    let at = (one.channel, id.ok_or_else(Refusal::unknown_message)?);
    let is_there = world.messages.contains_key(&at);
    match method {
        _ if !is_there => Err(Refusal::unknown_message()),
        "GET" => done(world.messages.get(&at).cloned().unwrap_or_default()),
        "PATCH" => {
            let changes = draft::read(world, one.application, one.channel, asked)?;
            done(change(world, &one, at, changes))
        }
        "DELETE" => {
            world.delete(at.0, at.1);
            nothing()
        }
        _ => Err(Refusal::not_found()),
    }
}

/// Returns the interaction of a valid token, if it was answered.
fn known(world: &mut World, application: u64, token: &str) -> Result<Interaction, Refusal> {
    let unknown = || Refusal::of(404, 10_015, "Unknown Webhook");
    let (now, life) = (world.now(), world.settings.interaction_life);
    let one = world.interaction_of(token).cloned();
    let one = one.filter(|one| one.application == application).ok_or_else(unknown)?;
    if one.is_ended || now.saturating_sub(one.at) > life {
        return Err(Refusal::of(401, 50_027, "Invalid Webhook Token"));
    }
    one.answered.is_some().then_some(one).ok_or_else(unknown)
}

/// Sends a follow-up. If the first response still waits for its content, this is its content.
fn follow_up(world: &mut World, one: &Interaction, asked: &Asked) -> Answered {
    let (bot, channel) = (one.application, one.channel);
    let mut message = draft::read(world, bot, channel, asked)?;
    if draft::is_empty(&message) {
        return Err(Refusal::of(400, 50_006, "Cannot send an empty message"));
    }
    let waits = one.original.filter(|id| {
        let original = world.messages.get(&(channel, *id));
        original.is_some_and(|original| flags(original) & LOADING != 0)
    });
    if let Some(waits) = waits {
        return done(change(world, one, (channel, waits), message));
    }
    message["webhook_id"] = json!(bot.to_string());
    message["application_id"] = json!(bot.to_string());
    let said = world.post(bot, channel, message);
    note(world, one.id, &said);
    done(said)
}

fn change(world: &mut World, one: &Interaction, at: (u64, u64), mut new: Value) -> Value {
    let before = world.messages.get(&at).map(flags).unwrap_or_default();
    new["flags"] = json!(before & !LOADING);
    let changed = world.edit(at.0, at.1, &new).unwrap_or_default();
    note(world, one.id, &changed);
    changed
}

fn flags(message: &Value) -> u64 {
    number(&message["flags"]).unwrap_or_default()
}

fn note(world: &mut World, id: u64, said: &Value) {
    if let Some(one) = world.interactions.get_mut(&id) {
        one.said.push(said.clone());
    }
}
