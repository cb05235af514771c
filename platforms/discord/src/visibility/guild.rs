//! The cached data of one guild, and the visibility that follows from it.

use std::collections::{HashMap, HashSet};

use nightdesk_types::Visibility;
use serde::{Deserialize, Deserializer, de};

use crate::events::DiscordChannel;
use crate::id::Id;

/// Permission to do everything.
const ADMINISTRATOR: u64 = 1 << 3;

/// Permission to see a channel.
pub(super) const VIEW_CHANNEL: u64 = 1 << 10;

/// Permission to see all threads of a visible channel.
const MANAGE_THREADS: u64 = 1 << 34;

/// Type of a thread that only its members can see.
const PRIVATE_THREAD: u8 = 12;

/// Maximum cached channels and threads of one guild. When the cache is full, the threads are learnt again.
const CHANNELS_MAX: usize = 2_000;

/// Maximum cached members of one guild. When the cache is full, they are learnt again.
const MEMBERS_MAX: usize = 2_000;

/// Maximum cached members of a private thread.
const THREAD_MEMBERS_MAX: usize = 1_000;

/// A guild. It is cached only with all its roles.
#[derive(Debug, Default)]
pub(super) struct Guild {
    pub(super) owner: Option<Id>,
    pub(super) roles: HashMap<Id, u64>,
    channels: HashMap<Id, GuildChannel>,
    /// Roles of each person. `None` if the person is not a member.
    members: HashMap<Id, Option<Vec<Id>>>,
}

/// A channel or a thread.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GuildChannel {
    #[serde(flatten)]
    pub(super) room: DiscordChannel,
    #[serde(default)]
    pub(super) permission_overwrites: Vec<Overwrite>,
    /// The person who created the thread.
    owner_id: Option<Id>,
    #[serde(skip)]
    people: HashSet<Id>,
}

/// Permissions of a role or a person that differ in one channel.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Overwrite {
    pub(super) id: Id,
    /// True for a person, false for a role.
    #[serde(rename = "type", deserialize_with = "of_person")]
    pub(super) is_of_person: bool,
    #[serde(deserialize_with = "bits")]
    pub(super) allow: u64,
    #[serde(deserialize_with = "bits")]
    pub(super) deny: u64,
}

fn of_person<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    u8::deserialize(deserializer).and_then(|kind| match kind {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(de::Error::custom("neither a role nor a person")),
    })
}

/// Parses permission bits, which Discord writes as a string.
pub(super) fn bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| de::Error::custom("not a number"))
}

/// A person whose sight of a message's channel is in question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    pub(super) person: Id,
    /// True if the person wrote the message.
    pub(super) is_author: bool,
}

/// A member of a guild and the member's roles.
#[derive(Clone, Copy)]
struct RoleHolder<'r> {
    person: Id,
    roles: &'r [Id],
}

impl GuildChannel {
    /// Sets the channel's guild.
    pub(super) fn with_guild(mut self, guild: Id) -> Self {
        self.room.guild_id = Some(guild);
        self
    }
}

impl Guild {
    /// Creates a guild without channels.
    pub(super) fn new(owner: Option<Id>, roles: HashMap<Id, u64>) -> Self {
        Self { owner, roles, ..Self::default() }
    }

    pub(super) fn find_channel(&self, channel: Id) -> Option<&DiscordChannel> {
        self.channels.get(&channel).map(|channel| &channel.room)
    }

    /// Returns whether a person can see a channel or a thread.
    pub(super) fn visibility_of(&self, id: Id, at: Id, viewer: Viewer) -> Visibility {
        let Viewer { person, is_author } = viewer;
        let Some(at) = self.channels.get(&at) else { return Visibility::Unknown };
        let channel = if at.room.is_thread() {
            at.room.parent_id.and_then(|parent| self.channels.get(&parent))
        } else {
            Some(at)
        };
        let (Some(channel), Some(roles)) = (channel, self.members.get(&person)) else {
            return Visibility::Unknown;
        };
        let Some(roles) = roles else { return Visibility::Blind };
        let member = RoleHolder { person, roles };
        let Some(may) = self.permissions_in(id, member, &channel.permission_overwrites) else {
            return Visibility::Unknown;
        };
        if may & VIEW_CHANNEL == 0 {
            return Visibility::Blind;
        }
        let is_shut = at.room.kind == PRIVATE_THREAD && may & MANAGE_THREADS == 0;
        let is_in = is_author || at.owner_id == Some(person) || at.people.contains(&person);
        // The members of a private thread arrive one by one, so a person who is not known may be a member.
        if is_shut && !is_in { Visibility::Unknown } else { Visibility::Sees }
    }

    /// Computes a person's permissions in a channel by Discord's algorithm. `None` if the guild's base role is unknown.
    fn permissions_in(
        &self,
        id: Id,
        member: RoleHolder<'_>,
        overwrites: &[Overwrite],
    ) -> Option<u64> {
        let RoleHolder { person, roles } = member;
        let of = |role: &Id| self.roles.get(role).copied().unwrap_or_default();
        let everybody = *self.roles.get(&id)?;
        let may = roles.iter().map(of).fold(everybody, |may, role| may | role);
        if self.owner == Some(person) || may & ADMINISTRATOR != 0 {
            return Some(u64::MAX);
        }
        let written = |is_meant: &dyn Fn(&Overwrite) -> bool, may: u64| {
            let meant = || overwrites.iter().filter(|overwrite| is_meant(overwrite));
            let deny = meant().fold(0, |all, overwrite| all | overwrite.deny);
            let allow = meant().fold(0, |all, overwrite| all | overwrite.allow);
            may & !deny | allow
        };
        let may = written(&|one| !one.is_of_person && one.id == id, may);
        let of_role = |one: &Overwrite| {
            !one.is_of_person
                && one.id != id
                && roles.contains(&one.id)
                && self.roles.contains_key(&one.id)
        };
        let may = written(&of_role, may);
        Some(written(&|one| one.is_of_person && one.id == person, may))
    }

    pub(super) fn put_channel(&mut self, mut channel: GuildChannel) {
        if let Some(before) = self.channels.remove(&channel.room.id) {
            channel.people = before.people;
        }
        if self.channels.len() >= CHANNELS_MAX {
            self.channels.retain(|_, channel| !channel.room.is_thread());
        }
        if self.channels.len() < CHANNELS_MAX {
            self.channels.insert(channel.room.id, channel);
        }
    }

    /// Removes a channel and its threads.
    pub(super) fn forget_channel(&mut self, id: Id) {
        self.channels.retain(|one, channel| *one != id && channel.room.parent_id != Some(id));
    }

    pub(super) fn put_member(&mut self, person: Id, roles: Option<Vec<Id>>) {
        if self.members.len() >= MEMBERS_MAX {
            self.members.clear();
        }
        self.members.insert(person, roles);
    }

    pub(super) fn has_member(&self, person: Id) -> bool {
        self.members.contains_key(&person)
    }

    pub(super) fn put_into_thread(&mut self, thread: Id, person: Id) {
        let thread = self.channels.get_mut(&thread);
        if let Some(thread) = thread.filter(|thread| thread.people.len() < THREAD_MEMBERS_MAX) {
            thread.people.insert(person);
        }
    }

    pub(super) fn take_out_of_thread(&mut self, thread: Id, person: Id) {
        if let Some(thread) = self.channels.get_mut(&thread) {
            thread.people.remove(&person);
        }
    }
}
