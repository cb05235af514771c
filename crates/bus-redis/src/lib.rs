//! The bell between nodes, over Redis.
//!
//! # Promise
//!
//! Nobody waits for Redis longer than [`RING_WAIT`](nightdesk_types::limits::RING_WAIT), and
//! after it failed once nobody waits at all until it is heard again. A break that can be seen is
//! told to [`Doubt`](nightdesk_bus::Doubt) within
//! [`BEAT_MISSED_AFTER`](nightdesk_types::limits::BEAT_MISSED_AFTER), and whatever Redis does, it
//! can cause a look at the table and nothing else.
//!
//! Begin with [`RedisBell`], which is what is rung; `link.rs` keeps it connected and notices
//! when it is not.

mod bell;
mod ceiling;
mod link;
mod connect;
mod follow;
mod hear;
mod voice;
mod peers;
mod note;
mod channel;
mod metrics;

pub use bell::{RedisBell, Settings};
pub use connect::ConnectError;
pub use metrics::Metrics;
