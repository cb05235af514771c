//! Wakes sleeping agents that have entries waiting.
//!
//! # Promise
//!
//! While an entry waits for an agent that has no line, or whose line does not answer, the desk calls the agent. The
//! first call comes after its client had time to reconnect by itself; the next ones follow at most once in fifteen
//! seconds, until the agent dials in or a day is over. Then its people are notified. The author of the oldest entry
//! hears of a delay once, after some minutes. An event that the gate refused causes no wake. No crash loses a wake: it is
//! a row before it is a call.
//!
//! Begin with [`Waker`]; [`decide()`] and [`WakeRow`] have the rules, and [`Store`] is the contract of a backend. The
//! inbox's and the lines' stores make wakes due, in the transactions that make them needed.

mod store;
mod row;
mod decide;
mod backoff;
mod waker;
mod wake_url;
mod wake_command;
mod notice;
mod metrics;

pub use backoff::backoff_after;
pub use decide::{DueWake, OpenLine, WakeDecision, decide};
pub use metrics::Metrics;
pub use notice::{NoticeKind, NoticeSubject, OwnerNotice};
pub use row::{LineEnd, Suspicion, WakePhase, WakeRow};
pub use store::{
    AgentWakeStatus, AgentWebhook, DelayNotice, NewWebhook, Store, WaitingChat, WakeAdmin,
    WakeClaim, WakeSelection, WakeStatus, WakeStep, WakeTerms,
};
pub use wake_command::{WakeCommand, WakeCommandError};
pub use wake_url::WakeUrlCaller;
pub use waker::{CallOutcome, CallPermit, Waker, WebhookCall};
