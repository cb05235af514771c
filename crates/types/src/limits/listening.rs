//! Bounds of asking platforms for what was said.

use std::time::Duration;

/// Bots that are listened for, in a whole cell.
pub const LISTENING_BOTS_MAX: i32 = 10_000;

/// How often it is looked which of them this node owns.
pub const LISTENING_LOOK_EVERY: Duration = Duration::from_secs(1);

/// After its owner died, somebody else listens for a bot within this.
pub const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(10);

const _: () = assert!(
    super::LEASE_LASTS.as_secs() + LISTENING_LOOK_EVERY.as_secs() < TAKEN_OVER_WITHIN.as_secs(),
    "a lease runs out, somebody looks, and dials",
);

/// A platform that could not be asked, or a store that could not keep what it said, is tried again after
/// this long, ...
pub const LISTEN_AGAIN_MIN: Duration = Duration::from_secs(1);

/// ... and then ever more slowly, up to this.
pub const LISTEN_AGAIN_MAX: Duration = Duration::from_secs(30);

/// A platform that says nothing is asked again after this long, also if it does not wait by itself.
pub const LISTEN_EVERY: Duration = Duration::from_millis(500);

/// Events that a platform told and that are put together, in order.
pub const SOURCE_TOGETHER_MAX: usize = 32;

/// A platform that does not take a bot's key is asked again this often: somebody may give it another.
pub const LISTEN_KEYLESS_EVERY: Duration = Duration::from_mins(1);

/// Whether a platform's posts come through is looked at this often, and so is how long nothing was heard.
pub const HEARING_LOOK_EVERY: Duration = Duration::from_secs(20);

/// That something was heard is written down at most this often.
pub const HEARD_NOTED_EVERY: Duration = Duration::from_mins(1);

/// A bot that heard nothing for so long is deaf, ...
pub const DEAF_AFTER: Duration = Duration::from_mins(3);

/// ... and its operator is told within this time of the first thing that was not heard.
pub const DEAF_TOLD_WITHIN: Duration = Duration::from_mins(5);

/// How long a platform may take over a question for what was said, or about it.
pub const LISTEN_CALL_MAX: Duration = Duration::from_secs(35);

/// What a platform posts and could not for so long, it may have given up.
pub const POSTS_KEPT_FOR: Duration = Duration::from_mins(5);

/// A post that failed so long ago was posted again since, if it could be.
pub const POST_FAILED_LATELY: Duration = Duration::from_mins(2);

/// What a platform keeps until it is asked for, it keeps so long.
pub const ASKED_FOR_KEPT_FOR: Duration = Duration::from_hours(24);

/// Presses of buttons that are being answered at a time. Beyond it, a button comes to rest by itself.
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

/// Of how many people a platform is asked what they can see, for one event, and ...
pub const SIGHT_ASKED_MAX: usize = 4;

/// ... how long it may take to tell.
pub const SIGHT_ASKED_WAIT: Duration = Duration::from_millis(1_500);

/// How often a bot may begin anew on its platform in a day. Discord takes the key away after a thousand.
pub const SESSIONS_BEGUN_MAX: i32 = 800;

/// After how many its operator is told.
pub const SESSIONS_BEGUN_TOLD: i32 = 400;

/// How much sooner than we heard last it is looked for what fell into a gap: clocks differ.
pub const GAP_MARGIN: Duration = Duration::from_mins(1);

/// In how many chats it is looked for, ...
pub const GAP_CHATS_MAX: i32 = 1_000;

/// ... how often a platform is asked for the next page of one, ...
pub const GAP_CALLS_MAX: usize = 200;

/// ... and how often in a row it may not answer before it is gone on without.
pub const GAP_TRIES_MAX: u32 = 6;

/// How long hanging up on a platform may take.
pub const HANG_UP_WAIT: Duration = Duration::from_secs(2);

/// Lines of what was said around a message that an agent is told, ...
pub const CONTEXT_LINES_MAX: usize = 20;

/// ... how much of each, ...
pub const CONTEXT_LINE_BYTES_MAX: usize = 1_024;

/// ... and how long a platform may take to tell them.
pub const CONTEXT_WAIT: Duration = Duration::from_secs(1);

/// How long what was overheard in a chat is remembered after the last of it, ...
pub const OVERHEARD_KEPT_FOR: Duration = Duration::from_hours(1);

/// ... and how much of it in all chats.
pub const OVERHEARD_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
