//! Serves channels and threads: read, typing, rename, open.

use serde_json::{Value, json};

use super::{Answered, Refusal, done, id_of, messages, need, nothing};
use crate::request::Asked;
use crate::world::permissions::{
    CREATE_PRIVATE_THREADS, CREATE_PUBLIC_THREADS, MANAGE_THREADS, SEND_MESSAGES,
};
use crate::world::threads::PRIVATE_THREAD;
use crate::world::{World, number};

const THREAD_NAME_MAX: usize = 100;
const MANAGE_CHANNELS: u64 = 1 << 4;
const PUBLIC_THREAD: u64 = 11;
const WRONG_KIND: &str = "Cannot execute action on this channel type";

pub(super) fn answer(
    world: &mut World,
    bot: u64,
    channel: u64,
    call: (&str, &[&str]),
    asked: &Asked,
) -> Answered {
    match call {
        ("GET", []) => done(world.place(channel).unwrap_or_default()),
        ("PATCH", []) => change(world, bot, channel, asked),
        ("POST", ["typing"]) => {
            need(world, bot, channel, SEND_MESSAGES)?;
            nothing()
        }
        ("GET", ["thread-members"]) => {
            let people = world.people(channel).into_iter();
            done(people.map(|user| world.thread_member(channel, user)).collect())
        }
        (method @ ("PUT" | "DELETE"), ["thread-members", who]) => {
            let user = if *who == "@me" { bot } else { id_of(who)? };
            let set = world.set_thread_member(channel, user, method == "PUT");
            set.ok_or_else(|| Refusal::of(400, 50_024, WRONG_KIND)).and_then(|()| nothing())
        }
        ("POST", ["threads"]) => open(world, bot, channel, None, asked),
        ("GET", ["messages"]) => messages::list(world, bot, channel, asked),
        ("POST", ["messages"]) => messages::send(world, bot, channel, asked),
        (method, ["messages", id, rest @ ..]) => {
            about_message(world, bot, (channel, id_of(id)?), (method, rest), asked)
        }
        _ => Err(Refusal::not_found()),
    }
}

fn about_message(
    world: &mut World,
    bot: u64,
    at: (u64, u64),
    call: (&str, &[&str]),
    asked: &Asked,
) -> Answered {
    match call {
        ("GET", []) => messages::get(world, at.0, at.1),
        ("PATCH", []) => messages::edit(world, bot, at, asked),
        ("DELETE", []) => messages::delete(world, bot, at),
        ("POST", ["threads"]) => open(world, bot, at.0, Some(at.1), asked),
        (method @ ("PUT" | "DELETE"), ["reactions", emoji, "@me"]) => {
            messages::react(world, bot, at, (method, emoji))
        }
        _ => Err(Refusal::not_found()),
    }
}

/// Returns the direct channel with a person.
pub(super) fn direct(world: &mut World, bot: u64, asked: &Asked) -> Answered {
    let user = asked.number("recipient_id");
    let user = user.ok_or_else(|| Refusal::of(400, 50_033, "Invalid Recipient(s)"))?;
    if world.is_bot(user) {
        return Err(Refusal::of(400, 50_007, "Cannot send messages to this user"));
    }
    let channel = world.direct(bot, user);
    done(world.place(channel).unwrap_or_default())
}

fn open(
    world: &mut World,
    bot: u64,
    channel: u64,
    message: Option<u64>,
    asked: &Asked,
) -> Answered {
    let name = name(asked)?.ok_or_else(|| required("name"))?;
    let else_ = if message.is_some() { PUBLIC_THREAD } else { PRIVATE_THREAD };
    let kind = asked.number("type").filter(|_| message.is_none()).unwrap_or(else_);
    let is_private = kind == PRIVATE_THREAD;
    need(
        world,
        bot,
        channel,
        if is_private { CREATE_PRIVATE_THREADS } else { CREATE_PUBLIC_THREADS },
    )?;
    if let Some(message) = message {
        let known = world.messages.get(&(channel, message)).ok_or_else(Refusal::unknown_message)?;
        if !known["thread"].is_null() {
            let message = "A thread has already been created for this message";
            return Err(Refusal::of(400, 160_004, message));
        }
    }
    let thread = json!({ "name": name, "type": kind });
    let opened = world.open_thread(channel, bot, message, &thread);
    Ok((201, opened.ok_or_else(|| Refusal::of(400, 50_024, WRONG_KIND))?))
}

fn name(asked: &Asked) -> Result<Option<String>, Refusal> {
    match asked.text("name") {
        Some("") => Err(required("name")),
        Some(name) if name.chars().count() > THREAD_NAME_MAX => {
            Err(Refusal::too_long("name", THREAD_NAME_MAX))
        }
        name => Ok(name.map(str::to_owned)),
    }
}

fn required(field: &str) -> Refusal {
    Refusal::form(field, "BASE_TYPE_REQUIRED", "This field is required")
}

/// Changes a channel. The owner of a thread may rename it; everything else needs a permission.
fn change(world: &mut World, bot: u64, channel: u64, asked: &Asked) -> Answered {
    name(asked)?;
    let place = world.channels.get(&channel).cloned().unwrap_or_default();
    let Some(guild) = number(&place["guild_id"]) else {
        return Err(Refusal::of(403, 50_003, "Cannot execute action on a DM channel"));
    };
    if place["thread_metadata"].is_null() {
        need(world, bot, channel, MANAGE_CHANNELS)?;
        world.set_channel(guild, &with_id(&asked.body, channel));
        return done(world.place(channel).unwrap_or_default());
    }
    if number(&place["owner_id"]) != Some(bot) {
        need(world, bot, channel, MANAGE_THREADS)?;
    }
    done(world.change_thread(channel, &asked.body).unwrap_or_default())
}

fn with_id(body: &Value, id: u64) -> Value {
    let mut body = body.clone();
    body["id"] = json!(id.to_string());
    body
}
