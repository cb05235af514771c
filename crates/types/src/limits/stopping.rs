//! Limits of stops.

use std::time::Duration;

/// Time that a stop waits for its result. Then the stop counts as delivered.
pub const STOP_ANSWER_WAIT: Duration = Duration::from_millis(1_500);

/// Time for an agent's URL to answer a stop.
pub const STOP_POST_WAIT: Duration = Duration::from_secs(10);

/// Stops of one agent that are posted to its URL at the same time. Further ones are not delivered.
pub const STOP_POSTS_MAX: usize = 4;

/// Stops on one line whose client has not answered. The oldest is forgotten when another comes.
pub const STOPS_OPEN_MAX: usize = 16;

/// Stops of one node that wait for their results. The results of further ones are not awaited.
pub const STOPS_WAITING_MAX: usize = 4_096;

/// Longest id of a stop.
pub const STOP_ID_BYTES_MAX: usize = 64;

/// Names of one session under which a stop is sent to a client that does not answer.
pub const STOP_NAMES_MAX: usize = 8;

/// Stops per minute of one person on one bot, and of one agent.
pub const STOPS_PER_MINUTE: u32 = 30;

/// Waiting entries of a chat that one stop parks.
pub const STOPPED_ENTRIES_MAX: usize = 1_000;

/// Longest word that stops a turn, in characters.
pub const STOP_WORD_CHARS_MAX: usize = 32;

const _: () = assert!(
    STOP_ANSWER_WAIT.as_millis() + super::RING_WAIT.as_millis() < 2_000,
    "a person knows the result of a stop within two seconds",
);
