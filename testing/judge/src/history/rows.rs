//! The rows of a history.

use crate::event::{EntryState, OutResult, Sock};
use crate::names::Name;

/// Time of a record, and its number in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) at_ns: u64,
    pub(crate) record: u32,
}

/// Nanoseconds in a millisecond.
const MILLI_NS: u64 = 1_000_000;

impl Mark {
    /// Returns the same record at a later time.
    pub(crate) fn plus_ms(self, ms: u64) -> Self {
        Self { at_ns: self.at_ns.saturating_add(ms * MILLI_NS), ..self }
    }

    /// Returns the same record at an earlier time.
    pub(crate) fn minus_ms(self, ms: u64) -> Self {
        Self { at_ns: self.at_ns.saturating_sub(ms * MILLI_NS), ..self }
    }

    /// Returns the time since another record, or 0 if it was earlier.
    pub(crate) fn ms_after(self, other: Self) -> u64 {
        self.at_ns.saturating_sub(other.at_ns) / MILLI_NS
    }
}

/// An event that a platform sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Send {
    pub(crate) mark: Mark,
    pub(crate) bot: Name,
    pub(crate) chat: Name,
    pub(crate) nonce: Name,
    pub(crate) order: Option<u64>,
    /// Its agents: first index in the list of all, and number.
    pub(crate) expect_from: u32,
    pub(crate) expect_count: u32,
    /// The time when its platform got the confirmation.
    pub(crate) told: Option<Mark>,
}

/// An entry that a gateway received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) agent: Name,
    pub(crate) buffer: Name,
    pub(crate) nonce: Name,
    pub(crate) bytes: u32,
    pub(crate) passthrough: bool,
    /// True if its client never acks it: a passthrough that was not posted.
    pub(crate) is_never_acked: bool,
    /// The time when the gateway was done with it: its ack or an equivalent.
    pub(crate) done: Option<Mark>,
    /// True if a send to its chat was in progress when it arrived. The desk cannot distinguish that from a later send,
    /// and may count the entry as done.
    pub(crate) crossed: bool,
}

impl Receipt {
    /// Returns the earliest time at which the desk may count it as done.
    pub(crate) fn may_be_done(&self) -> Option<Mark> {
        if self.crossed { Some(self.mark) } else { self.done }
    }
}

/// A gateway's ack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) buffer: Name,
}

/// A line, as its gateway saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) opened: Mark,
    /// The process that held it.
    pub(crate) proc: Name,
    pub(crate) gateway: Name,
    pub(crate) agent: Name,
    pub(crate) closed: Option<Close>,
}

/// The end of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    pub(crate) mark: Mark,
    pub(crate) code: u16,
    pub(crate) reason: Name,
}

/// A gateway that is frozen for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frozen {
    pub(crate) agent: Name,
    pub(crate) on: Mark,
    pub(crate) off: Option<Mark>,
}

/// An accepted event, and one of its agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) agent: Name,
    pub(crate) nonce: Name,
    pub(crate) sent: Mark,
    pub(crate) told: Mark,
    /// The time when the agent was first done with it.
    pub(crate) done: Option<Mark>,
}

/// An entry in the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) agent: Name,
    pub(crate) seq: u64,
    pub(crate) buffer: Name,
    /// The time when it was first seen acked.
    pub(crate) acked: Option<Mark>,
    /// The last observation: time and state.
    pub(crate) last: Mark,
    pub(crate) state: EntryState,
}

/// A parked entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Park {
    pub(crate) mark: Mark,
    pub(crate) agent: Name,
    pub(crate) seq: u64,
    pub(crate) buffer: Name,
    pub(crate) reason: Name,
}

/// A parking reason that was declared in advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MayPark {
    pub(crate) nonce: Name,
    pub(crate) reason: Name,
}

/// An event about one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) mark: Mark,
    pub(crate) name: Name,
}

/// A requested stop, or one that reached a gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(crate) mark: Mark,
    pub(crate) chat: Name,
    pub(crate) agent: Option<Name>,
    /// The line that it reached.
    pub(crate) conn: Option<Name>,
}

/// A send that a gateway requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) request: Name,
    pub(crate) chat: Name,
    pub(crate) nonce: Name,
}

/// The result of a send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) request: Name,
    pub(crate) result: OutResult,
}

/// A call that a platform executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) mark: Mark,
    pub(crate) chat: Name,
    pub(crate) nonce: Name,
    pub(crate) request: Option<Name>,
}

/// A capability that was issued with an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    pub(crate) mark: Mark,
    /// The event's id.
    pub(crate) event: Name,
    pub(crate) capability: Name,
    pub(crate) good_for_ms: u64,
}

/// A gateway's request to use a capability, or a use of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) mark: Mark,
    pub(crate) request: Name,
    /// The agent of a request, or the used capability.
    pub(crate) what: Name,
}

/// An event of a bot's socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Socket {
    pub(crate) mark: Mark,
    pub(crate) bot: Name,
    pub(crate) shard: Name,
    pub(crate) id: Name,
    pub(crate) what: Sock,
}

/// An epoch of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    pub(crate) mark: Mark,
    pub(crate) resource: Name,
    pub(crate) number: u64,
    pub(crate) what: Owning,
}

/// The source and the kind of a statement about ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owning {
    /// The tables name this owner.
    Leased(Name),
    /// A node acquired it.
    Acquired,
    /// A node wrote as its owner.
    Committed,
}
