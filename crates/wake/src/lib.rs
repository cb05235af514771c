//! Wake: when a sleeping agent is called, and what comes of it.
//!
//! # Promise
//!
//! While something waits for an agent that has no line, or one that does not answer, it is called:
//! for the first time when its client had its time to come back by itself, and then again and again,
//! at most once in fifteen seconds, until it dials in or a day is over. Then its people are told. What
//! the gate refused wakes nobody. No crash loses a wake: it is a row before it is a call.
//!
//! Begin with [`Wake`]; [`decide()`] and [`WakeRow`] have the rules, and [`Store`] says what a backend must do. The
//! inbox's and the lines' stores make wakes due, in the transactions that make them needed.

mod store;
mod row;
mod decide;
mod waits;
mod stop;
mod by_url;
mod by_command;
mod notice;
mod metrics;

pub use by_command::{ByCommand, CommandError};
pub use by_url::ByUrl;
pub use decide::{Decision, DueWake, OpenLine, decide};
pub use metrics::Metrics;
pub use notice::{About, Notice, NoticeKind};
pub use row::{LineEnd, Phase, Suspicion, WakeRow};
pub use stop::{Outcome, Room, Wake};
pub use store::{Claimed, Place, State, Status, Step, Store, Terms, Wakers, Which};
pub use waits::wait_after;
