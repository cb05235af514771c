//! Serves the commands of an application, global or in one guild.

use serde_json::{Value, json};

use super::{Answered, Refusal, done, id_of, nothing};
use crate::request::Asked;
use crate::world::World;

const COMMANDS_MAX: usize = 100;

/// Place of commands: a guild, or all guilds.
type Place = (u64, Option<u64>);

pub(super) fn answer(
    world: &mut World,
    bot: u64,
    (method, path): (&str, &[&str]),
    asked: &Asked,
) -> Answered {
    let (application, guild, rest) = match path {
        [application, "guilds", guild, "commands", rest @ ..] => {
            (id_of(application)?, Some(id_of(guild)?), rest)
        }
        [application, "commands", rest @ ..] => (id_of(application)?, None, rest),
        _ => return Err(Refusal::not_found()),
    };
    let denied = "You are not authorized to perform this action on this application";
    if application != bot {
        return Err(Refusal::of(403, 20_012, denied));
    }
    if guild.is_some_and(|guild| world.member(guild, bot).is_none()) {
        return Err(Refusal::of(403, 50_001, "Missing Access"));
    }
    let place = (application, guild);
    match (method, rest) {
        ("GET", []) => done(told(world, place)),
        ("POST", []) => set(world, place, &asked.body),
        ("PUT", []) => {
            world.commands.remove(&place);
            for command in asked.body.as_array().cloned().unwrap_or_default() {
                set(world, place, &command)?;
            }
            done(told(world, place))
        }
        ("DELETE", [id]) => {
            let known = world.commands.entry(place).or_default();
            let before = known.len();
            known.retain(|_, command| command["id"] != json!(id));
            let unknown = || Refusal::of(404, 10_063, "Unknown application command");
            if known.len() < before { nothing() } else { Err(unknown()) }
        }
        _ => Err(Refusal::not_found()),
    }
}

fn told(world: &World, place: Place) -> Value {
    world.commands.get(&place).into_iter().flat_map(|known| known.values().cloned()).collect()
}

/// Stores a command. It replaces a command of the same name.
fn set(world: &mut World, place: Place, asked: &Value) -> Answered {
    let name = asked["name"].as_str().filter(|name| (1..=32).contains(&name.len()));
    let name = name.ok_or_else(|| required("name"))?.to_owned();
    let description = asked["description"].as_str().map_or(0, |text| text.chars().count());
    if !(1..=100).contains(&description) {
        return Err(required("description"));
    }
    let id = world.new_id();
    let known = world.commands.entry(place).or_default();
    if known.len() >= COMMANDS_MAX && !known.contains_key(&name) {
        let message = "Maximum number of application commands reached (100)";
        return Err(Refusal::of(400, 30_032, message));
    }
    let before = known.get(&name).map(|command| command["id"].clone());
    let mut command = asked.clone();
    command["id"] = before.clone().unwrap_or_else(|| json!(id.to_string()));
    command["application_id"] = json!(place.0.to_string());
    command["guild_id"] = json!(place.1.map(|guild| guild.to_string()));
    command["version"] = json!(id.to_string());
    known.insert(name, command.clone());
    Ok((if before.is_some() { 200 } else { 201 }, command))
}

fn required(field: &str) -> Refusal {
    Refusal::form(field, "BASE_TYPE_REQUIRED", "This field is required")
}
