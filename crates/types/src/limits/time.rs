//! Limits of time: jobs that are armed, and fires.

use std::time::Duration;

use super::OUTSIDE_CALL_WAIT;

/// Bytes of a job's name.
pub const JOB_ID_BYTES_MAX: usize = 128;

/// Bytes of an instant as it is written.
pub const FIRE_AT_BYTES_MAX: usize = 64;

/// Bytes of what an agent is told with a fire that comes through its inbox.
pub const JOB_WORDS_BYTES_MAX: usize = 4 * 1024;

/// Bytes of what an agent reports of a run.
pub const RUN_NOTE_BYTES_MAX: usize = 512;

/// Jobs of a tenant that are armed.
pub const ARMED_JOBS_QUOTA: i64 = 2_000;

/// Jobs of one agent that are armed.
pub const AGENT_JOBS_QUOTA: i64 = 200;

/// A fire that nobody could be told of so long after it was due is missed, unless its job says
/// otherwise.
pub const CATCH_UP: Duration = Duration::from_hours(7 * 24);

/// The longest such time a job may ask for.
pub const CATCH_UP_MAX: Duration = Duration::from_hours(30 * 24);

/// The most by which a job may ask to be put off at random.
pub const JITTER_MAX: Duration = Duration::from_hours(1);

/// A fire whose call was claimed is nobody else's for so long.
pub const FIRE_CALL_HELD: Duration = Duration::from_secs(10);

/// A call that has not begun so soon after its claim is not made: others may make it, by now.
pub const FIRE_BEGUN_WITHIN: Duration = Duration::from_secs(4);

/// How long the token of a call may take to be made. It is not made in vain: without one nobody is
/// called.
pub const FIRE_TOKEN_WAIT: Duration = Duration::from_millis(500);

/// A fire that the store could not be told of is told it again after this.
pub const FIRE_NOTED_AGAIN: Duration = Duration::from_millis(500);

/// Between two calls lies about this after the first, and twice as much after each further one, ...
pub const FIRE_WAIT_FIRST: Duration = Duration::from_secs(2);

/// ... up to this.
pub const FIRE_WAIT_MAX: Duration = Duration::from_mins(10);

/// An agent that did not take a fire for so long is not told any more.
pub const FIRE_DEADLINE: Duration = Duration::from_hours(24);

/// The longest wait an agent may ask for between two calls.
pub const FIRE_RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// A fire that was taken later than this is written down as late.
pub const FIRE_LATE: Duration = Duration::from_mins(1);

/// How long the token of a fire is good.
pub const FIRE_TOKEN_LIFE: Duration = Duration::from_secs(90);

/// A run of which no end is reported counts as under way for so long.
pub const RUN_MAX: Duration = Duration::from_hours(1);

/// A recurring job that is not armed so long after its last fire is told of.
pub const UNARMED_AFTER: Duration = Duration::from_mins(5);

/// How often a node looks for what is due, if it knows of nothing sooner.
pub const FIRE_SWEEP_EVERY: Duration = Duration::from_millis(500);

/// How long a node rests at least between two looks, however soon something is due.
pub const FIRE_LOOK_REST: Duration = Duration::from_millis(10);

/// How often a node looks for jobs that should be armed.
pub const UNARMED_SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long another scheduler that says that a job is due waits for what comes of it, ...
pub const RELAY_WAIT: Duration = Duration::from_secs(8);

/// ... and how often that is looked at.
pub const RELAY_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// How old the signature of another scheduler may be, or how far ahead.
pub const RELAY_SIGNED_WITHIN: Duration = Duration::from_mins(5);

/// Secrets of other schedulers that are good at a time.
pub const RELAY_SECRETS_MAX: usize = 8;

/// Bytes that such a secret has at least.
pub const RELAY_SECRET_BYTES_MIN: usize = 32;

/// Fires that are claimed at a time.
pub const FIRES_CLAIMED_MAX: usize = 256;

/// Fires a node tells agents of at a time.
pub const FIRES_AT_ONCE_MAX: usize = 512;

/// Fires of the past that are shown on a page.
pub const FIRES_PAGE_MAX: usize = 100;

/// How long it is known what came of a fire, and of a job that is not armed.
pub const FIRES_KEPT: Duration = Duration::from_hours(30 * 24);

/// Jobs that are flagged at a time.
pub const FIRES_SWEPT_MAX: i32 = 1_000;

const _: () = assert!(
    FIRE_BEGUN_WITHIN.as_millis() + FIRE_TOKEN_WAIT.as_millis() + OUTSIDE_CALL_WAIT.as_millis()
        < FIRE_CALL_HELD.as_millis(),
    "a call ends before somebody else may make it",
);
const _: () = assert!(
    FIRE_WAIT_FIRST.as_secs() < FIRE_WAIT_MAX.as_secs()
        && FIRE_WAIT_MAX.as_secs() < FIRE_DEADLINE.as_secs(),
    "waits grow, and there are many before the deadline",
);
