//! Rows: what a history keeps of its records.

use crate::event::{EntryState, OutResult, Sock};
use crate::names::Name;

/// When a record was noted, and which one it is among all of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) at_ns: u64,
    pub(crate) record: u32,
}

/// Nanoseconds in a millisecond.
const MILLI_NS: u64 = 1_000_000;

impl Mark {
    /// The same record, later.
    pub(crate) fn plus_ms(self, ms: u64) -> Self {
        Self { at_ns: self.at_ns.saturating_add(ms * MILLI_NS), ..self }
    }

    /// The same record, earlier.
    pub(crate) fn minus_ms(self, ms: u64) -> Self {
        Self { at_ns: self.at_ns.saturating_sub(ms * MILLI_NS), ..self }
    }

    /// How long after another it was; 0 if it was before.
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
    /// Its agents: from where in the list of all, and how many.
    pub(crate) expect_from: u32,
    pub(crate) expect_count: u32,
    /// When its platform was told that it is taken.
    pub(crate) told: Option<Mark>,
}

/// An entry that a gateway was handed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) agent: Name,
    pub(crate) buffer: Name,
    pub(crate) nonce: Name,
    pub(crate) bytes: u32,
    pub(crate) passthrough: bool,
    /// When the gateway was done with it: its ack, or what stands for one.
    pub(crate) done: Option<Mark>,
    /// Whether a send to its chat was under way when it came. The desk cannot tell that from a send
    /// that follows it, and may take it for done.
    pub(crate) crossed: bool,
}

impl Receipt {
    /// When the desk may first take it for done.
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

/// How a line ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    pub(crate) mark: Mark,
    pub(crate) code: u16,
    pub(crate) reason: Name,
}

/// A gateway that does nothing for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frozen {
    pub(crate) agent: Name,
    pub(crate) on: Mark,
    pub(crate) off: Option<Mark>,
}

/// An event that was taken, and one agent it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) agent: Name,
    pub(crate) nonce: Name,
    pub(crate) sent: Mark,
    pub(crate) told: Mark,
    /// When the agent first was done with it.
    pub(crate) done: Option<Mark>,
}

/// An entry, as the tables had it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) agent: Name,
    pub(crate) seq: u64,
    pub(crate) buffer: Name,
    /// When it was first seen acked.
    pub(crate) acked: Option<Mark>,
    /// When it was last seen, and how.
    pub(crate) last: Mark,
    pub(crate) state: EntryState,
}

/// An entry that was set aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Park {
    pub(crate) mark: Mark,
    pub(crate) agent: Name,
    pub(crate) seq: u64,
    pub(crate) buffer: Name,
    pub(crate) reason: Name,
}

/// A parking reason that was named in advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MayPark {
    pub(crate) nonce: Name,
    pub(crate) reason: Name,
}

/// Something that happened to one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) mark: Mark,
    pub(crate) name: Name,
}

/// A stop that was asked for, or that reached a gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(crate) mark: Mark,
    pub(crate) chat: Name,
    pub(crate) agent: Option<Name>,
    /// The line it reached.
    pub(crate) conn: Option<Name>,
}

/// A send that a gateway asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) request: Name,
    pub(crate) chat: Name,
    pub(crate) nonce: Name,
}

/// What a gateway was told of a send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) mark: Mark,
    pub(crate) conn: Name,
    pub(crate) request: Name,
    pub(crate) result: OutResult,
}

/// What a platform was asked to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) mark: Mark,
    pub(crate) chat: Name,
    pub(crate) nonce: Name,
    pub(crate) request: Option<Name>,
}

/// Something that was lent with an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    pub(crate) mark: Mark,
    /// The event's id.
    pub(crate) event: Name,
    pub(crate) capability: Name,
    pub(crate) good_for_ms: u64,
}

/// A gateway's request to use what was lent, or a use of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) mark: Mark,
    pub(crate) request: Name,
    /// Who asks, or what is used.
    pub(crate) what: Name,
}

/// What happened to a bot's socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Socket {
    pub(crate) mark: Mark,
    pub(crate) bot: Name,
    pub(crate) shard: Name,
    pub(crate) id: Name,
    pub(crate) what: Sock,
}

/// An epoch of something that can be owned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    pub(crate) mark: Mark,
    pub(crate) resource: Name,
    pub(crate) number: u64,
    pub(crate) what: Owning,
}

/// Who says so, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owning {
    /// The tables: this one owns it.
    Leased(Name),
    /// A node: it is mine.
    Acquired,
    /// A node: I wrote as its owner.
    Committed,
}
