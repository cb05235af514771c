//! Serves the REST calls of a bot.

use serde_json::{Value, json};

use super::request::Asked;
use super::world::permissions::VIEW_CHANNEL;
use super::world::{SESSION_STARTS_MAX, World, things};

mod callback;
mod channels;
mod commands;
mod draft;
mod guilds;
pub(super) mod limits;
mod messages;
mod refusal;
mod webhooks;

pub(super) use callback::take as take_answer;
pub(super) use refusal::Refusal;

/// A status and a body, or a refusal.
pub(super) type Answered = Result<(u16, Value), Refusal>;

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a [&'a str],
    pub(super) token: &'a str,
    pub(super) asked: &'a Asked,
}

#[expect(clippy::unnecessary_wraps, reason = "so that a route ends in a word")]
fn done(value: Value) -> Answered {
    Ok((200, value))
}

#[expect(clippy::unnecessary_wraps, reason = "so that a route ends in a word")]
fn nothing() -> Answered {
    Ok((204, Value::Null))
}

/// Returns a call without its ids: a route in Discord's documentation.
pub(super) fn route(method: &str, path: &[&str]) -> String {
    let is_secret = |at: usize| at == 2 && matches!(path[0], "webhooks" | "interactions");
    let is_emoji = |at: usize| at > 0 && path[at - 1] == "reactions";
    let parts = path.iter().enumerate().map(|(at, part)| {
        let is_id = part.bytes().all(|byte| byte.is_ascii_digit());
        if is_id || is_secret(at) || is_emoji(at) { "{}" } else { part }
    });
    format!("{method} /{}", parts.collect::<Vec<_>>().join("/"))
}

/// Executes a call, if its bot may make it.
pub(super) fn answer(world: &mut World, call: Call<'_>) -> Answered {
    match (call.method, call.path) {
        ("GET", ["gateway"]) => done(json!({ "url": gateway_url(world) })),
        ("POST", ["interactions", id, token, "callback"]) => {
            callback::answer(world, id, token, call.asked)
        }
        (method, ["webhooks", application, token, rest @ ..]) => {
            webhooks::answer(world, (method, application, token), rest, call.asked)
        }
        _ => {
            let bot = world.bots.get(call.token).ok_or_else(Refusal::unauthorized)?.id;
            by_bot(world, bot, call)
        }
    }
}

fn by_bot(world: &mut World, bot: u64, call: Call<'_>) -> Answered {
    match (call.method, call.path) {
        ("GET", ["gateway", "bot"]) => done(gateway(world, call.token)),
        ("GET", ["users", "@me"]) => done(things::me(&world.user(bot))),
        ("GET", ["users", "@me", "guilds"]) => done(guilds::mine(world, bot)),
        ("GET", ["users", id]) => done(world.user(id_of(id)?)),
        ("POST", ["users", "@me", "channels"]) => channels::direct(world, bot, call.asked),
        ("GET", ["applications" | "oauth2", .., "@me"]) => {
            done(application(world, call.token, bot))
        }
        (method, ["applications", rest @ ..]) => {
            commands::answer(world, bot, (method, rest), call.asked)
        }
        (method, ["guilds", guild, rest @ ..]) => {
            guilds::answer(world, bot, id_of(guild)?, (method, rest))
        }
        (method, ["channels", channel, rest @ ..]) => {
            let channel = id_of(channel)?;
            see(world, bot, channel)?;
            channels::answer(world, bot, channel, (method, rest), call.asked)
        }
        _ => Err(Refusal::not_found()),
    }
}

fn id_of(text: &str) -> Result<u64, Refusal> {
    let not_an_id = || Refusal::form("id", "NUMBER_TYPE_COERCE", "Value is not snowflake.");
    text.parse().map_err(|_| not_an_id())
}

/// Checks that a channel exists, and that the bot sees it.
fn see(world: &World, bot: u64, channel: u64) -> Result<(), Refusal> {
    if !world.channels.contains_key(&channel) {
        return Err(Refusal::of(404, 10_003, "Unknown Channel"));
    }
    if !world.may(bot, channel, VIEW_CHANNEL) {
        return Err(Refusal::of(403, 50_001, "Missing Access"));
    }
    Ok(())
}

/// Checks that a bot has a permission in a channel.
fn need(world: &World, bot: u64, channel: u64, permission: u64) -> Result<(), Refusal> {
    let missing = || Refusal::of(403, 50_013, "Missing Permissions");
    world.may(bot, channel, permission).then_some(()).ok_or_else(missing)
}

fn gateway_url(world: &World) -> String {
    world.url.replacen("http", "ws", 1)
}

fn gateway(world: &World, token: &str) -> Value {
    let bot = world.bots.get(token);
    let (shards, starts) = (bot.map_or(1, |bot| bot.shards), bot.map(|bot| bot.starts));
    let (remaining, max_concurrency) =
        starts.map_or((0, 1), |starts| (starts.remaining, starts.max_concurrency));
    json!({
        "url": gateway_url(world), "shards": shards,
        "session_start_limit": {
            "total": SESSION_STARTS_MAX, "remaining": remaining, "reset_after": 14_400_000,
            "max_concurrency": max_concurrency,
        },
    })
}

/// Privileged intents, and the application flags that small bots have for them.
const LIMITED: [(u64, u64); 3] = [(1 << 8, 1 << 13), (1 << 1, 1 << 15), (1 << 15, 1 << 19)];

fn application(world: &World, token: &str, bot: u64) -> Value {
    let user = world.user(bot);
    let entered = world.bots.get(token);
    let key = entered.map(|bot| bot.key.public_hex());
    let interactions = entered.and_then(|bot| bot.interactions_url.as_deref());
    let barred = entered.map_or(0, |bot| bot.disallowed_intents);
    let flags: u64 =
        LIMITED.iter().filter(|(intent, _)| barred & intent == 0).map(|(_, flag)| flag).sum();
    json!({
        "id": bot.to_string(), "name": user["username"], "icon": null, "description": "",
        "summary": "", "bot_public": true, "bot_require_code_grant": false, "verify_key": key,
        "flags": flags, "interactions_endpoint_url": interactions, "team": null, "owner": user, "bot": user, "rpc_origins": [],
        "terms_of_service_url": null, "privacy_policy_url": null,
    })
}
