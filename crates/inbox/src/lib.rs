//! Stores admitted events until the agent acknowledges them.
//!
//! # Promise
//!
//! An entry that [`Inbox::put`] reported as stored is delivered at least once, in the order of its agent's numbers,
//! also if any one node dies. It may be delivered twice. It is never delivered to another tenant, and never after its
//! ack was committed.
//!
//! Begin with [`Inbox`]. [`Store`] defines a backend, and the suite in `testing/conformance` tests it.

mod accept;
mod aside;
mod entry;
pub mod gather;
mod metrics;
mod recent;
mod stop;
mod store;
mod test_entry;
pub mod trail;
mod upkeep;

pub use accept::{Accept, Bound, DedupeKey, SourceMark};
pub use aside::{Aside, Listed, Overview, Parked, Shown, State};
pub use entry::{Entry, LineClaim, ParkReason, Presence, Stored};
pub use metrics::Metrics;
pub use stop::Inbox;
pub use store::{Ack, AckOf, AckRange, Ask, Park, Put, Quarantine, Store, Waiting};
pub use test_entry::TestEntry;
pub use upkeep::{Swept, Upkeep};
