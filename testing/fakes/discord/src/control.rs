//! Serves the control for programs, with the same functions as for tests.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use super::Shared;
use super::fault::Fault;
use super::gateway::Order;
use super::serve::page;
use super::world::{World, number};

mod told;

/// Answers a control request. An impossible request gets a 400.
pub(super) fn answer(shared: &Shared, what: &str, asked: &Value) -> Response<Full<Bytes>> {
    let told = shared.change(|world| told::tell(world, what).or_else(|| act(world, what, asked)));
    match told {
        Some(told) => page(StatusCode::OK, Bytes::from(told.to_string())),
        None => page(StatusCode::BAD_REQUEST, Bytes::from("not a control of the fake")),
    }
}

fn act(world: &mut World, what: &str, asked: &Value) -> Option<Value> {
    match what {
        "settings" | "starts" | "fault" | "order" | "interactions_at" | "end_interaction" => {
            set(world, what, asked)
        }
        "say" | "edit" | "delete" | "react" | "press" | "command" => people(world, what, asked),
        _ => enter(world, what, asked),
    }
}

/// Creates and changes bots, people, guilds and channels.
fn enter(world: &mut World, what: &str, asked: &Value) -> Option<Value> {
    let id = |name: &str| number(&asked[name]);
    let text = |name: &str| asked[name].as_str();
    match what {
        "bot" => world.add_bot(text("token")?, id("id")?, text("name").unwrap_or("bot")),
        "person" => world.add_person(id("id")?, text("name")?),
        "guild" => drop(world.add_guild(asked)?),
        "join" => world.join(text("token")?, id("guild")?)?,
        "leave" => world.leave(id("guild")?, id("user")?)?,
        "role" => world.set_role(id("guild")?, &asked["role"])?,
        "member" => world.set_member(id("guild")?, id("user")?, &asked["roles"])?,
        "channel" => drop(world.set_channel(id("guild")?, &asked["channel"])?),
        "drop_channel" => world.drop_channel(id("channel")?)?,
        "thread" => {
            return world.open_thread(id("parent")?, id("owner")?, id("message"), &asked["thread"]);
        }
        "thread_member" => {
            world.set_thread_member(id("thread")?, id("user")?, asked["is_in"] != false)?;
        }
        "direct" => return Some(json!(world.direct(id("bot")?, id("user")?).to_string())),
        "block" => drop(world.blocked.insert(id("user")?)),
        _ => return None,
    }
    Some(json!(true))
}

/// Executes the actions of people.
fn people(world: &mut World, what: &str, asked: &Value) -> Option<Value> {
    let id = |name: &str| number(&asked[name]);
    let at = || Some((id("channel")?, id("message")?));
    let made = match what {
        "say" => world.say(id("user")?, id("channel")?, &asked["said"])?,
        "press" => world.press(id("user")?, at()?, asked["custom_id"].as_str()?)?,
        "command" => {
            let command = (asked["name"].as_str()?, &asked["options"]);
            world.command(id("bot")?, id("user")?, id("channel")?, command)?
        }
        "edit" => return world.edit(at()?.0, at()?.1, &asked["changes"]),
        "delete" => return world.delete(at()?.0, at()?.1).map(|()| json!(true)),
        _ => {
            let (emoji, is_added) = (asked["emoji"].as_str()?, asked["take_back"] != true);
            return world.react(id("user")?, at()?, emoji, is_added).map(|()| json!(true));
        }
    };
    Some(json!(made.to_string()))
}

/// Changes the fake's behaviour.
fn set(world: &mut World, what: &str, asked: &Value) -> Option<Value> {
    match what {
        "settings" => {
            for (name, value) in asked.as_object()? {
                world.settings.set(name, value.as_u64()?)?;
            }
        }
        "starts" => {
            let bot = world.bots.get_mut(asked["token"].as_str()?)?;
            bot.starts.remaining = number(&asked["remaining"]).unwrap_or(bot.starts.remaining);
            bot.starts.max_concurrency =
                number(&asked["max_concurrency"]).unwrap_or(bot.starts.max_concurrency);
            bot.disallowed_intents =
                number(&asked["disallowed_intents"]).unwrap_or(bot.disallowed_intents);
        }
        "fault" => world.faults.push(Fault::read(asked)?),
        "order" => return Some(json!(world.order(number(&asked["shard"]), read_order(asked)?))),
        "interactions_at" => {
            let url = asked["url"].as_str().map(str::to_owned);
            world.bots.get_mut(asked["token"].as_str()?)?.interactions_url = url;
        }
        _ => world.interactions.get_mut(&number(&asked["interaction"])?)?.is_ended = true,
    }
    Some(json!(true))
}

fn read_order(asked: &Value) -> Option<Order> {
    Some(match asked["order"].as_str()? {
        "reconnect" => Order::Reconnect,
        "invalid" => Order::Invalid { resumable: asked["resumable"] == true },
        "heartbeat" => Order::Heartbeat,
        "close" => Order::Close(u16::try_from(asked["code"].as_u64()?).ok()?),
        "cut" => Order::Cut,
        _ => return None,
    })
}
