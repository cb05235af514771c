//! The operator's view of an inbox, and the actions on it.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, Incarnation, Seq, StoreError, TenantScope, Timestamp};

use crate::{LocalEntry, ParkReason};

/// A summary of an inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxOverview {
    /// The last assigned number.
    pub head: Seq,
    /// The number up to which every entry is acknowledged or parked.
    pub acked: Seq,
    /// A page of the waiting entries, in order.
    pub waiting: Vec<EntrySummary>,
    /// A page of the parked entries, in order.
    pub parked: Vec<(EntrySummary, ParkRecord)>,
}

/// An entry without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    /// Its number.
    pub seq: Seq,
    /// The history in which it was accepted.
    pub incarnation: Incarnation,
    /// The time when it was accepted.
    pub at: Timestamp,
    /// The bot that received it.
    pub bot: BotId,
    /// The chat it came from.
    pub chat_id: String,
    /// The length of the body.
    pub body_bytes: usize,
}

/// The parked state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkRecord {
    /// The reason.
    pub reason: ParkReason,
    /// The time when it was parked.
    pub at: Timestamp,
    /// The number of the new entry, if it was resubmitted.
    pub resubmitted_as: Option<Seq>,
}

/// An entry with all its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDetails {
    /// The fields of the list.
    pub summary: EntrySummary,
    /// The state of the entry.
    pub state: EntryStatus,
    /// The number of the parked entry that was resubmitted as this one.
    pub origin: Option<Seq>,
    /// The stored body, which contains people's messages. Empty: it does not open.
    pub body: Vec<u8>,
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryStatus {
    /// Its agent has not acknowledged it.
    Waiting {
        /// The failed deliveries. Only counted for the oldest waiting entry.
        tries: u32,
    },
    /// Its agent acknowledged it.
    Acked {
        /// The times of delivery and acknowledgement, as long as they are stored.
        times: Option<(Timestamp, Timestamp)>,
    },
    /// It is parked.
    Parked(ParkRecord),
}

/// A chat whose waiting entries are set aside because it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedChat<'a> {
    /// The bot of the entries. `None`: every bot.
    pub bot: Option<BotId>,
    /// The chat.
    pub chat_id: &'a str,
    /// The number of entries to park, oldest first.
    pub entries_max: usize,
}

/// Lets an operator read inboxes, park entries and resubmit them.
#[async_trait]
pub trait InboxAdmin: Send + Sync {
    /// Returns the waiting and parked entries after this number. `None`: the tenant has no such agent.
    async fn overview(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<Option<InboxOverview>, StoreError>;

    /// Returns one entry. `None`: it never existed, or its retention is over.
    async fn show_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<EntryDetails>, StoreError>;

    /// Parks a waiting entry, also if its agent has a line. Returns true if the entry was waiting.
    async fn park_waiting(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError>;

    /// Parks the waiting entries of a chat because it was stopped, and returns their number. If the agent has an open
    /// line, it parks none: the agent has the entries, or gets them now.
    async fn park_chat(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: StoppedChat<'_>,
    ) -> Result<usize, StoreError>;

    /// Resubmits a parked entry to its inbox, and returns its new number. `None`: no entry with that number is parked, or
    /// it was resubmitted before.
    async fn resubmit(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Seq>, StoreError>;

    /// Removes a parked entry for good. Returns true if an entry with that number was parked and not resubmitted.
    async fn drop_parked(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError>;

    /// Puts a test entry into an inbox and returns its number. `None`: the tenant has no such agent.
    async fn put_local(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &LocalEntry,
    ) -> Result<Option<Seq>, StoreError>;
}
