//! Begins a new session on a socket.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Identify, Kind, Session, at_gateway};
use crate::world::{SESSION_STARTS_MAX, World, number, things};

pub(super) const BAD_TOKEN: u16 = 4004;
const ALREADY: u16 = 4005;
const BAD_SHARD: u16 = 4010;
const TOO_FEW_SHARDS: u16 = 4011;
const BAD_INTENTS: u16 = 4013;
const DISALLOWED_INTENTS: u16 = 4014;

impl World {
    pub(super) fn identify(&mut self, wire: usize, asked: &Value, has_session: bool) {
        let token = asked["token"].as_str().unwrap_or_default().to_owned();
        let part = |at: usize, else_: u64| number(&asked["shard"][at]).unwrap_or(else_);
        let shard = (part(0, 0), part(1, 1));
        let intents = number(&asked["intents"]);
        let at = self.now();
        self.forget_old_sessions();
        let is_too_soon = self.is_too_soon(&token, shard, at);
        let identify =
            Identify { at, token, shard, intents: intents.unwrap_or_default(), is_too_soon };
        self.gateway.identifies.push(identify.clone());
        match self.refusal(&identify, intents.is_some(), has_session) {
            Some(code) => self.gateway.close(wire, code),
            None if is_too_soon => self.gateway.invalid(wire, false),
            None => self.begin(wire, identify),
        }
    }

    /// Returns the close code of a refused IDENTIFY.
    fn refusal(&mut self, asked: &Identify, has_intents: bool, has_session: bool) -> Option<u16> {
        let is_ours = |kind: &Kind| matches!(kind, Kind::CloseAtIdentify(_));
        if let Some(Kind::CloseAtIdentify(code)) = at_gateway(&mut self.faults, is_ours) {
            return Some(code);
        }
        let Some(bot) = self.bots.get_mut(&asked.token) else { return Some(BAD_TOKEN) };
        if has_session {
            return Some(ALREADY);
        }
        if bot.starts.remaining == 0 {
            self.reset_token(&asked.token);
            return Some(BAD_TOKEN);
        }
        bot.starts.remaining -= 1;
        let checks = [
            (asked.shard.0 >= asked.shard.1, BAD_SHARD),
            (asked.shard.1 < bot.shards, TOO_FEW_SHARDS),
            (!has_intents, BAD_INTENTS),
            (asked.intents & bot.disallowed_intents != 0, DISALLOWED_INTENTS),
        ];
        checks.into_iter().find_map(|(is_so, code)| is_so.then_some(code))
    }

    /// Returns true if the shard's bucket may not identify yet.
    fn is_too_soon(&self, token: &str, shard: (u64, u64), at: Duration) -> bool {
        let buckets = self.bots.get(token).map_or(1, |bot| bot.starts.max_concurrency.max(1));
        let before = self.gateway.identifies.iter().rev().find(|one| {
            one.token == token && one.shard.0 % buckets == shard.0 % buckets && !one.is_too_soon
        });
        before.is_some_and(|one| at.saturating_sub(one.at) < self.settings.identify_every)
    }

    /// Ends all sessions and the token of a bot that has begun too many sessions in a day.
    fn reset_token(&mut self, token: &str) {
        let wires = self.gateway.sessions.values().filter(|session| session.token == token);
        let wires: Vec<usize> = wires.filter_map(|session| session.wire).collect();
        for wire in wires {
            self.gateway.close(wire, BAD_TOKEN);
        }
        self.gateway.sessions.retain(|_, session| session.token != token);
        if let Some(mut bot) = self.bots.remove(token) {
            bot.starts.remaining = SESSION_STARTS_MAX;
            self.bots.insert(format!("{token}-reset"), bot);
        }
    }

    fn begin(&mut self, wire: usize, asked: Identify) {
        let id = format!("{:x}", self.new_id());
        let Some(bot) = self.bots.get(&asked.token).map(|bot| bot.id) else { return };
        let session = Session {
            id: id.clone(),
            token: asked.token,
            shard: asked.shard,
            intents: asked.intents,
            seq: 0,
            log: VecDeque::new(),
            wire: Some(wire),
            left: None,
        };
        self.gateway.sessions.insert(id.clone(), session);
        self.gateway.begun.push(id.clone());
        self.attach(wire, &id);
        let (shard, shards) = asked.shard;
        let guilds: Vec<u64> = self.guilds.keys().copied().collect();
        let is_here = |guild: &u64| (guild >> 22) % shards == shard;
        let guilds =
            guilds.into_iter().filter(is_here).filter_map(|guild| self.whole_guild(guild, bot));
        let guilds: Vec<Value> = guilds.collect();
        let ready = self.ready(&id, bot, asked.shard, &guilds);
        self.dispatch(&id, "READY", &ready);
        if asked.intents & 1 == 1 {
            for guild in guilds {
                self.dispatch(&id, "GUILD_CREATE", &guild);
            }
        }
    }

    fn ready(&self, session: &str, bot: u64, shard: (u64, u64), guilds: &[Value]) -> Value {
        let guilds = guilds.iter().map(|guild| json!({ "id": guild["id"], "unavailable": true }));
        json!({
            "v": 10, "user": things::me(&self.user(bot)), "guilds": guilds.collect::<Value>(),
            "session_id": session, "resume_gateway_url": self.resume_url,
            "shard": [shard.0, shard.1], "application": { "id": bot.to_string(), "flags": 0 },
            "private_channels": [], "relationships": [], "presences": [],
            "session_type": "normal",
        })
    }

    /// Records that a socket has a session.
    pub(super) fn attach(&mut self, wire: usize, session: &str) {
        let now = self.now();
        let known = self.gateway.session(session);
        let (token, shard) = known.map(|one| (one.token.clone(), one.shard)).unzip();
        if let Some(wire) = self.gateway.wires.get_mut(wire) {
            wire.socket.token = token;
            wire.socket.session = Some(session.to_owned());
            wire.socket.shard = shard;
            wire.socket.began = Some(now);
        }
    }
}
