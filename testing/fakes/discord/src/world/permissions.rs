//! Computes permissions in a channel as Discord's documentation does.

use serde_json::{Value, json};

use super::threads::PRIVATE_THREAD;
use super::{World, number};

pub(crate) const ADD_REACTIONS: u64 = 1 << 6;
pub(crate) const VIEW_CHANNEL: u64 = 1 << 10;
pub(crate) const SEND_MESSAGES: u64 = 1 << 11;
pub(crate) const MANAGE_MESSAGES: u64 = 1 << 13;
pub(crate) const ATTACH_FILES: u64 = 1 << 15;
pub(crate) const READ_MESSAGE_HISTORY: u64 = 1 << 16;
pub(crate) const MENTION_EVERYONE: u64 = 1 << 17;
pub(crate) const MANAGE_THREADS: u64 = 1 << 34;
pub(crate) const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
pub(crate) const CREATE_PRIVATE_THREADS: u64 = 1 << 36;
pub(crate) const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;
const ADMINISTRATOR: u64 = 1 << 3;

/// Type of an overwrite.
const OF_A_ROLE: u64 = 0;
const OF_A_MEMBER: u64 = 1;

impl World {
    /// Returns the permissions of a user in a channel. A thread has those of its parent, if it is public or the user is
    /// in it; a direct channel gives all to its members.
    pub(crate) fn permissions(&self, user: u64, channel: u64) -> u64 {
        let Some(place) = self.channels.get(&channel) else { return 0 };
        let Some(guild) = number(&place["guild_id"]) else {
            return if self.people(channel).contains(&user) { u64::MAX } else { 0 };
        };
        if !place["thread_metadata"].is_null() {
            let around = self.permissions(user, number(&place["parent_id"]).unwrap_or_default());
            let is_in =
                place["type"] != json!(PRIVATE_THREAD) || self.people(channel).contains(&user);
            return if is_in || around & MANAGE_THREADS != 0 { around } else { 0 };
        }
        let base = self.base_permissions(user, guild);
        if base & ADMINISTRATOR != 0 {
            return u64::MAX;
        }
        let roles = self.roles_of(user, guild);
        overwritten(base, &place["permission_overwrites"], (guild, &roles, user))
    }

    pub(crate) fn may(&self, user: u64, channel: u64, what: u64) -> bool {
        self.permissions(user, channel) & what == what
    }

    /// Returns the permissions of a user in a guild, before the channel's overwrites.
    fn base_permissions(&self, user: u64, guild: u64) -> u64 {
        let Some(known) = self.guilds.get(&guild) else { return 0 };
        if known.owner == user {
            return u64::MAX;
        }
        if !known.members.contains_key(&user) {
            return 0;
        }
        let roles = self.roles_of(user, guild).into_iter().chain([guild]);
        let granted = roles.filter_map(|role| number(&known.roles.get(&role)?["permissions"]));
        granted.fold(0, |all, one| all | one)
    }

    fn roles_of(&self, user: u64, guild: u64) -> Vec<u64> {
        let member = self.guilds.get(&guild).and_then(|guild| guild.members.get(&user));
        let roles = member.and_then(|member| member["roles"].as_array());
        roles.into_iter().flatten().filter_map(number).collect()
    }

    /// Returns the members of a direct channel or a thread.
    pub(crate) fn people(&self, channel: u64) -> Vec<u64> {
        let place = self.channels.get(&channel);
        let people = place.and_then(|place| place["people"].as_array());
        people.into_iter().flatten().filter_map(number).collect()
    }
}

/// Applies first the guild's own overwrite, then those of all roles together, then the member's.
fn overwritten(base: u64, overwrites: &Value, (guild, roles, user): (u64, &[u64], u64)) -> u64 {
    let all = overwrites.as_array().map(Vec::as_slice).unwrap_or_default();
    let layers = [
        sum(all, OF_A_ROLE, |id| id == guild),
        sum(all, OF_A_ROLE, |id| id != guild && roles.contains(&id)),
        sum(all, OF_A_MEMBER, |id| id == user),
    ];
    layers.into_iter().fold(base, |may, (allowed, denied)| may & !denied | allowed)
}

/// Returns the permissions that the applicable overwrites allow and deny together.
fn sum(overwrites: &[Value], kind: u64, applies: impl Fn(u64) -> bool) -> (u64, u64) {
    let of_kind = overwrites.iter().filter(|one| number(&one["type"]) == Some(kind));
    let applying = of_kind.filter(|one| number(&one["id"]).is_some_and(&applies));
    applying.fold((0, 0), |(allowed, denied), one| {
        let bits = |name: &str| number(&one[name]).unwrap_or_default();
        (allowed | bits("allow"), denied | bits("deny"))
    })
}
