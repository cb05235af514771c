//! Fires the jobs of agents when they are due.
//!
//! # Promise
//!
//! The desk fires an armed job at its instant by the store's clock, never before. The agent takes each fire once: every
//! try has the same id, and the tries end at the first success. Each instant leaves one row with its result and cause.
//! A cancelled job is not fired afterwards; a cancel that comes too late returns [`CancelOutcome::UnderWay`].
//!
//! Begin with [`ArmRequest`], the request of an agent, and [`Scheduler`], which fires jobs. [`Store`] is the contract of a
//! backend, and [`decide`] has the rules that every backend applies.

mod job;
mod fire;
mod store;
pub mod decide;
mod proof;
mod backoff;
mod outcome;
mod callback;
mod scheduler;
mod metrics;

pub use backoff::backoff_after;
pub use callback::{FireCaller, FireTokenMinter, HttpFireCaller};
pub use fire::{Fire, FireCause, FireClaim, FireEnd, FireEnding, FireState};
pub use job::{ArmRequest, BadJob, FireAt, JobId, Overlap, Policies, Target};
pub use metrics::Metrics;
pub use outcome::{FireOutcome, InboxDeliverer, InboxDelivery};
pub use proof::{HmacProof, JwtProof, RelayProof, RelaySecrets, RelaySecretsError};
pub use scheduler::{ArmError, ScheduleClocks, Scheduler, StoreTime};
pub use store::{
    ActiveJob, CancelOutcome, ClaimBatch, FireEntry, JobAdmin, RunReport, ScheduledJob, Store,
    UnarmedJob,
};
