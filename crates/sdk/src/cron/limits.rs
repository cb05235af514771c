//! All limits of jobs and their fires.

use std::time::Duration;

use nightdesk_types::backoff::Backoff;

pub(super) use crate::limits::ASK_WAIT as CALL_WAIT;

/// Shortest and longest interval between two fires.
pub(super) const EVERY_MIN: Duration = Duration::from_secs(1);
pub(super) const EVERY_MAX: Duration = Duration::from_hours(366 * 24);

/// Maximum length of a cron expression and of a time zone's name.
pub(super) const PATTERN_BYTES_MAX: usize = 256;

/// Maximum length of a job's name.
pub(super) const JOB_ID_BYTES_MAX: usize = 64;

/// Maximum size of a job's payload, as JSON.
pub(super) const PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// Maximum catch-up time and maximum jitter.
pub(super) const CATCH_UP_MAX: Duration = Duration::from_hours(30 * 24);
pub(super) const JITTER_MAX: Duration = Duration::from_hours(1);

/// Default catch-up time of an unarmed fire. The desk itself retries for this long.
pub(super) const CATCH_UP: Duration = Duration::from_hours(24);

/// Maximum number of jobs of one agent: the desk's limit.
pub(super) const JOBS_MAX: usize = 200;

/// Fire ids that are remembered, so that no token is used for two fires.
pub(super) const FIRES_KEPT_MAX: usize = 1_024;

/// Maximum retries after a concurrent change of the jobs. In each round one change succeeds.
pub(super) const CHANGE_TRIES_MAX: usize = 64;

/// Maximum wait for a file that another process changes, and the polling interval.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(5);
pub(super) const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// Maximum size of a file of jobs.
pub(super) const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Maximum length of a fire token.
pub(super) const FIRE_TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Maximum size of a fire's body, and the time in which it must arrive.
pub(super) const FIRE_BYTES_MAX: usize = 4 * 1024;
pub(super) const FIRE_WAIT: Duration = Duration::from_secs(5);

/// Maximum difference between the clocks of desk and agent.
pub(super) const CLOCKS_APART: Duration = Duration::from_secs(30);

/// Maximum life of a fire token. The desk's tokens are valid for a minute or two.
pub(super) const FIRE_TOKEN_LIFE_MAX: Duration = Duration::from_mins(10);

/// Time that the desk's keys are used before they are read again.
pub(super) const KEYS_FRESH_FOR: Duration = Duration::from_mins(5);

/// Time that the desk's keys are used while they cannot be read.
pub(super) const KEYS_STALE_FOR: Duration = Duration::from_hours(24);

/// Minimum time between two reads of the keys, for any token.
pub(super) const KEYS_READ_EVERY: Duration = Duration::from_secs(10);

/// Timeout of reading the keys: less than the desk's timeout of a fire.
pub(super) const KEYS_WAIT: Duration = Duration::from_secs(3);

/// Maximum number of keys of a desk.
pub(super) const KEYS_MAX: usize = 64;

/// Maximum length of a key's name.
pub(super) const KID_BYTES_MAX: usize = 512;

/// Time after which a job that is due and was not fired makes the agent ask whether the desk is available. The desk fires
/// within seconds.
pub(super) const FALLBACK_AFTER: Duration = Duration::from_mins(1);

/// Maximum time between two looks for such jobs: other processes can change the jobs.
pub(super) const FALLBACK_LOOK_EVERY: Duration = Duration::from_secs(30);

/// Minimum time between two such looks.
pub(super) const FALLBACK_LOOK_MIN: Duration = Duration::from_secs(1);

/// Maximum number of concurrent runs. Beyond it, fires are answered with a retry delay.
pub(super) const RUNS_MAX: usize = 32;

/// Retry delay for a fire that could not be taken.
pub(super) const COME_AGAIN_SECS: &str = "60";

/// Maximum number of attempts to report the end of a run.
pub(super) const REPORT_TRIES_MAX: u32 = 3;

/// Maximum length of a reported error. A desk accepts 512 bytes, and a character has up to four.
pub(super) const NOTE_CHARS_MAX: usize = 128;

/// Delays before the desk is reconciled again.
pub(super) const AGAIN: Backoff =
    Backoff { first: Duration::from_secs(1), max: Duration::from_mins(1) };

const _: () = assert!(
    CLOCKS_APART.as_secs() < FIRE_TOKEN_LIFE_MAX.as_secs()
        && KEYS_READ_EVERY.as_secs() < KEYS_FRESH_FOR.as_secs()
        && KEYS_FRESH_FOR.as_secs() < KEYS_STALE_FOR.as_secs(),
    "a leeway is small beside what it is a leeway of, and keys are read again before they are stale",
);
const _: () = assert!(
    (JOBS_MAX * PAYLOAD_BYTES_MAX + FIRES_KEPT_MAX * 64) as u64 * 2 < FILE_BYTES_MAX,
    "as many jobs as there may be, each as long as it may be, fit into a file that can be read",
);
const _: () =
    assert!(CATCH_UP.as_secs() <= CATCH_UP_MAX.as_secs(), "a default is within its bound");
