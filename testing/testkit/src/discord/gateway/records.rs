//! Records: what the gateway saw, and what it is told to do.

use std::time::Duration;

/// A socket that was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Socket {
    /// Whether it was opened at the resume URL.
    pub at_resume_url: bool,
    /// When, since the fake began.
    pub opened: Duration,
    /// Whose it is, once it has a session.
    pub token: Option<String>,
    /// The session, once it has one.
    pub session: Option<String>,
    /// Which shard, of how many, once it has a session.
    pub shard: Option<(u64, u64)>,
    /// When it had its session.
    pub began: Option<Duration>,
    /// How many heartbeats came.
    pub heartbeats: usize,
    /// When the last of them came.
    pub last_heartbeat: Option<Duration>,
    /// The number it named.
    pub last_heartbeat_seq: Option<u64>,
    /// When it was closed.
    pub closed: Option<Duration>,
    /// With which code, if a code was given.
    pub close_code: Option<u16>,
    /// Whether that code was the client's.
    pub closed_by_client: bool,
}

/// An IDENTIFY that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identify {
    /// When, since the fake began.
    pub at: Duration,
    /// With which token.
    pub token: String,
    /// For which shard, of how many.
    pub shard: (u64, u64),
    /// What it wants to hear.
    pub intents: u64,
    /// Whether it came before its bucket was free.
    pub is_too_soon: bool,
}

/// A RESUME that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// When, since the fake began.
    pub at: Duration,
    /// Of which session.
    pub session: String,
    /// The last number the client has.
    pub seq: u64,
    /// Whether it was let in.
    pub is_taken: bool,
    /// Whether it came by the resume URL.
    pub at_resume_url: bool,
}

/// A place in what a bot was told: after so many of its sessions began, a number in the newest of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// How many sessions were begun.
    pub session: usize,
    /// The number of an event.
    pub seq: u64,
}

/// What is done to every open socket that has a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Is told to reconnect (op 7).
    Reconnect,
    /// Is told that its session is invalid (op 9), for good or not.
    Invalid {
        /// Whether it may be resumed.
        resumable: bool,
    },
    /// Is asked for a heartbeat (op 1).
    Heartbeat,
    /// Is closed with this code.
    Close(u16),
    /// Ends without a word.
    Cut,
}

/// The longest time for which two of these sockets sent heartbeats for the same shard of a bot.
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
