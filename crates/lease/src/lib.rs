//! Tracks which nodes are alive, and which node owns which resource.
//!
//! # Promise
//!
//! At most one node owns a resource at a time, by the database's clock. Its writes carry the epoch of its ownership and
//! are refused once another node owns the resource. A node that was paused or cut off finds out by itself that its life
//! is over.
//!
//! A node renews one lease from a separate thread; its ownership ends with the lease. Begin with [`Store`] for the
//! rules, then [`LeaseKeeper`] for the thread, then [`Owners`].

mod keeper;
mod lease;
mod owners;
mod store;

pub use keeper::{LeaseKeeper, keep_lease};
pub use lease::Lease;
pub use owners::{Owners, Ownership};
pub use store::{Owner, Renewal, Resource, Store};
