//! Serves guilds.

use serde_json::{Value, json};

use super::{Answered, Refusal, done, id_of};
use crate::world::permissions::VIEW_CHANNEL;
use crate::world::{World, number};

pub(super) fn answer(world: &World, bot: u64, guild: u64, call: (&str, &[&str])) -> Answered {
    if world.member(guild, bot).is_none() {
        return Err(Refusal::of(404, 10_004, "Unknown Guild"));
    }
    match call {
        ("GET", []) => done(world.guild(guild).unwrap_or_default()),
        ("GET", ["roles"]) => done(json!(world.roles(guild))),
        ("GET", ["channels"]) => done(
            world.places_of(guild).filter(|place| place["thread_metadata"].is_null()).collect(),
        ),
        ("GET", ["threads", "active"]) => done(threads(world, bot, guild)),
        ("GET", ["members", user]) => {
            let member = world.member(guild, id_of(user)?);
            done(member.cloned().ok_or_else(|| Refusal::of(404, 10_007, "Unknown Member"))?)
        }
        ("GET", ["members"]) => {
            let members = world.guilds.get(&guild).map(|guild| guild.members.values().cloned());
            done(members.into_iter().flatten().collect())
        }
        _ => Err(Refusal::not_found()),
    }
}

fn threads(world: &World, bot: u64, guild: u64) -> Value {
    let is_open = |thread: &Value| {
        let sees = number(&thread["id"]).is_some_and(|id| world.may(bot, id, VIEW_CHANNEL));
        thread["thread_metadata"]["archived"] == false && sees
    };
    let threads: Value = world.places_of(guild).filter(is_open).collect();
    json!({ "threads": threads, "members": [] })
}

/// Returns the guilds of a bot.
pub(super) fn mine(world: &World, bot: u64) -> Value {
    let guilds = world.guilds.iter().filter(|(_, guild)| guild.members.contains_key(&bot));
    let told = guilds.map(|(id, guild)| {
        json!({
            "id": id.to_string(), "name": guild.name, "icon": null, "owner": false,
            "permissions": "0", "features": [],
        })
    });
    told.collect()
}
