//! Tracks which nodes are alive, and which node owns which resource.
//!
//! # Promise
//!
//! At most one node owns a resource at a time. Its writes carry the epoch of its ownership and are refused once another
//! node owns the resource. A node that was paused or cut off finds out by itself that its life is over. No step of the
//! database's clock ends a life.
//!
//! A node renews one lease from a separate thread; its ownership ends with its life. Begin with [`Store`] for the
//! rules, then [`NodeWatch`] for the death of a node, then [`LeaseKeeper`] for the thread, then [`Owners`].

mod decide;
mod keeper;
mod lease;
mod owners;
mod store;

pub use decide::{LivesRead, NodeWatch};
pub use keeper::{LeaseKeeper, keep_lease};
pub use lease::Lease;
pub use owners::{Owners, Ownership};
pub use store::{Life, Owner, Peer, PeerDirectory, Renewal, Resource, Store};
