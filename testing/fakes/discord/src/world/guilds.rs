//! Stores guilds with their roles and members, and dispatches their changes.

use serde_json::{Value, json};

use super::permissions::VIEW_CHANNEL;
use super::{Guild, World, number, things};

/// Default owner of a guild.
const SOMEBODY: u64 = 1;

impl World {
    /// Creates a guild with its roles, channels and members. A missing role for all members is added.
    pub(crate) fn add_guild(&mut self, guild: &Value) -> Option<u64> {
        let id = number(&guild["id"])?;
        let name = guild["name"].as_str().unwrap_or("guild").to_owned();
        let owner = number(&guild["owner_id"]).unwrap_or(SOMEBODY);
        self.guilds.insert(id, Guild { name, owner, ..Guild::default() });
        let everybody = json!({
            "id": id.to_string(), "name": "@everyone", "position": 0,
            "permissions": things::EVERYBODY_MAY.to_string(),
        });
        self.set_role(id, &everybody);
        for role in guild["roles"].as_array().into_iter().flatten() {
            self.set_role(id, role);
        }
        for channel in guild["channels"].as_array().into_iter().flatten() {
            self.set_channel(id, channel);
        }
        for member in guild["members"].as_array().into_iter().flatten() {
            self.set_member(id, number(&member["user"]["id"])?, &member["roles"]);
        }
        Some(id)
    }

    /// Makes a bot join a guild.
    pub(crate) fn join(&mut self, token: &str, guild: u64) -> Option<()> {
        let bot = self.bots.get(token)?.id;
        self.set_member(guild, bot, &json!([]));
        let whole = self.whole_guild(guild, bot)?;
        self.happens_for(bot, Some(guild), "GUILD_CREATE", &whole);
        Some(())
    }

    /// Makes a person or a bot leave a guild.
    pub(crate) fn leave(&mut self, guild: u64, user: u64) -> Option<()> {
        let gone = json!({ "id": guild.to_string() });
        self.happens_for(user, Some(guild), "GUILD_DELETE", &gone);
        self.guilds.get_mut(&guild)?.members.remove(&user)?;
        let left = json!({ "guild_id": guild.to_string(), "user": self.user(user) });
        self.happens_to(guild, "GUILD_MEMBER_REMOVE", &left);
        Some(())
    }

    /// Creates or changes a role.
    pub(crate) fn set_role(&mut self, guild: u64, role: &Value) -> Option<()> {
        let id = number(&role["id"])?;
        let roles = &mut self.guilds.get_mut(&guild)?.roles;
        let before = roles.get(&id).cloned();
        let role = things::role(&things::filled(role, before.clone().unwrap_or(json!({}))));
        roles.insert(id, role.clone());
        let event = if before.is_some() { "GUILD_ROLE_UPDATE" } else { "GUILD_ROLE_CREATE" };
        let what = json!({ "guild_id": guild.to_string(), "role": role });
        self.happens_to(guild, event, &what);
        Some(())
    }

    /// Creates a member, or changes their roles.
    pub(crate) fn set_member(&mut self, guild: u64, user: u64, roles: &Value) -> Option<()> {
        let roles = if roles.is_array() { roles.clone() } else { json!([]) };
        let (person, date) = (self.user(user), self.date());
        let members = &mut self.guilds.get_mut(&guild)?.members;
        let is_new = !members.contains_key(&user);
        let member =
            members.entry(user).or_insert_with(|| things::member(&person, &json!([]), &date));
        member["roles"] = roles;
        let mut what = member.clone();
        what["guild_id"] = json!(guild.to_string());
        let event = if is_new { "GUILD_MEMBER_ADD" } else { "GUILD_MEMBER_UPDATE" };
        self.happens_to(guild, event, &what);
        Some(())
    }

    pub(crate) fn member(&self, guild: u64, user: u64) -> Option<&Value> {
        self.guilds.get(&guild)?.members.get(&user)
    }

    pub(crate) fn roles(&self, guild: u64) -> Vec<Value> {
        let roles = self.guilds.get(&guild).map(|guild| guild.roles.values().cloned());
        roles.into_iter().flatten().collect()
    }

    /// Returns a guild in the API's format.
    pub(crate) fn guild(&self, id: u64) -> Option<Value> {
        let guild = self.guilds.get(&id)?;
        Some(things::guild(&json!({
            "id": id.to_string(), "name": guild.name, "owner_id": guild.owner.to_string(),
            "roles": self.roles(id),
        })))
    }

    /// Returns a guild in the gateway's format: with the channels and threads that the bot sees.
    pub(crate) fn whole_guild(&self, id: u64, bot: u64) -> Option<Value> {
        let mut guild = self.guild(id)?;
        let members: Vec<Value> = self.guilds.get(&id)?.members.values().cloned().collect();
        let joined_at = self.member(id, bot)?["joined_at"].clone();
        let (threads, channels) = self
            .places_of(id)
            .partition::<Vec<Value>, _>(|place| !place["thread_metadata"].is_null());
        let threads = threads.into_iter().filter(|thread| {
            number(&thread["id"]).is_some_and(|id| self.may(bot, id, VIEW_CHANNEL))
        });
        guild["channels"] = json!(channels);
        guild["threads"] = threads.collect();
        guild["member_count"] = json!(members.len());
        guild["members"] = json!(members);
        guild["joined_at"] = joined_at;
        guild["large"] = json!(false);
        guild["unavailable"] = json!(false);
        for name in [
            "presences",
            "voice_states",
            "stage_instances",
            "guild_scheduled_events",
            "soundboard_sounds",
        ] {
            guild[name] = json!([]);
        }
        Some(guild)
    }
}
