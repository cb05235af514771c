//! A claimed fire, and the agent's function that runs it.

use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;

use nightdesk_types::Timestamp;

use super::job::Job;
use super::limits::NOTE_CHARS_MAX;

/// A fire that belongs to this run only.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fire {
    /// The job to run.
    pub job: Job,
    /// The time at which it was due; the current time may be later.
    pub fire_at: Timestamp,
    /// The desk's id of the fire, or the agent's own for a local one.
    pub fire_id: String,
    /// The number of runs of the job, including this one.
    pub run: u32,
    /// True if the agent fired the job itself, because the desk was unavailable.
    pub is_local: bool,
}

/// Runs a fire, and returns a short error text if it fails.
pub(super) type Work =
    Arc<dyn Fn(Fire) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// Wraps the agent's function.
pub(super) fn work<F, Run, E>(run: F) -> Work
where
    F: Fn(Fire) -> Run + Send + Sync + 'static,
    Run: Future<Output = Result<(), E>> + Send + 'static,
    E: Display,
{
    Arc::new(move |fire| {
        let run = run(fire);
        Box::pin(async move { run.await.map_err(|error| note(&error)) })
    })
}

fn note(error: &impl Display) -> String {
    error.to_string().chars().take(NOTE_CHARS_MAX).collect()
}
