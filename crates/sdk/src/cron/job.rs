//! Jobs: a name, a schedule and a payload.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::{CATCH_UP, CATCH_UP_MAX, JITTER_MAX, JOB_ID_BYTES_MAX, PAYLOAD_BYTES_MAX};
use super::schedule::Schedule;

/// A job: its name, its schedule, and its payload for the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "a job does nothing until a provider has it"]
pub struct Job {
    pub(super) id: String,
    pub(super) schedule: Schedule,
    pub(super) repeat: Option<NonZeroU32>,
    pub(super) payload: Value,
    pub(super) overlap: Option<Overlap>,
    pub(super) catch_up: Option<Duration>,
    pub(super) jitter: Option<Duration>,
    pub(super) reports: bool,
}

/// The desk's handling of a fire while the previous run is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The fire is skipped.
    Skip,
    /// One fire waits until the run has ended; further ones are skipped.
    BufferOne,
    /// The fire is delivered all the same.
    AllowAll,
}

/// The reason that a job is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadJob {
    /// The name is empty, too long, or has unsupported characters.
    #[error("a job's name has 1 to {JOB_ID_BYTES_MAX} letters, digits, '.', '-' and '_'")]
    Id,
    /// The payload is too large.
    #[error("a job carries at most {PAYLOAD_BYTES_MAX} bytes of JSON; store the rest elsewhere")]
    Payload,
    /// The catch-up time is too long, or not in whole seconds.
    #[error("the catch-up time has whole seconds, at most {} s", CATCH_UP_MAX.as_secs())]
    CatchUp,
    /// The jitter is too long, or not in whole seconds.
    #[error("the jitter has whole seconds, at most {} s", JITTER_MAX.as_secs())]
    Jitter,
}

impl Job {
    /// Creates a job of this name.
    pub fn new(id: impl Into<String>, schedule: Schedule) -> Self {
        Self {
            id: id.into(),
            schedule,
            repeat: None,
            payload: Value::Null,
            overlap: None,
            catch_up: None,
            jitter: None,
            reports: true,
        }
    }

    /// Ends the job after this number of fires.
    pub const fn times(mut self, times: NonZeroU32) -> Self {
        self.repeat = Some(times);
        self
    }

    /// Sets the payload for the run.
    pub fn carrying(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }

    /// Sets the handling of a fire while the previous run is in progress. The desk learns the end of a run from the
    /// reports.
    pub const fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = Some(overlap);
        self
    }

    /// Skips a fire that is later than this. Whole seconds.
    pub const fn catch_up(mut self, late: Duration) -> Self {
        self.catch_up = Some(late);
        self
    }

    /// Spreads fires over this time, so that not all agents run at once. Whole seconds.
    pub const fn jitter(mut self, over: Duration) -> Self {
        self.jitter = Some(over);
        self
    }

    /// Turns off the reports of ended runs to the desk.
    pub const fn without_reports(mut self) -> Self {
        self.reports = false;
        self
    }

    /// Returns the job's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the payload.
    pub const fn payload(&self) -> &Value {
        &self.payload
    }

    /// Checks that a provider can accept the job.
    pub(super) fn check(&self) -> Result<(), BadJob> {
        let fits = |span: Option<Duration>, most| {
            span.is_none_or(|span| span <= most && span.subsec_nanos() == 0)
        };
        if !is_name(&self.id) {
            return Err(BadJob::Id);
        }
        if self.payload.to_string().len() > PAYLOAD_BYTES_MAX {
            return Err(BadJob::Payload);
        }
        fits(self.catch_up, CATCH_UP_MAX).then_some(()).ok_or(BadJob::CatchUp)?;
        fits(self.jitter, JITTER_MAX).then_some(()).ok_or(BadJob::Jitter)
    }

    /// Returns the maximum delay after which an unarmed time is still made up for.
    pub(super) fn made_up_for(&self) -> Duration {
        self.catch_up.unwrap_or(CATCH_UP)
    }
}

fn is_name(id: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=JOB_ID_BYTES_MAX).contains(&id.len()) && id.chars().all(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: &str) -> Job {
        Job::new(id, Schedule::every(Duration::from_secs(20)).unwrap())
    }

    #[test]
    fn says_what_is_wrong_with_a_job() {
        // A JSON text includes its quotes.
        let carrying = |bytes: usize| job("a").carrying(Value::from("x".repeat(bytes - 2)));
        let second = Duration::from_secs(1);
        let cases = [
            ("good", job("tick"), None),
            ("no name", job(""), Some(BadJob::Id)),
            ("the longest name", job(&"a".repeat(JOB_ID_BYTES_MAX)), None),
            ("a longer one", job(&"a".repeat(JOB_ID_BYTES_MAX + 1)), Some(BadJob::Id)),
            ("a colon, which ends a name in a key", job("a:b"), Some(BadJob::Id)),
            ("as much as it can carry", carrying(PAYLOAD_BYTES_MAX), None),
            ("more", carrying(PAYLOAD_BYTES_MAX + 1), Some(BadJob::Payload)),
            ("late", job("a").catch_up(CATCH_UP_MAX), None),
            ("too late", job("a").catch_up(CATCH_UP_MAX + second), Some(BadJob::CatchUp)),
            ("half a second", job("a").catch_up(second / 2), Some(BadJob::CatchUp)),
            ("spread", job("a").jitter(JITTER_MAX), None),
            ("too far", job("a").jitter(JITTER_MAX + second), Some(BadJob::Jitter)),
        ];
        for (name, job, want) in cases {
            assert_eq!(job.check().err(), want, "{name}");
        }
    }
}
