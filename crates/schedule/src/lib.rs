//! Fires the jobs of agents when they are due.
//!
//! # Promise
//!
//! The desk fires an armed job at its instant by the store's clock, never before. The agent takes each fire once: every
//! try has the same id, and the tries end at the first success. Each instant leaves one row with its result and cause.
//! A cancelled job is not fired afterwards; a cancel that comes too late returns [`Cancelled::UnderWay`].
//!
//! Begin with [`Arm`], the request of an agent, and [`Schedule`], which fires jobs. [`Store`] is the contract of a
//! backend, and [`decide`] has the rules that every backend applies.

mod job;
mod fire;
mod store;
pub mod decide;
mod proof;
mod waits;
mod outcome;
mod by_callback;
mod stop;
mod metrics;

pub use by_callback::{ByCallback, Callbacks, Minting};
pub use fire::{Cause, Claimed, End, Fire, FireState};
pub use job::{Arm, BadJob, FireAt, JobId, Overlap, Policies, Target};
pub use metrics::Metrics;
pub use outcome::{Deliver, Outcome, Telling};
pub use proof::{BadSecrets, ByHmac, ByJwt, Proof, Secrets};
pub use stop::{ArmError, Clocks, Schedule, StoreTime};
pub use store::{Armed, Cancelled, Claims, FireEntry, Job, Jobs, Report, Store, Unarmed};
pub use waits::wait_after;
