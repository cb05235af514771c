//! Limits: every bound of jobs and their fires.

use std::time::Duration;

pub(super) use crate::limits::ASK_WAIT as CALL_WAIT;

/// The shortest and the longest time between two fires of an interval.
pub(super) const EVERY_MIN: Duration = Duration::from_secs(1);
pub(super) const EVERY_MAX: Duration = Duration::from_hours(366 * 24);

/// The longest cron expression, and the longest name of a time zone.
pub(super) const PATTERN_BYTES_MAX: usize = 256;

/// The longest name of a job.
pub(super) const JOB_ID_BYTES_MAX: usize = 64;

/// What a job may carry, as JSON.
pub(super) const PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// How late a fire may be made up for, and over how much fires may be spread, at most.
pub(super) const CATCH_UP_MAX: Duration = Duration::from_hours(30 * 24);
pub(super) const JITTER_MAX: Duration = Duration::from_hours(1);

/// A time that nobody keeps any more is made up for if it lies no longer back than this, unless
/// the job says otherwise: for so long the desk itself tries.
pub(super) const CATCH_UP: Duration = Duration::from_hours(24);

/// Jobs one agent may have: as many as a desk keeps for it.
pub(super) const JOBS_MAX: usize = 200;

/// Fires that are remembered by their id, so that no token is used for two of them.
pub(super) const FIRES_KEPT_MAX: usize = 1_024;

/// How often to begin anew when somebody else changed the jobs meanwhile. Each time, somebody
/// came through.
pub(super) const CHANGE_TRIES_MAX: usize = 64;

/// How long to wait for a file that another process changes, and how long between two looks.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(5);
pub(super) const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// The longest file of jobs.
pub(super) const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The longest fire token that is looked at.
pub(super) const FIRE_TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The longest body of a fire, and how long it may take to come.
pub(super) const FIRE_BYTES_MAX: usize = 4 * 1024;
pub(super) const FIRE_WAIT: Duration = Duration::from_secs(5);

/// How far the clocks of desk and agent may be apart.
pub(super) const CLOCKS_APART: Duration = Duration::from_secs(30);

/// A fire token is good for no longer than this. The desk's are good for a minute or two.
pub(super) const FIRE_TOKEN_LIFE_MAX: Duration = Duration::from_mins(10);

/// How long the desk's keys are used before they are read again, ...
pub(super) const KEYS_FRESH_FOR: Duration = Duration::from_mins(5);

/// ... how long if they cannot be read, ...
pub(super) const KEYS_STALE_FOR: Duration = Duration::from_hours(24);

/// ... and how often they are read at most, whatever a token names.
pub(super) const KEYS_READ_EVERY: Duration = Duration::from_secs(10);

/// How long reading them may take: less than a desk waits for its fire to be taken.
pub(super) const KEYS_WAIT: Duration = Duration::from_secs(3);

/// Keys a desk may have.
pub(super) const KEYS_MAX: usize = 64;

/// The longest name of a key.
pub(super) const KID_BYTES_MAX: usize = 512;

/// Runs under way at a time. Who comes then is asked to come again.
pub(super) const RUNS_MAX: usize = 32;

/// After how long a desk whose fire could not be taken should come again.
pub(super) const COME_AGAIN_SECS: &str = "60";

/// How often the end of a run is reported before that is given up.
pub(super) const REPORT_TRIES_MAX: u32 = 3;

/// What is reported of why a run failed. A desk takes 512 bytes, and a character has up to four.
pub(super) const NOTE_CHARS_MAX: usize = 128;

/// How long to wait before the desk is asked again to arm what it could not, at first ...
pub(super) const AGAIN_FIRST: Duration = Duration::from_secs(1);

/// ... and at most.
pub(super) const AGAIN_TOP: Duration = Duration::from_mins(1);

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
