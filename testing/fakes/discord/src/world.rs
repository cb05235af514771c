//! Holds the state of the fake. None of its functions waits.

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

/// A recorded call.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// Time of the call, since the fake began.
    pub at: Duration,
    /// Token of the bot; empty for a call without a token.
    pub token: String,
    /// Route without ids: `POST /channels/{}/messages`.
    pub route: String,
    /// Path with ids.
    pub path: String,
    /// The body.
    pub asked: Value,
    /// Status and body of the response.
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

/// The whole state.
#[derive(Debug)]
pub(super) struct World {
    clock: SystemClock,
    last_id: u64,
    /// URL of the API, for links to stored files.
    pub(super) url: String,
    /// URL of the gateway for resumes.
    pub(super) resume_url: String,
    pub(super) settings: Settings,
    pub(super) bots: BTreeMap<String, Bot>,
    users: BTreeMap<u64, Value>,
    pub(super) guilds: BTreeMap<u64, Guild>,
    pub(super) channels: BTreeMap<u64, Value>,
    pub(super) messages: BTreeMap<(u64, u64), Value>,
    /// The emoji on a message, with their authors.
    pub(super) reactions: BTreeMap<(u64, u64), BTreeSet<(String, u64)>>,
    /// People who refuse direct messages.
    pub(super) blocked: BTreeSet<u64>,
    pub(super) files: BTreeMap<String, (String, Bytes)>,
    pub(super) interactions: BTreeMap<u64, Interaction>,
    /// Commands by application, by guild or global, and by name.
    pub(super) commands: BTreeMap<(u64, Option<u64>), BTreeMap<String, Value>>,
    /// Interactions that wait to be posted, with their applications.
    pub(super) posts: VecDeque<(u64, Value)>,
    pub(super) gateway: Gateway,
    pub(super) buckets: Buckets,
    pub(super) faults: Vec<Fault>,
    pub(super) calls: Vec<Called>,
}

impl World {
    pub(super) fn new(settings: Settings, url: String, resume_url: String) -> Self {
        Self {
            clock: SystemClock::start(),
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

    /// Returns the time since the fake began.
    pub(super) fn now(&self) -> Duration {
        self.clock.moment().since(Moment::after_start(Duration::ZERO))
    }

    /// Returns the wall-clock time.
    pub(super) fn wall(&self) -> Timestamp {
        let now = self.clock.now();
        now.checked_add(self.settings.ahead_by).unwrap_or(now)
    }

    /// Returns the time in Discord's format.
    pub(super) fn date(&self) -> String {
        self.wall().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
    }

    /// Returns a new id, which encodes its time and a number.
    pub(super) fn new_id(&mut self) -> u64 {
        let ms = u64::try_from(self.wall().as_millisecond() - EPOCH_MS).unwrap_or_default();
        self.last_id = (ms << 22).max(self.last_id + 1);
        self.last_id
    }

    pub(super) fn add_person(&mut self, id: u64, name: &str) {
        self.users.insert(id, things::user(id, name, false));
    }

    /// Returns a user. A user that was not created has a default name.
    pub(super) fn user(&self, id: u64) -> Value {
        let known = self.users.get(&id).cloned();
        known.unwrap_or_else(|| things::user(id, &format!("person-{id}"), false))
    }
}

/// Returns an id, given as a string or as a number.
pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
