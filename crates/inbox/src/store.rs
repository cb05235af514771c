//! The store interface of the inbox.
//!
//! Accepts, reads and acks come in batches: one response per request, in the order of the requests. If a store cannot
//! execute one of them, it executes none.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantScope, Timestamp};

use crate::{AcceptRequest, Entry, LineClaim, ParkReason, SourceCursor, StoredEntry};

/// The result of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// One entry per recipient, each with the next number of its agent.
    Stored(Vec<StoredEntry>),
    /// The event was stored before; the first one counts.
    Duplicate,
    /// The gate's decision is based on an outdated version. Decide again.
    Stale,
    /// Another node owns the source now. Release it.
    Fenced,
}

/// A line's request for the entries after the last one that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// The line.
    pub line: LineClaim,
    /// The last number that it has read.
    pub after: Seq,
    /// A lower bound on the time of all unread entries.
    pub since: Timestamp,
    /// The number of entries that it can take.
    pub entries_max: usize,
    /// The number up to which only the table is read, because an earlier line may have acked some entries.
    pub taken_at: Seq,
}

/// The response to a line's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadResponse {
    /// The next entries, in order. Empty: there are no more.
    Entries(Vec<Entry>),
    /// Another line took over.
    LineReplaced,
    /// The line began in another history of the store.
    HistoryChanged,
}

/// Entries that an agent has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckRequest {
    /// The line on which it acknowledged them.
    pub line: LineClaim,
    /// The acknowledged numbers; the ranges do not overlap.
    pub ranges: Vec<AckRange>,
}

impl AckRequest {
    /// Returns the count of the numbers.
    pub(crate) fn entry_count(&self) -> u64 {
        let count = |range: &AckRange| u64::try_from(range.to.get() - range.from.get() + 1);
        self.ranges.iter().filter_map(|range| count(range).ok()).sum()
    }
}

/// Entries acknowledged together. Numbers in the range without an entry were parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The first number.
    pub from: Seq,
    /// The last number, inclusive.
    pub to: Seq,
    /// The time when the last of them was accepted.
    pub at: Timestamp,
    /// The time when the first of them was delivered.
    pub handed_at: Timestamp,
}

/// The result of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckOutcome {
    /// The new position of the cursor.
    Moved(Seq),
    /// Another line took over; these acks do not count.
    LineReplaced,
    /// The line began in another history of the store; these acks do not count.
    HistoryChanged,
    /// The inbox has no entry with the last of these numbers: the store lost it. These acks do not count.
    BeyondHead,
}

/// The result of parking an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkOutcome {
    /// It is parked, and the inbox moves on.
    Parked,
    /// Another line took over, or another history of the store began.
    LineReplaced,
    /// It was acknowledged or parked before.
    NotWaiting,
}

/// An authentic but unreadable event, stored for the operator.
#[derive(Clone, Debug)]
pub struct QuarantinedEvent {
    /// The operator of the bot.
    pub operator: TenantScope,
    /// The bot that received it.
    pub bot: BotId,
    /// The reason why it cannot be read.
    pub problem: String,
    /// The received bytes.
    pub body: Vec<u8>,
}

/// Stores entries until they are acknowledged.
#[async_trait]
pub trait Store: Send + Sync {
    /// Stores each event for each of its recipients, once. All of them or none.
    async fn accept(&self, events: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError>;

    /// Returns the unacknowledged entries of each line's agent, in order.
    async fn read_waiting(&self, asks: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError>;

    /// Moves each cursor, if its line is still the agent's newest.
    async fn ack(&self, acks: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError>;

    /// Parks an entry that could not be delivered, with the reason.
    async fn park(
        &self,
        line: &LineClaim,
        seq: Seq,
        reason: ParkReason,
    ) -> Result<ParkOutcome, StoreError>;

    /// Returns the last assigned number of each inbox.
    async fn read_heads(&self, agents: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError>;

    /// Takes over a source and returns its cursor. The epoch fences every earlier owner.
    async fn take_source(
        &self,
        operator: TenantScope,
        bot: BotId,
        source: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError>;

    /// Saves the cursor of a source without storing an event. Returns true if this node still owns the source.
    async fn move_cursor(
        &self,
        operator: TenantScope,
        bot: BotId,
        mark: &SourceCursor,
    ) -> Result<bool, StoreError>;

    /// Stores an unreadable event in a ring of its bot.
    async fn quarantine(&self, unreadable: &QuarantinedEvent) -> Result<(), StoreError>;
}
