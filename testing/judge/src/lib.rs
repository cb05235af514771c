//! Judge: what outside observers saw, and whether every promise was kept.
//!
//! Verdicts come from those outside the desk: platforms, gateways, targets of calls. What the
//! desk's own nodes and its database say explains, and never excuses.

mod event;
mod recorder;

pub use event::{EntryState, Event, GatewayState, OutResult, Record, Sock};
pub use recorder::{Recorder, monotonic_ns};
