//! Judge: what outside observers saw, and whether every promise was kept.
//!
//! Verdicts come from those outside the desk: platforms, gateways, targets of calls. What the
//! desk's own nodes and its database say explains, and never excuses.

mod event;

pub use event::{Event, Record};
