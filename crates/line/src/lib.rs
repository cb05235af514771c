//! Line: the agent's open socket.
//!
//! # Promise
//!
//! Entries go out in order, at most a window of them unacknowledged; an ack counts only on
//! the line that was given the entry. What was not acknowledged when a line ends is still in
//! the inbox. A gateway is told that it was revoked only on proof.
//!
//! Begin with [`session`]: the conversation as a value. [`driver`] is its hands, [`upgrade`]
//! its door.

pub mod session;
pub mod driver;
pub mod upgrade;
mod acks;
mod addresses;
mod admission;
mod controls;
mod desk;
mod failures;
mod ending;
mod leave;
mod meter;
mod metrics;
mod room;
mod socket;
mod store;

pub use desk::{Desk, Greeting};
pub use failures::Failures;
pub use leave::Leaving;
pub use metrics::Metrics;
pub use room::{Dials, Room};
pub use store::{Caller, End, Parting, Store, Taken};
