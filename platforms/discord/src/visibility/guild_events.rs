//! Applies Discord's events that affect visibility.

use nightdesk_kit::webhook::read_json;
use nightdesk_port::ReceiveError;
use serde::Deserialize;

use super::guild::{Guild, GuildChannel, bits};
use super::{BotGuilds, GUILDS_MAX};
use crate::id::Id;

#[derive(Deserialize)]
struct WholeGuild {
    id: Id,
    #[serde(default)]
    unavailable: bool,
    owner_id: Option<Id>,
    #[serde(default)]
    roles: Vec<Role>,
    #[serde(default)]
    channels: Vec<GuildChannel>,
    #[serde(default)]
    threads: Vec<GuildChannel>,
    #[serde(default)]
    members: Vec<GuildMember>,
}

/// A role.
#[derive(Deserialize)]
pub(super) struct Role {
    id: Id,
    #[serde(deserialize_with = "bits")]
    permissions: u64,
}

impl Role {
    pub(super) const fn parts(&self) -> (Id, u64) {
        (self.id, self.permissions)
    }
}

#[derive(Deserialize)]
struct ObjectHead {
    id: Id,
}

/// A member of a guild.
#[derive(Deserialize)]
pub(super) struct GuildMember {
    user: Option<ObjectHead>,
    #[serde(default)]
    pub(super) roles: Vec<Id>,
}

#[derive(Deserialize)]
struct ReadyShard {
    #[serde(default)]
    shard: GuildShard,
}

/// The index of a socket and the number of the bot's sockets, which Discord writes as an array.
#[derive(Deserialize)]
struct GuildShard {
    at: u64,
    of: u64,
}

impl Default for GuildShard {
    fn default() -> Self {
        Self { at: 0, of: 1 }
    }
}

impl GuildShard {
    /// Returns true if the socket receives this guild.
    fn receives(&self, guild: Id) -> bool {
        (guild.0 >> 22).checked_rem(self.of).is_none_or(|on| on == self.at)
    }
}

#[derive(Deserialize)]
struct GuildRef {
    guild_id: Option<Id>,
}

#[derive(Deserialize)]
struct RoleChange {
    role: Role,
}

#[derive(Deserialize)]
struct RoleRemoval {
    role_id: Id,
}

#[derive(Deserialize)]
struct AuthoredMessage {
    author: Option<ObjectHead>,
    member: Option<GuildMember>,
    webhook_id: Option<Id>,
}

#[derive(Deserialize)]
struct ThreadList {
    threads: Vec<GuildChannel>,
}

#[derive(Deserialize)]
struct ThreadMembers {
    id: Id,
    #[serde(default)]
    added_members: Vec<ThreadMember>,
    #[serde(default)]
    removed_member_ids: Vec<Id>,
}

#[derive(Deserialize)]
struct ThreadMember {
    user_id: Id,
}

impl WholeGuild {
    fn into_guild(self) -> Guild {
        let roles = self.roles.iter().map(Role::parts).collect();
        let mut guild = Guild::new(self.owner_id, roles);
        for channel in self.channels.into_iter().chain(self.threads) {
            // Channels inside a guild object do not name the guild.
            guild.put_channel(channel.with_guild(self.id));
        }
        for member in self.members {
            if let Some(person) = member.user {
                guild.put_member(person.id, Some(member.roles));
            }
        }
        guild
    }
}

/// Applies an event. If the event is unreadable, its guild is forgotten.
pub(super) fn apply_event(known: &mut BotGuilds, kind: &str, told: &[u8]) {
    if !affects_visibility(kind) {
        return;
    }
    if kind != "MESSAGE_CREATE" {
        known.told += 1;
    }
    if apply_readable(known, kind, told).is_err() {
        match read_json::<GuildRef>(told).ok().and_then(|told| told.guild_id) {
            Some(guild) => drop(known.guilds.remove(&guild)),
            None => known.guilds.clear(),
        }
    }
}

fn affects_visibility(kind: &str) -> bool {
    let is_of = |what: &str| kind.starts_with(what);
    kind == "READY"
        || kind == "MESSAGE_CREATE"
        || is_of("CHANNEL_")
        || is_of("THREAD_")
        || matches!(kind, "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE")
        || is_of("GUILD_ROLE_")
        || is_of("GUILD_MEMBER_")
}

fn is_of_channel(kind: &str) -> bool {
    kind.starts_with("CHANNEL_") || kind.starts_with("THREAD_")
}

fn apply_readable(known: &mut BotGuilds, kind: &str, told: &[u8]) -> Result<(), ReceiveError> {
    match kind {
        // In a new session Discord sends all guilds of the socket again.
        "READY" => {
            let ReadyShard { shard } = read_json(told)?;
            known.guilds.retain(|guild, _| !shard.receives(*guild));
            known.rooms.clear();
        }
        "GUILD_CREATE" => put_guild(known, read_json(told)?),
        "GUILD_DELETE" => drop(known.guilds.remove(&read_json::<ObjectHead>(told)?.id)),
        "GUILD_UPDATE" => {
            let told: WholeGuild = read_json(told)?;
            if let Some(guild) = known.guilds.get_mut(&told.id) {
                guild.owner = told.owner_id;
                guild.roles = told.roles.iter().map(Role::parts).collect();
            }
        }
        _ => return apply_in_guild(known, kind, told),
    }
    Ok(())
}

fn put_guild(known: &mut BotGuilds, told: WholeGuild) {
    known.guilds.remove(&told.id);
    if !told.unavailable && known.guilds.len() < GUILDS_MAX {
        known.guilds.insert(told.id, told.into_guild());
    }
}

fn apply_in_guild(known: &mut BotGuilds, kind: &str, told: &[u8]) -> Result<(), ReceiveError> {
    // Outside a guild there is no visibility to decide, and no part of an incomplete guild is stored.
    let Some(id) = read_json::<GuildRef>(told)?.guild_id else { return Ok(()) };
    if let Some(channel) = read_json::<ObjectHead>(told).ok().filter(|_| is_of_channel(kind)) {
        known.rooms.remove(&channel.id);
    }
    let Some(guild) = known.guilds.get_mut(&id) else { return Ok(()) };
    match kind {
        "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
            let RoleChange { role } = read_json(told)?;
            guild.roles.insert(role.id, role.permissions);
        }
        "GUILD_ROLE_DELETE" => drop(guild.roles.remove(&read_json::<RoleRemoval>(told)?.role_id)),
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
            guild.put_channel(read_json(told)?);
        }
        "CHANNEL_DELETE" | "THREAD_DELETE" => {
            guild.forget_channel(read_json::<ObjectHead>(told)?.id);
        }
        "THREAD_LIST_SYNC" => {
            for thread in read_json::<ThreadList>(told)?.threads {
                guild.put_channel(thread);
            }
        }
        "THREAD_MEMBERS_UPDATE" => {
            let ThreadMembers { id, added_members, removed_member_ids } = read_json(told)?;
            for gone in removed_member_ids {
                guild.take_out_of_thread(id, gone);
            }
            for one in added_members {
                guild.put_into_thread(id, one.user_id);
            }
        }
        "GUILD_MEMBER_REMOVE" => {
            let gone: GuildMember = read_json(told)?;
            guild.put_member(gone.user.ok_or(ReceiveError::Unreadable)?.id, None);
        }
        "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => {
            let member: GuildMember = read_json(told)?;
            let person = member.user.ok_or(ReceiveError::Unreadable)?.id;
            // Only members who were requested or who wrote are cached, because a guild has many.
            if guild.has_member(person) {
                guild.put_member(person, Some(member.roles));
            }
        }
        "MESSAGE_CREATE" => {
            let AuthoredMessage { author, member, webhook_id } = read_json(told)?;
            if let (Some(author), Some(member), None) = (author, member, webhook_id) {
                guild.put_member(author.id, Some(member.roles));
            }
        }
        _ => {}
    }
    Ok(())
}
