//! Schedule: when an agent's jobs are due, and who tells it.
//!
//! # Promise
//!
//! A job that is armed is fired at its instant, never before, by the store's clock. Its agent takes each
//! fire once: every try has the same id and tries end at the first "taken". Each instant leaves one row
//! that says how it went and why. What was cancelled is not told afterwards; whoever cancels too late
//! hears so.
//!
//! Begin with [`Arm`], what an agent asks for, and [`Schedule`], which tells it; [`Store`] says what a
//! backend must do, and [`decide`] has the rules that every backend applies.

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
