//! Dispatches events to the sessions that may receive them.

use serde_json::{Value, json};

use super::permissions::VIEW_CHANNEL;
use super::{World, number};

const GUILDS: u64 = 1 << 0;
const GUILD_MEMBERS: u64 = 1 << 1;
const GUILD_MESSAGES: u64 = 1 << 9;
const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
const DIRECT_MESSAGES: u64 = 1 << 12;
const DIRECT_MESSAGE_REACTIONS: u64 = 1 << 13;
const MESSAGE_CONTENT: u64 = 1 << 15;

/// Returns the intent that an event requires, in a guild or in a direct channel.
fn intent(event: &str, is_direct: bool) -> u64 {
    match event {
        _ if event.starts_with("MESSAGE_REACTION") && is_direct => DIRECT_MESSAGE_REACTIONS,
        _ if event.starts_with("MESSAGE_REACTION") => GUILD_MESSAGE_REACTIONS,
        _ if event.starts_with("MESSAGE") && is_direct => DIRECT_MESSAGES,
        _ if event.starts_with("MESSAGE") => GUILD_MESSAGES,
        _ if event.starts_with("GUILD_MEMBER") => GUILD_MEMBERS,
        _ => GUILDS,
    }
}

impl World {
    /// Dispatches an event of a channel to the bots that see the channel.
    pub(crate) fn happens_in(&mut self, channel: u64, event: &str, what: &Value) {
        let guild = self.channels.get(&channel).and_then(|place| number(&place["guild_id"]));
        let hearers = self.hearers(guild, intent(event, guild.is_none()));
        for (session, bot) in hearers {
            if self.may(bot, channel, VIEW_CHANNEL) {
                let told = self.told(&session, bot, event, what);
                self.dispatch(&session, event, &told);
            }
        }
    }

    /// Dispatches an event of a guild to its bots.
    pub(crate) fn happens_to(&mut self, guild: u64, event: &str, what: &Value) {
        // A bot receives events about itself without the intent.
        let about = number(&what["user"]["id"]);
        let wanted = intent(event, false);
        for (session, bot) in self.hearers(Some(guild), 0) {
            let has = self.gateway.session(&session).is_some_and(|one| one.intents & wanted != 0);
            if has || about == Some(bot) && event == "GUILD_MEMBER_UPDATE" {
                self.dispatch(&session, event, what);
            }
        }
    }

    /// Dispatches an event to one bot, on the shard of a guild or on the first.
    pub(crate) fn happens_for(&mut self, bot: u64, guild: Option<u64>, event: &str, what: &Value) {
        for (session, _) in self.hearers(guild, 0).into_iter().filter(|(_, one)| *one == bot) {
            self.dispatch(&session, event, what);
        }
    }

    /// Returns the sessions that receive an event, with their bots. Direct messages go to the first shard.
    pub(super) fn hearers(&self, guild: Option<u64>, intent: u64) -> Vec<(String, u64)> {
        let sessions = self.gateway.sessions.values().filter(|session| {
            let (shard, shards) = session.shard;
            let is_here = guild.map_or(0, |guild| (guild >> 22) % shards) == shard;
            is_here && session.intents & intent == intent
        });
        let with_bots = sessions.filter_map(|session| {
            let bot = self.bots.get(&session.token)?.id;
            let is_in = guild.is_none_or(|guild| {
                self.guilds.get(&guild).is_some_and(|guild| guild.members.contains_key(&bot))
            });
            is_in.then(|| (session.id.clone(), bot))
        });
        with_bots.collect()
    }

    /// Returns a message for a session: without the intent, it has content only in direct messages, in the bot's own
    /// messages and in messages that mention the bot.
    fn told(&self, session: &str, bot: u64, event: &str, what: &Value) -> Value {
        let may_read =
            self.gateway.session(session).is_some_and(|one| one.intents & MESSAGE_CONTENT != 0);
        let is_worded = event == "MESSAGE_CREATE" || event == "MESSAGE_UPDATE";
        if !is_worded || may_read || what["guild_id"].is_null() || is_for(bot, what) {
            return what.clone();
        }
        let mut told = what.clone();
        told["content"] = json!("");
        for name in ["attachments", "embeds", "components"] {
            told[name] = json!([]);
        }
        told
    }
}

fn is_for(bot: u64, message: &Value) -> bool {
    let mentions = message["mentions"].as_array().into_iter().flatten();
    number(&message["author"]["id"]) == Some(bot)
        || mentions.into_iter().any(|user| number(&user["id"]) == Some(bot))
}
