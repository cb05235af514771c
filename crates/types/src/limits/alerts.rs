//! Limits of alerts.

use std::time::Duration;

use super::{SEND_DONE_WITHIN, STATEMENT_WAIT};

/// Interval at which the causes of alerts are looked for.
pub const ALERT_SWEEP_EVERY: Duration = Duration::from_secs(5);

/// Interval at which causes are looked for that need counts of many rows, or change slowly.
pub const ALERT_SLOW_SWEEP_EVERY: Duration = Duration::from_mins(1);

/// Interval at which due messages are claimed.
pub const ALERT_DELIVERY_EVERY: Duration = Duration::from_secs(2);

/// Interval at which a node reports its certificate and its folders.
pub const FINDINGS_EVERY: Duration = Duration::from_mins(1);

/// Time after which the report of a node does not count any more.
pub const FINDINGS_LAST: Duration = Duration::from_mins(5);

/// Pairs of tenant and kind that one look for causes returns, and alerts that one sweep reads.
pub const ALERT_CAUSES_MAX: usize = 10_000;

/// Subjects that an alert names; the others are counted.
pub const ALERT_SAMPLES_MAX: usize = 10;

/// Longest subject of an alert, in characters.
pub const ALERT_SAMPLE_CHARS_MAX: usize = 200;

/// Time after an entry found its inbox full within which the inbox is looked at.
pub const ALERT_FULL_FOR: Duration = Duration::from_hours(24);

/// Time for which a single event counts, such as a missed fire or an event in quarantine.
pub const ALERT_EVENT_FOR: Duration = Duration::from_hours(1);

/// Time for which the loss of commits counts.
pub const ALERT_LOSS_FOR: Duration = Duration::from_hours(24);

/// Calls in vain after which a wake is a cause.
pub const ALERT_CALLS_MIN: u32 = 10;

/// Share of a quota, in percent, from which on it is a cause.
pub const ALERT_QUOTA_PERCENT: i64 = 90;

/// Time without a cause after which its alert is resolved.
pub const ALERT_CLEAR_AFTER: Duration = Duration::from_mins(1);

/// The same for an alert that came back within [`ALERT_BACK_WITHIN`].
pub const ALERT_CLEAR_AFTER_RETURN: Duration = Duration::from_hours(1);

/// Time after a resolution within which the same alert has come back.
pub const ALERT_BACK_WITHIN: Duration = Duration::from_hours(1);

/// Interval at which an unchanged cause is recorded as seen.
pub const ALERT_SEEN_EVERY: Duration = Duration::from_secs(20);

/// Times after its opening at which an alert is repeated for the first time and the second time.
pub const ALERT_REPEATED_AFTER: [Duration; 2] = [Duration::from_hours(1), Duration::from_hours(6)];

/// Interval of further repetitions.
pub const ALERT_REPEATED_EVERY: Duration = Duration::from_hours(24);

/// Ways of one tenant, or of the desk.
pub const ALERT_WAYS_MAX: i64 = 8;

/// Longest mail address.
pub const MAIL_ADDRESS_BYTES_MAX: usize = 254;

/// Concurrent deliveries of the node that owns them.
pub const ALERT_DELIVERIES_AT_ONCE_MAX: usize = 64;

/// Timeout of one delivery: a post, a mail, or a message in a chat.
pub const ALERT_CALL_WAIT: Duration = Duration::from_secs(30);

/// Timeout of one step of a conversation with the mail server.
pub const MAIL_COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Time for which a claimed delivery is left to its node.
pub const ALERT_CLAIM_HELD: Duration = Duration::from_mins(1);

/// First delay after a delivery that failed; it doubles with each further one.
pub const ALERT_RETRY_FIRST: Duration = Duration::from_secs(15);

/// Longest delay after a delivery that failed.
pub const ALERT_RETRY_MAX: Duration = Duration::from_hours(1);

/// Time after which a message that cannot be delivered is given up.
pub const ALERT_GIVEN_UP_AFTER: Duration = Duration::from_hours(24);

/// Age of an alert's last change after which no message about it can be due.
pub const ALERT_DUE_WITHIN: Duration = Duration::from_hours(48);

/// Longest stored reason of a delivery that failed, in bytes.
pub const ALERT_OUTCOME_BYTES_MAX: usize = 500;

/// Shortest interval between two test messages of one way.
pub const ALERT_TEST_EVERY: Duration = Duration::from_mins(1);

/// Further folders whose free space an operator can have watched.
pub const WATCHED_FOLDERS_MAX: usize = 16;

const _: () = assert!(
    SEND_DONE_WITHIN.as_secs() < ALERT_CALL_WAIT.as_secs()
        && STATEMENT_WAIT.as_secs() + ALERT_CALL_WAIT.as_secs() < ALERT_CLAIM_HELD.as_secs(),
    "a message in a chat ends by itself, and every delivery is over before another node claims it",
);
const _: () = assert!(
    ALERT_SWEEP_EVERY.as_secs() + ALERT_SEEN_EVERY.as_secs() < ALERT_CLEAR_AFTER.as_secs()
        && ALERT_SLOW_SWEEP_EVERY.as_secs() <= ALERT_CLEAR_AFTER.as_secs(),
    "a cause that is there is seen before its alert could be resolved",
);
const _: () = assert!(
    ALERT_REPEATED_AFTER[0].as_secs() < ALERT_REPEATED_AFTER[1].as_secs()
        && ALERT_REPEATED_AFTER[1].as_secs() < ALERT_REPEATED_EVERY.as_secs(),
    "repetitions become rarer",
);
const _: () = assert!(
    ALERT_REPEATED_EVERY.as_secs() + ALERT_GIVEN_UP_AFTER.as_secs() <= ALERT_DUE_WITHIN.as_secs(),
    "every message is delivered or given up before its alert is too old to be looked at",
);
const _: () =
    assert!(FINDINGS_EVERY.as_secs() * 2 < FINDINGS_LAST.as_secs(), "a report may be late once");
