//! Defines the gateway's records and commands.

use std::time::Duration;

/// A socket that was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Socket {
    /// True if it was opened at the resume URL.
    pub at_resume_url: bool,
    /// Time of its opening, since the fake began.
    pub opened: Duration,
    /// Token of its bot, once it has a session.
    pub token: Option<String>,
    /// Its session, once it has one.
    pub session: Option<String>,
    /// Its shard, and the number of shards, once it has a session.
    pub shard: Option<(u64, u64)>,
    /// Time at which it got its session.
    pub began: Option<Duration>,
    /// Number of heartbeats.
    pub heartbeats: usize,
    /// Time of the last heartbeat.
    pub last_heartbeat: Option<Duration>,
    /// Sequence number in the last heartbeat.
    pub last_heartbeat_seq: Option<u64>,
    /// Time of its close.
    pub closed: Option<Duration>,
    /// Close code, if there was one.
    pub close_code: Option<u16>,
    /// True if the client closed it.
    pub closed_by_client: bool,
}

/// A received IDENTIFY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identify {
    /// Time of receipt, since the fake began.
    pub at: Duration,
    /// Its token.
    pub token: String,
    /// Its shard, and the number of shards.
    pub shard: (u64, u64),
    /// The requested intents.
    pub intents: u64,
    /// True if it came before its bucket was free.
    pub is_too_soon: bool,
}

/// A received RESUME.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Time of receipt, since the fake began.
    pub at: Duration,
    /// Its session.
    pub session: String,
    /// The client's last sequence number.
    pub seq: u64,
    /// True if it was accepted.
    pub is_taken: bool,
    /// True if it came by the resume URL.
    pub at_resume_url: bool,
}

/// A position in a bot's events: the number of its sessions so far, and a sequence number in the newest of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Number of sessions so far.
    pub session: usize,
    /// Sequence number of an event.
    pub seq: u64,
}

/// A command for every open socket that has a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send a reconnect request (op 7).
    Reconnect,
    /// Send that the session is invalid (op 9).
    Invalid {
        /// True if it may be resumed.
        resumable: bool,
    },
    /// Request a heartbeat (op 1).
    Heartbeat,
    /// Close with this code.
    Close(u16),
    /// End without a close frame.
    Cut,
}

/// Returns the longest time for which two of these sockets sent heartbeats for the same shard of a bot.
pub fn overlap(sockets: &[Socket]) -> Duration {
    let pairs = sockets.iter().enumerate().flat_map(|(at, one)| {
        sockets[at + 1..]
            .iter()
            .filter(move |two| (&two.token, two.shard) == (&one.token, one.shard))
            .map(move |two| (one, two))
    });
    let overlaps = pairs.filter_map(|(one, two)| {
        let began = one.began?.max(two.began?);
        Some(one.last_heartbeat?.min(two.last_heartbeat?).saturating_sub(began))
    });
    overlaps.max().unwrap_or_default()
}
