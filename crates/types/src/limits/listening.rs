//! Limits of receiving events from platforms by polling or over a socket.

use std::time::Duration;

/// Bots with a listener in a cell.
pub const LISTENING_BOTS_MAX: i32 = 10_000;

/// Interval at which a node reads which of these bots it owns.
pub const LISTENING_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time within which another node listens for a bot after the bot's owner died.
pub const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(10);

const _: () = assert!(
    super::LEASE_LASTS.as_millis()
        + 2 * super::LEASE_WATCHED_EVERY.as_millis()
        + LISTENING_LOOK_EVERY.as_millis()
        < TAKEN_OVER_WITHIN.as_millis(),
    "a node sees the last renewal, sees the end of the lease, looks for bots, and dials",
);

/// First retry delay after the platform did not answer or the store did not save its events.
pub const LISTEN_AGAIN_MIN: Duration = Duration::from_secs(1);

/// Longest retry delay; the delay grows from [`LISTEN_AGAIN_MIN`] up to this.
pub const LISTEN_AGAIN_MAX: Duration = Duration::from_secs(30);

/// Poll interval for a platform without new events, also if the platform does no long polling.
pub const LISTEN_EVERY: Duration = Duration::from_millis(500);

/// Events of one source that are stored in one ordered batch.
pub const SOURCE_TOGETHER_MAX: usize = 32;

/// Retry interval while the platform rejects the bot's key: the operator may set a new one.
pub const LISTEN_KEYLESS_EVERY: Duration = Duration::from_mins(1);

/// Interval at which the desk checks that webhooks arrive and how long a bot received no events.
pub const HEARING_LOOK_EVERY: Duration = Duration::from_secs(20);

/// Interval at which the time of the last received event is written at most.
pub const HEARD_NOTED_EVERY: Duration = Duration::from_mins(1);

/// Time without events after which a bot counts as deaf.
pub const DEAF_AFTER: Duration = Duration::from_mins(3);

/// Time within which the operator gets a notice, counted from the first event that was missed.
pub const DEAF_TOLD_WITHIN: Duration = Duration::from_mins(5);

/// Timeout of a poll, or of a status call about it, to a platform.
pub const LISTEN_CALL_MAX: Duration = Duration::from_secs(35);

/// Time of failed deliveries after which a platform may drop a webhook event.
pub const POSTS_KEPT_FOR: Duration = Duration::from_mins(5);

/// Age of the last failed webhook up to which the platform's webhooks count as failing. A platform repeats a failed
/// post sooner if it can.
pub const POST_FAILED_LATELY: Duration = Duration::from_mins(2);

/// Time that a platform stores events for a client that polls.
pub const ASKED_FOR_KEPT_FOR: Duration = Duration::from_hours(24);

/// Button presses that are acknowledged concurrently. Above it, the platform's own timeout ends the button's spinner.
pub const PRESSES_ANSWERED_MAX: usize = 64;

const _: () = assert!(
    DEAF_AFTER.as_secs() + 2 * (HEARING_LOOK_EVERY.as_secs() + LISTEN_CALL_MAX.as_secs())
        <= DEAF_TOLD_WITHIN.as_secs(),
    "a call is noticed to have failed, and after the wait another one is",
);

const _: () = assert!(
    SOURCE_TOGETHER_MAX <= super::WRITER_QUEUE_MAX / 4,
    "a source finds room at its writer, and leaves some to others",
);

const _: () = assert!(
    LISTEN_AGAIN_MIN.as_secs() < LISTEN_AGAIN_MAX.as_secs()
        && LISTEN_AGAIN_MAX.as_secs() < LISTEN_KEYLESS_EVERY.as_secs(),
    "what may pass by itself is looked at sooner than what needs somebody",
);

/// People per event whose visibility of a place the desk queries from the platform.
pub const SIGHT_ASKED_MAX: usize = 4;

/// Timeout of these queries.
pub const SIGHT_ASKED_WAIT: Duration = Duration::from_millis(1_500);

/// New platform sessions of a bot per day. Discord resets the key after a thousand.
pub const SESSIONS_BEGUN_MAX: i32 = 800;

/// New sessions per day after which the operator gets a notice.
pub const SESSIONS_BEGUN_TOLD: i32 = 400;

/// Margin before the last received event from which a gap is searched, because clocks differ.
pub const GAP_MARGIN: Duration = Duration::from_mins(1);

/// Chats in which a gap is searched.
pub const GAP_CHATS_MAX: i32 = 1_000;

/// Pages that a gap search reads per chat.
pub const GAP_CALLS_MAX: usize = 200;

/// Consecutive failures after which a gap search gives up.
pub const GAP_TRIES_MAX: u32 = 6;

/// Timeout of closing a platform connection.
pub const HANG_UP_WAIT: Duration = Duration::from_secs(2);

/// Context messages that an event carries to an agent.
pub const CONTEXT_LINES_MAX: usize = 20;

/// Longest context message, in bytes.
pub const CONTEXT_LINE_BYTES_MAX: usize = 1_024;

/// Timeout of the platform call that reads the context.
pub const CONTEXT_WAIT: Duration = Duration::from_secs(1);

/// Time that overheard messages of a chat stay in the cache after the last use.
pub const OVERHEARD_KEPT_FOR: Duration = Duration::from_hours(1);

/// Size of the cache of overheard messages of all chats.
pub const OVERHEARD_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
