//! Inbox: what was taken is held until it is acknowledged.
//!
//! # Promise
//!
//! An entry that [`Inbox::put`] reported as stored is handed over at least once, in the order
//! of its agent's numbers, also across the death of any one node. It may be handed over
//! twice; it is never handed to another tenant, and never after its ack was committed.
//!
//! Begin with [`Inbox`]; [`Store`] says what a backend must do, and the conformance suite in
//! `testkit` what that means.

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
