//! Bounds of asking platforms for what was said.

use std::time::Duration;

/// Bots that are listened for, in a whole cell.
pub const LISTENING_BOTS_MAX: i32 = 10_000;

/// How often it is looked which of them this node owns.
pub const LISTENING_LOOK_EVERY: Duration = Duration::from_secs(2);

/// A platform that could not be asked, or a store that could not keep what it said, is tried again after
/// this long, ...
pub const LISTEN_AGAIN_MIN: Duration = Duration::from_secs(1);

/// ... and then ever more slowly, up to this.
pub const LISTEN_AGAIN_MAX: Duration = Duration::from_secs(30);

/// A platform that says nothing is asked again after this long, also if it does not wait by itself.
pub const LISTEN_EVERY: Duration = Duration::from_millis(500);

/// A platform that does not take a bot's key is asked again this often: somebody may give it another.
pub const LISTEN_KEYLESS_EVERY: Duration = Duration::from_mins(1);

const _: () = assert!(
    LISTEN_AGAIN_MIN.as_secs() < LISTEN_AGAIN_MAX.as_secs()
        && LISTEN_AGAIN_MAX.as_secs() < LISTEN_KEYLESS_EVERY.as_secs(),
    "what may pass by itself is looked at sooner than what needs somebody",
);
