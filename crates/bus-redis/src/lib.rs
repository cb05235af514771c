//! The bell between nodes, over Redis.
//!
//! # Promise
//!
//! No caller waits for Redis longer than [`RING_WAIT`](nightdesk_types::limits::RING_WAIT), and after one failure no
//! caller waits at all until the node receives its own heartbeat again. A visible break is reported to
//! [`Doubt`](nightdesk_bus::LinesInDoubt) within [`BEAT_MISSED_AFTER`](nightdesk_types::limits::BEAT_MISSED_AFTER). Any
//! behaviour of Redis can only cause a read of the table.
//!
//! Begin with [`RedisBell`]; `link.rs` maintains its connection and detects breaks.

mod bell;
mod shared_rate_limit;
mod run;
mod connect;
mod subscriptions;
mod receive;
mod publisher;
mod peers;
mod note;
mod channel;
mod metrics;

pub use bell::{BellSettings, RedisBell};
pub use connect::{ConnectError, is_remote_plaintext};
pub use metrics::Metrics;
