//! Recurring jobs of an agent that is off between them.
//!
//! The agent decides when a job is due and has the desk store exactly one fire for it: the next one. When that is due,
//! the desk calls the agent at its [door](Provider::router), or delivers the fire through its inbox. The agent claims the
//! fire, arms the next one and runs the job.
//!
//! ```no_run
//! use std::error::Error;
//!
//! use nightdesk_sdk::cron::{CronSettings, FileStore, Fire, Job, Login, Provider, Schedule};
//!
//! # async fn start() -> Result<(), Box<dyn Error>> {
//! let login = Login::gateway("gw-1", "secret");
//! let settings = CronSettings::new("https://desk.example", "its id", login)
//!     .called_at("https://agent.example");
//! let provider = Provider::start(settings, FileStore::at("jobs.json"), run)?;
//! let mornings = Schedule::cron_in("30 8 * * 1-5", "Europe/Berlin")?;
//! provider.set(Job::new("report", mornings)).await?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8890").await?;
//! axum::serve(listener, provider.router()).await?;
//! # Ok(())
//! # }
//!
//! async fn run(fire: Fire) -> Result<(), String> {
//!     Err(format!("{} is not written yet", fire.job.id()))
//! }
//! ```
//!
//! # Promise
//!
//! A fire runs at most once, however often it is delivered and however many processes share a [`Store`]: a claim moves
//! the job's next time, so a claim for an old time loses. The next fire is armed before the job runs, so a run that
//! dies stops no later run. Only fires that the desk signed just now for this agent run, and overdue ones of the agent
//! itself while the desk is unavailable.

mod limits;
mod schedule;
mod job;
mod book;
mod plan;
mod store;
mod memory;
mod file;
mod settings;
mod calls;
mod keys;
mod token;
mod verifier;
mod fire;
mod running_jobs;
mod provider_state;
mod arming;
mod fallback;
mod runs;
mod fire_route;
mod provider;

pub use crate::desk_client::{BadDeskSettings, DeskCallError, Login};
pub use book::Book;
pub use file::FileStore;
pub use fire::Fire;
pub use job::{BadJob, Job, Overlap};
pub use memory::MemoryStore;
pub use nightdesk_types::Timestamp;
pub use provider::Provider;
pub use provider_state::{CronError, FireResult, Reconciliation};
pub use schedule::{BadSchedule, Schedule};
pub use settings::CronSettings;
pub use store::{Store, StoreError};
pub use verifier::{FireProof, FireRefusal, FireVerifier};

/// Logs an error that is handled here.
fn warn(error: &(dyn std::error::Error + 'static), what: &str) {
    tracing::warn!(error, "{what}");
}

#[cfg(test)]
mod tests;
