//! Judge: what outside observers saw, and whether every promise was kept.
//!
//! Verdicts come from those outside the desk: platforms, gateways, targets of calls. What the
//! desk's own nodes and its database say explains, and never excuses.
//!
//! # Promise
//!
//! A history that is not whole is never judged, and what was seen to go wrong is told with the
//! records that show it.
//!
//! A process of a run writes with a [`Recorder`]; [`judge`] reads what all of them wrote. Begin
//! with `event.rs`, then `check.rs`: each promise is a file of its folder.

mod event;
mod recorder;
mod read;
mod names;
mod history;
mod check;
mod verdict;

#[cfg(test)]
mod tale;
#[cfg(test)]
mod property;

pub use check::Invariant;
pub use event::{EntryState, Event, FireState, GatewayState, JobAnswer, OutResult, Record, Sock};
pub use read::ReadError;
pub use recorder::{Recorder, monotonic_ns};
pub use verdict::{Verdict, Violation, judge};
