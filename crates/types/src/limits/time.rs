//! Limits of jobs and fires.

use std::time::Duration;

use super::OUTSIDE_CALL_WAIT;

/// Longest job id, in bytes.
pub const JOB_ID_BYTES_MAX: usize = 128;

/// Longest text form of an instant, in bytes.
pub const FIRE_AT_BYTES_MAX: usize = 64;

/// Longest message to the agent with a fire that goes through its inbox, in bytes.
pub const JOB_WORDS_BYTES_MAX: usize = 4 * 1024;

/// Longest note of an agent about a run, in bytes.
pub const RUN_NOTE_BYTES_MAX: usize = 512;

/// Default number of armed jobs per tenant.
pub const ARMED_JOBS_QUOTA: i64 = 2_000;

/// Default number of armed jobs per agent.
pub const AGENT_JOBS_QUOTA: i64 = 200;

/// Default time after the due instant when an undelivered fire counts as missed.
pub const CATCH_UP: Duration = Duration::from_hours(7 * 24);

/// Longest catch-up time that a job may set.
pub const CATCH_UP_MAX: Duration = Duration::from_hours(30 * 24);

/// Longest random delay that a job may set.
pub const JITTER_MAX: Duration = Duration::from_hours(1);

/// Duration of the claim on a fire's call. No other node claims the fire in this time.
pub const FIRE_CALL_HELD: Duration = Duration::from_secs(10);

/// Time after the claim within which the call must begin; after it, another node may make the call.
pub const FIRE_BEGUN_WITHIN: Duration = Duration::from_secs(4);

/// Timeout of making a call's token. Without a token, the desk makes no call.
pub const FIRE_TOKEN_WAIT: Duration = Duration::from_millis(500);

/// Retry delay after the store did not record the result of a fire.
pub const FIRE_NOTED_AGAIN: Duration = Duration::from_millis(500);

/// Approximate delay after the first call; it doubles after each further call.
pub const FIRE_WAIT_FIRST: Duration = Duration::from_secs(2);

/// Longest delay between two calls.
pub const FIRE_WAIT_MAX: Duration = Duration::from_mins(10);

/// Time after which the desk stops calling an agent that does not take a fire.
pub const FIRE_DEADLINE: Duration = Duration::from_hours(24);

/// Longest `Retry-After` that an agent may set between two calls.
pub const FIRE_RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// Delay after which a taken fire is recorded as late.
pub const FIRE_LATE: Duration = Duration::from_mins(1);

/// Lifetime of a fire's token.
pub const FIRE_TOKEN_LIFE: Duration = Duration::from_secs(90);

/// Time that a run without a reported end counts as running.
pub const RUN_MAX: Duration = Duration::from_hours(1);

/// Time after its last fire when a recurring job that is not armed again causes a notice.
pub const UNARMED_AFTER: Duration = Duration::from_mins(5);

/// Interval at which a node looks for due fires if it knows of no earlier one.
pub const FIRE_SWEEP_EVERY: Duration = Duration::from_millis(500);

/// Minimum pause between two looks for due fires.
pub const FIRE_LOOK_REST: Duration = Duration::from_millis(10);

/// Interval at which a node looks for recurring jobs that are not armed.
pub const UNARMED_SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Time that a call of an external scheduler waits for the result of the fire.
pub const RELAY_WAIT: Duration = Duration::from_secs(8);

/// Poll interval during [`RELAY_WAIT`].
pub const RELAY_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Largest difference between the timestamp of an external scheduler's signature and the desk's clock.
pub const RELAY_SIGNED_WITHIN: Duration = Duration::from_mins(5);

/// Secrets of external schedulers that are valid at the same time.
pub const RELAY_SECRETS_MAX: usize = 8;

/// Shortest secret of an external scheduler, in bytes.
pub const RELAY_SECRET_BYTES_MIN: usize = 32;

/// Fires that one query claims.
pub const FIRES_CLAIMED_MAX: usize = 256;

/// Concurrent fires of a node.
pub const FIRES_AT_ONCE_MAX: usize = 512;

/// Past fires on one page.
pub const FIRES_PAGE_MAX: usize = 100;

/// Retention of the results of fires and of jobs that are not armed.
pub const FIRES_KEPT: Duration = Duration::from_hours(30 * 24);

/// Jobs that one sweep flags.
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
