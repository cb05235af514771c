//! Aside: what an operator sees of an inbox, and does to it.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, Seq, StoreError, TenantScope, Timestamp};

use crate::{ParkReason, Stored, TestEntry};

/// An inbox at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The last number given out.
    pub head: Seq,
    /// Everything up to here is acknowledged or set aside.
    pub acked: Seq,
    /// A page of what waits, in order.
    pub waiting: Vec<Listed>,
    /// A page of what is set aside, in order.
    pub parked: Vec<(Listed, Parked)>,
}

/// An entry without what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub seq: Seq,
    /// When it was taken.
    pub at: Timestamp,
    /// The bot that heard it.
    pub bot: BotId,
    /// The chat it came from.
    pub chat_id: String,
    /// How long it is.
    pub body_bytes: usize,
}

/// How an entry is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Why.
    pub reason: ParkReason,
    /// Since when.
    pub at: Timestamp,
    /// The number under which it was put in again.
    pub resubmitted_as: Option<Seq>,
}

/// An entry with all that is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What a list shows of it.
    pub listed: Listed,
    /// What became of it.
    pub state: State,
    /// The number it was set aside under, if it was put in again.
    pub origin: Option<Seq>,
    /// What is stored of it. It holds what people wrote.
    pub body: Vec<u8>,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its agent has not acknowledged it.
    Waiting {
        /// How often it was handed over in vain. Only counted for the oldest that waits.
        tries: u32,
    },
    /// Its agent has it.
    Acked {
        /// When it was handed over, and when acknowledged, while that is remembered.
        times: Option<(Timestamp, Timestamp)>,
    },
    /// It is set aside.
    Parked(Parked),
}

/// Looks at inboxes by hand, and sets aside and puts in again.
#[async_trait]
pub trait Aside: Send + Sync {
    /// What waits and what is set aside after this number. `None`: the tenant has no such
    /// agent.
    async fn overview(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<Option<Overview>, StoreError>;

    /// One entry. `None`: it never was, or is forgotten.
    async fn show(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Shown>, StoreError>;

    /// Sets aside an entry that waits, whether or not its agent has a line. Answers whether it
    /// waited.
    async fn set_aside(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError>;

    /// Puts a parked entry into its inbox again, under a new number. `None`: nothing of that
    /// number is parked, or it was resubmitted before.
    async fn resubmit(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Stored>, StoreError>;

    /// Puts a test entry into an inbox. Answers its number. `None`: the tenant has no such agent.
    async fn put_test(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &TestEntry,
    ) -> Result<Option<Seq>, StoreError>;
}
