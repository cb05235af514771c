//! Lease: which nodes live, and which of them owns what.
//!
//! # Promise
//!
//! At most one node owns something at a time, by the database's clock: its writes carry the epoch
//! under which it owns it, and are refused once somebody else does. A node that was paused, or cut
//! off, finds out by itself that its life is over.
//!
//! A node renews one lease, from a thread of its own; whatever it owns ends with it. Begin with
//! [`Store`] for the rules, then [`Keeper`] for the thread, then [`Owners`].

mod keeper;
mod lease;
mod owners;
mod store;

pub use keeper::{Keeper, keep};
pub use lease::Lease;
pub use owners::{Owned, Owners};
pub use store::{Owner, Renewed, Resource, Store};
