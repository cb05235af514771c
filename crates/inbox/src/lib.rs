//! Stores admitted events until the agent acknowledges them.
//!
//! # Promise
//!
//! An entry that [`Inbox::put`] reported as stored is delivered at least once, in the order of its agent's numbers,
//! also if any one node dies. It may be delivered twice. It is never delivered to another tenant, and never after its
//! ack was committed.
//!
//! Begin with [`Inbox`]. [`Store`] defines a backend, and the suite in `testing/conformance` tests it.

mod sync;
mod accept;
mod admin;
mod author_pace;
mod entry;
mod history;
pub mod batch;
mod metrics;
mod recent;
mod inbox;
mod store;
mod local_entry;
pub mod trail;
mod upkeep;

pub use accept::{AcceptRequest, DedupeKey, EntryCapability, SourceCursor};
pub use admin::{
    EntryDetails, EntryStatus, EntrySummary, InboxAdmin, InboxOverview, ParkRecord, StoppedChat,
};
pub use author_pace::{AuthorCount, AuthorPace, AuthorRates};
pub use entry::{AgentPresence, Entry, LineClaim, ParkReason, StoredEntry};
pub use history::{HistoryBreak, RecordedHistory, SeenHistories, ServerPosition, find_break};
pub use inbox::Inbox;
pub use local_entry::LocalEntry;
pub use metrics::Metrics;
pub use store::{
    AckOutcome, AckRange, AckRequest, ParkOutcome, PutOutcome, QuarantinedEvent, ReadRequest,
    ReadResponse, Store,
};
pub use upkeep::{InboxSweeper, SweepReport};
