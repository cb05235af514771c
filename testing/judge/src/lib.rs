//! Judges a run by the records of outside observers, and reports broken promises.
//!
//! Verdicts come from outside the desk: platforms, gateways, targets of calls. The records of the desk's own nodes and
//! its database explain, and never excuse.
//!
//! # Promise
//!
//! An incomplete history is never judged, and every violation is reported with the records that show it.
//!
//! A process of a run writes with a [`Recorder`]; [`judge`] reads the records of all processes. Begin with `event.rs`,
//! then `check.rs`: each promise is a file of its folder.

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
pub use event::{
    EntryState, Event, FireState, GatewayState, JobAnswer, OutResult, RATE_LIMIT, Record, Sock,
};
pub use read::ReadError;
pub use recorder::{Recorder, monotonic_ns};
pub use verdict::{Verdict, Violation, judge};
