//! Wakes sleeping agents that have entries waiting.
//!
//! # Promise
//!
//! While an entry waits for an agent that has no line, or whose line does not answer, the desk calls the agent. The
//! first call comes after its client had time to reconnect by itself; the next ones follow at most once in fifteen
//! seconds, until the agent dials in or a day is over. Then its people are notified. An event that the gate refused
//! causes no wake. No crash loses a wake: it is a row before it is a call.
//!
//! Begin with [`Wake`]; [`decide()`] and [`WakeRow`] have the rules, and [`Store`] is the contract of a backend. The
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
