//! World: what the fake knows. Nothing of it waits for anything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use nightdesk_types::{Clock, Moment, SystemClock, Timestamp};
use serde_json::Value;

use super::fault::Fault;
use super::gateway::Gateway;
use super::rest::limits::Buckets;
use super::settings::Settings;
pub(super) use bots::{Bot, SESSION_STARTS_MAX};
use interactions::Interaction;

pub(super) mod bots;
pub(super) mod dispatch;
pub(super) mod files;
pub(super) mod guilds;
pub(super) mod interactions;
pub(super) mod messages;
pub(super) mod permissions;
pub(super) mod places;
mod reactions;
pub(super) mod things;
pub(super) mod threads;

/// The first second of 2015, from which Discord's ids count.
const EPOCH_MS: i64 = 1_420_070_400_000;

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// When, since the fake began.
    pub at: Duration,
    /// By which bot; nothing where no token is asked for.
    pub token: String,
    /// What was called, without ids: `POST /channels/{}/messages`.
    pub route: String,
    /// The same with ids.
    pub path: String,
    /// The body.
    pub asked: Value,
    /// What it was answered: a status and a body.
    pub answered: (u16, Value),
}

/// A guild, without its channels.
#[derive(Debug, Default)]
pub(super) struct Guild {
    pub(super) name: String,
    pub(super) owner: u64,
    pub(super) roles: BTreeMap<u64, Value>,
    pub(super) members: BTreeMap<u64, Value>,
}

/// Everything there is.
#[derive(Debug)]
pub(super) struct World {
    clock: SystemClock,
    last_id: u64,
    /// Where the API is, for links to what it keeps.
    pub(super) url: String,
    /// Where clients shall connect to resume.
    pub(super) resume_url: String,
    pub(super) settings: Settings,
    pub(super) bots: BTreeMap<String, Bot>,
    users: BTreeMap<u64, Value>,
    pub(super) guilds: BTreeMap<u64, Guild>,
    pub(super) channels: BTreeMap<u64, Value>,
    pub(super) messages: BTreeMap<(u64, u64), Value>,
    /// The emoji on a message, and whose they are.
    pub(super) reactions: BTreeMap<(u64, u64), BTreeSet<(String, u64)>>,
    /// People who take no direct messages.
    pub(super) blocked: BTreeSet<u64>,
    pub(super) files: BTreeMap<String, (String, Bytes)>,
    pub(super) interactions: BTreeMap<u64, Interaction>,
    /// By application, and by guild or for all of them; by name.
    pub(super) commands: BTreeMap<(u64, Option<u64>), BTreeMap<String, Value>>,
    /// Interactions that wait to be posted, and for whom.
    pub(super) posts: VecDeque<(u64, Value)>,
    pub(super) gateway: Gateway,
    pub(super) buckets: Buckets,
    pub(super) faults: Vec<Fault>,
    pub(super) calls: Vec<Called>,
}

impl World {
    pub(super) fn new(settings: Settings, url: String, resume_url: String) -> Self {
        Self {
            clock: SystemClock::started(),
            last_id: 0,
            url,
            resume_url,
            settings,
            bots: BTreeMap::new(),
            users: BTreeMap::new(),
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            messages: BTreeMap::new(),
            reactions: BTreeMap::new(),
            blocked: BTreeSet::new(),
            files: BTreeMap::new(),
            interactions: BTreeMap::new(),
            commands: BTreeMap::new(),
            posts: VecDeque::new(),
            gateway: Gateway::default(),
            buckets: Buckets::default(),
            faults: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// How long it has been there.
    pub(super) fn now(&self) -> Duration {
        self.clock.moment().since(Moment::after_start(Duration::ZERO))
    }

    /// The wall's time.
    pub(super) fn wall(&self) -> Timestamp {
        let now = self.clock.now();
        now.checked_add(self.settings.ahead_by).unwrap_or(now)
    }

    /// The time as Discord writes it.
    pub(super) fn date(&self) -> String {
        self.wall().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
    }

    /// A new id: when it was made, and a number.
    pub(super) fn new_id(&mut self) -> u64 {
        let ms = u64::try_from(self.wall().as_millisecond() - EPOCH_MS).unwrap_or_default();
        self.last_id = (ms << 22).max(self.last_id + 1);
        self.last_id
    }

    pub(super) fn add_person(&mut self, id: u64, name: &str) {
        self.users.insert(id, things::user(id, name, false));
    }

    /// A user. Whoever was not entered has a name anyway.
    pub(super) fn user(&self, id: u64) -> Value {
        let known = self.users.get(&id).cloned();
        known.unwrap_or_else(|| things::user(id, &format!("person-{id}"), false))
    }
}

/// An id, as a text or as a number.
pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
