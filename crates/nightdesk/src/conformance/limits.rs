//! Bounds of a trial.

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_outside::HostRate;

/// Maximum time for the program to connect, or to listen for posts. An interpreter may have to compile first.
pub(super) const START_WAIT: Duration = Duration::from_mins(1);

/// Maximum time for all answers of a scenario, from the last message on.
pub(super) const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// Maximum time for the acks that are missing when every message is answered.
pub(super) const ACK_WAIT: Duration = Duration::from_secs(10);

/// Time after the last expected answer in which a further one is noticed.
pub(super) const SETTLE_FOR: Duration = Duration::from_secs(2);

/// Maximum time for a program to notice a new line of its agent, and to return.
pub(super) const RETURN_WAIT: Duration = Duration::from_secs(30);

/// Time after which a take that opens a line waits for entries: the line is open.
pub(super) const OPENING_WAIT: Duration = Duration::from_secs(1);

/// Maximum time for a turn to begin: the entry was delivered.
pub(super) const TURN_WAIT: Duration = Duration::from_secs(15);

/// Maximum time for a program to exit, or to report that its gateway was revoked.
pub(super) const REVOCATION_WAIT: Duration = Duration::from_secs(20);

/// Maximum time for a program to answer a stop order.
pub(super) const STOP_WAIT: Duration = Duration::from_secs(2);

/// Maximum dials of a program within a second.
pub(super) const DIALS_PER_SECOND_MAX: usize = 5;

/// Interval at which the pages of the chats are read.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Maximum time for one request of the trial itself.
pub(super) const REQUEST_WAIT: Duration = Duration::from_secs(10);

/// Maximum time for a response that passes through: longer than the longest take, and than the turns of the trial.
pub(super) const RESPONSE_WAIT: Duration = Duration::from_secs(75);

/// Pause before an entry is posted again to a program that did not answer. The desk's own pause is a minute.
pub(super) const POST_AGAIN_PAUSE: Duration = Duration::from_millis(500);

/// Maximum time to post an entry again.
pub(super) const POST_AGAIN_WAIT: Duration = Duration::from_mins(1);

/// Time from a post to the loss of its connection, so that the turn has begun.
pub(super) const POST_CUT_AFTER: Duration = Duration::from_millis(300);

/// Maximum bytes of the head of a request or a response.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Maximum bytes of a body, of a message on the line, and of a line in it.
pub(super) const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes that are read at once from a line.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// Number of output lines of a program that are kept for a failed scenario.
pub(super) const OUTPUT_LINES_MAX: usize = 20;

/// Maximum characters of an output line that are kept.
pub(super) const OUTPUT_LINE_CHARS_MAX: usize = 300;

/// Maximum time of a scenario.
pub(super) const SCENARIO_WAIT: Duration = Duration::from_mins(4);

/// Maximum time for all answers after a burst.
pub(super) const BURST_WAIT: Duration = Duration::from_mins(1);

/// Time in which a busy desk takes no line.
pub(super) const BUSY_FOR: Duration = Duration::from_secs(3);

/// Number of chats in a burst, and of messages in each: more than a window of entries, and less than a page's rate.
pub(super) const BURST_CHATS: usize = 5;
pub(super) const BURST_MESSAGES: usize = 8;

/// Messages that one person writes without a pause.
pub(super) const ROW_MESSAGES: usize = 6;

/// Length of a turn that a fault interrupts.
pub(super) const LONG_TURN_SECS: u32 = 3;

/// Length of a turn that is to be stopped.
pub(super) const STOPPED_TURN_SECS: u32 = 20;

/// Time from the delivery of an entry to a fault in its turn.
pub(super) const INTO_THE_TURN: Duration = Duration::from_millis(700);

const _: () = assert!(
    BURST_CHATS * BURST_MESSAGES > nightdesk_types::limits::WINDOW_ENTRIES_MAX,
    "a burst is more than a window"
);

const _: () = assert!(
    INTO_THE_TURN.as_secs() < LONG_TURN_SECS as u64
        && STOP_WAIT.as_secs() < STOPPED_TURN_SECS as u64,
    "a turn still runs when it is interrupted"
);

/// The rate of posts to the program: more than a burst.
pub(super) const POST_RATE: HostRate =
    HostRate { per_second: NonZeroU32::new(1_000).unwrap(), at_once: NonZeroU32::new(64).unwrap() };
