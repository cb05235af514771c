//! What the inbox asks of a store.
//!
//! Accepts, reads and acks come gathered: one answer per ask, in the order of the asks. A
//! store that cannot answer one of them answers none and has done nothing.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantScope, Timestamp};

use crate::{Accept, Entry, LineClaim, ParkReason, SourceMark, Stored};

/// What came of one event given to the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// One entry per recipient, each with the next number of its agent.
    Stored(Vec<Stored>),
    /// It was here before; the first time counts.
    Duplicate,
    /// The gate decided on something that has changed since. Decide again.
    Stale,
    /// Somebody else owns the source now. Let go of it.
    Fenced,
}

/// A line asks for what comes after what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Who asks.
    pub line: LineClaim,
    /// What it has read.
    pub after: Seq,
    /// Nothing it has not read is older than this.
    pub since: Timestamp,
    /// How many entries it can take.
    pub entries_max: usize,
    /// Up to here the table alone is asked: an earlier line may have acked some of it.
    pub taken_at: Seq,
}

/// What a line gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The next entries, in order. None: there is nothing more.
    Entries(Vec<Entry>),
    /// Another line took over.
    LineReplaced,
}

/// What an agent has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckOf {
    /// On which line.
    pub line: LineClaim,
    /// Which numbers; the ranges do not overlap.
    pub ranges: Vec<AckRange>,
}

impl AckOf {
    /// How many numbers that are.
    pub(crate) fn entries(&self) -> u64 {
        let count = |range: &AckRange| u64::try_from(range.to.get() - range.from.get() + 1);
        self.ranges.iter().filter_map(|range| count(range).ok()).sum()
    }
}

/// Entries acknowledged together. Numbers in between that are not entries were set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The first number.
    pub from: Seq,
    /// The last number, inclusive.
    pub to: Seq,
    /// When the last of them was taken.
    pub at: Timestamp,
    /// When the first of them was handed over.
    pub handed_at: Timestamp,
}

/// What came of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// The cursor stands here now.
    Moved(Seq),
    /// Another line took over; its acks count, these do not.
    LineReplaced,
}

/// What came of setting an entry aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Park {
    /// It is set aside, and the inbox moves on.
    Parked,
    /// Another line took over.
    LineReplaced,
    /// It was acknowledged or set aside before.
    NotWaiting,
}

/// Something authentic that nobody can read, kept for a person to look at.
#[derive(Clone, Debug)]
pub struct Quarantine {
    /// Who runs the bot.
    pub operator: TenantScope,
    /// The bot that heard it.
    pub bot: BotId,
    /// Why it cannot be read.
    pub problem: String,
    /// What came.
    pub body: Vec<u8>,
}

/// Holds entries until they are acknowledged.
#[async_trait]
pub trait Store: Send + Sync {
    /// Holds each event for each of its recipients, once. All of them or none.
    async fn accept(&self, events: &[Accept]) -> Result<Vec<Put>, StoreError>;

    /// What each line's agent has not acknowledged, in order.
    async fn waiting(&self, asks: &[Ask]) -> Result<Vec<Waiting>, StoreError>;

    /// Moves each cursor, if its line still is the agent's.
    async fn ack(&self, acks: &[AckOf]) -> Result<Vec<Ack>, StoreError>;

    /// Sets aside an entry that could not be handed over, and says why.
    async fn park(
        &self,
        line: &LineClaim,
        seq: Seq,
        reason: ParkReason,
    ) -> Result<Park, StoreError>;

    /// The last number given out in each inbox.
    async fn heads(&self, agents: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError>;

    /// Takes over a source, and says where its reading goes on. The epoch fences out every
    /// earlier owner.
    async fn take_source(
        &self,
        operator: TenantScope,
        bot: BotId,
        source: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError>;

    /// Notes how far a source was read when nothing of it was stored. Answers whether the
    /// source is still ours.
    async fn move_cursor(
        &self,
        operator: TenantScope,
        bot: BotId,
        mark: &SourceMark,
    ) -> Result<bool, StoreError>;

    /// Keeps something unreadable, in a ring of its bot.
    async fn quarantine(&self, unreadable: &Quarantine) -> Result<(), StoreError>;
}
