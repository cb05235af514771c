//! Every limit of the desk, in one place and checked against each other at compile time.

use std::time::Duration;

mod alerts;
mod audit;
mod boot;
mod chat;
mod doctor;
mod leases;
mod letters;
mod listening;
mod media;
mod office;
mod outside;
mod polling;
mod rates;
mod shelf;
mod stopping;
mod store;
mod time;
mod tokens;
mod unproven;
mod upkeep;
mod users;
mod transport;
mod vault;
mod waking;

pub use alerts::*;
pub use audit::*;
pub use boot::*;
pub use chat::*;
pub use doctor::*;
pub use leases::*;
pub use letters::*;
pub use listening::*;
pub use media::*;
pub use office::*;
pub use outside::*;
pub use polling::*;
pub use rates::*;
pub use shelf::*;
pub use stopping::*;
pub use store::*;
pub use time::*;
pub use tokens::*;
pub use transport::*;
pub use unproven::*;
pub use upkeep::*;
pub use users::*;
pub use vault::*;
pub use waking::*;

/// Unacknowledged entries on one line.
pub const WINDOW_ENTRIES_MAX: usize = 12;

/// Unread frames that a stock client may have: at 16 its library misses its own pongs (ADR 0028).
pub const UNREAD_FRAMES_MAX: usize = 12;

/// Bytes of unacknowledged entries on one line. A single entry of any size always fits.
pub const WINDOW_BYTES_MAX: usize = 1024 * 1024;

/// Longest frame that the desk sends. A frame over 1 MiB kills the stock client.
pub const FRAME_OUT_BYTES_MAX: usize = 512 * 1024;

/// Longest message that the desk reads from a gateway. The stock client sends messages of 3 MB.
pub const FRAME_IN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Fragments of one incoming message.
pub const FRAGMENTS_MAX: u32 = 256;

/// Pings, pongs and closes that a gateway may send in [`CONTROL_WINDOW`].
pub const CONTROL_FRAMES_MAX: u32 = 60;

/// Window in which control frames are counted.
pub const CONTROL_WINDOW: Duration = Duration::from_mins(1);

/// Delay of the slowest real client's acks.
pub const LATE_ACK: Duration = Duration::from_secs(40);

/// Time without a pong after a ping when a line becomes suspect.
pub const SUSPECT_PONG: Duration = Duration::from_secs(20);

/// Time without an ack of the oldest entry when a line becomes suspect and the try counts.
pub const SUSPECT_ACK: Duration = Duration::from_secs(45);

/// Time without any sign of life, or without an ack of the oldest entry, when a line is dead.
pub const DEAD_LINE: Duration = Duration::from_secs(90);

/// Ping interval.
pub const PING_EVERY: Duration = Duration::from_secs(25);

/// Deliveries of an entry before it is parked.
pub const TRIES_MAX: u32 = 3;

/// Time within which a new line must send its first hello.
pub const HELLO_WAIT: Duration = Duration::from_secs(30);

/// Time that the desk waits for a revoked gateway's hello before it closes the line with 4401: the client treats a
/// close before its first hello as a temporary fault.
pub const REVOKED_HELLO_WAIT: Duration = Duration::from_millis(100);

/// Authenticated dials that use the store concurrently. Further dials wait for their turn, so a burst of dials leaves the
/// store to the connected lines.
pub const DIALS_AT_ONCE_MAX: usize = 6;

/// Dials of known gateways that become lines per second.
pub const DIALS_PER_SECOND: u32 = 500;

/// Burst of dials after an idle time.
pub const DIALS_BURST: u32 = 100;

/// Longest time that a dial waits for admission. A stock client waits ten seconds; a dial that would wait longer gets a
/// retry response.
pub const DIAL_ADMITTED_WITHIN: Duration = Duration::from_secs(8);

/// Longest time over which a stopping node spreads the close of its lines, so that their clients do not all dial at
/// once.
pub const LEAVE_SPREAD: Duration = Duration::from_secs(30);

/// Longest step between two closes of a stopping node, so that few lines close quickly.
pub const LEAVE_STEP: Duration = Duration::from_millis(10);

/// Time that a closing line waits for acks and for running sends.
pub const LEAVE_WAIT: Duration = Duration::from_secs(5);

/// Hellos, one per platform, that one line may send.
pub const HELLOS_MAX: usize = 16;

/// Sends in flight on one line. The same number applies separately to fleeting sends.
pub const SENDS_IN_FLIGHT_MAX: usize = 64;

/// Time that a line waits for the result of a send; after it, the client gives up.
pub const SEND_ANSWER_WAIT: Duration = Duration::from_secs(30);

/// Timeout of one call to a platform.
pub const PLATFORM_CALL_WAIT: Duration = Duration::from_secs(20);

/// Longest time of a send from its frame to its last call, including all waits. Parts that are not sent by then are
/// dropped, so that the result arrives before the client gives up.
pub const SEND_DONE_WITHIN: Duration = Duration::from_secs(27);

/// Messages into which one send may be split.
pub const PARTS_MAX: usize = 40;

/// Sends of one node that wait or run; further sends get a retry response.
pub const TURNS_MAX: usize = 20_000;

/// Shortest time that the desk honours a platform's rate limit.
pub const RATE_LIMITED_MIN: Duration = Duration::from_secs(1);

/// Longest time that the desk honours a platform's rate limit, even if the platform names more.
pub const RATE_LIMITED_MAX: Duration = Duration::from_mins(10);

/// Minimum interval between two typing indicators in one chat.
pub const TYPING_EVERY: Duration = Duration::from_secs(1);

/// Timeout of a typing indicator.
pub const TYPING_CALL_WAIT: Duration = Duration::from_secs(3);

/// Minimum interval between two waking notices in one chat.
pub const WAKING_EVERY: Duration = Duration::from_secs(15);

/// Time within which a waiting task notices that its node stops.
pub const STOP_NOTICED_WITHIN: Duration = Duration::from_millis(250);

/// Time that a waking status which fades on its platform is renewed.
pub const WAKING_SHOWN_FOR: Duration = Duration::from_mins(2);

/// Time before a status fades when it is renewed.
pub const STATUS_OVERLAP: Duration = Duration::from_secs(1);

/// Chats in which a waking status is renewed concurrently; other chats get it once.
pub const SHOWN_AT_ONCE_MAX: usize = 256;

/// Concurrent waking notices; above it, a notice is dropped.
pub const WAKINGS_AT_ONCE_MAX: usize = 64;

/// Entries of a rate-limit table before free ones are removed.
pub const PACES_KEPT_MIN: usize = 1_024;

/// Bots, chats and agents whose calls are limited at the same time; above it, the calls of further ones are refused.
pub const CALLS_PACED_MAX: usize = 1_000_000;

/// Timeout of writing one frame; after it, the line is dead.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Time that a closed line waits for its client to hang up too.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Retry delay of recording the end of a line.
pub const LINE_END_AGAIN: Duration = Duration::from_secs(3);

/// Attempts to record the end of a line.
pub const LINE_END_TRIES_MAX: u32 = 200;

/// Longest request id of a gateway.
pub const REQUEST_ID_BYTES_MAX: usize = 128;

/// Longest platform id of a chat, thread, person or message.
pub const PLATFORM_ID_BYTES_MAX: usize = 512;

/// Longest name, topic or other short text of an event.
pub const SHORT_TEXT_BYTES_MAX: usize = 4 * 1024;

/// Largest body of a webhook.
pub const WEBHOOK_BYTES_MAX: usize = 1024 * 1024;

/// Timeout of reading a webhook request.
pub const WEBHOOK_READ_WAIT: Duration = Duration::from_secs(10);

/// Time within which a source gets a refusal when the store is down.
pub const SOURCE_REFUSED_WITHIN: Duration = Duration::from_millis(2_500);

/// Accepts or acks in one statement.
pub const GATHER_MAX: usize = 16;

/// Tasks that write batches of accepts. More tasks would only wait for each other's locks.
pub const WRITERS: usize = 4;

/// Accepts that wait for one writer; further accepts get a retry response.
pub const WRITER_QUEUE_MAX: usize = 512;

/// Unacknowledged entries of an inbox; further entries are parked, with an alert.
pub const INBOX_ENTRIES_MAX: i64 = 10_000;

/// Bytes of unacknowledged entries of an inbox; further entries are parked.
pub const INBOX_BYTES_MAX: i64 = 256 * 1024 * 1024;

/// Default number of agents per tenant.
pub const AGENTS_QUOTA: i64 = 50;

/// Default number of gateways per tenant, with the revoked ones.
pub const GATEWAYS_QUOTA: i64 = 500;

/// Default number of stored sends of one agent. They stay for [`SEND_HOURS`] after their request.
pub const AGENT_SENDS_QUOTA: i64 = 100_000;

/// Default number of parked entries of one agent. The next round of upkeep removes the excess.
pub const PARKED_ENTRIES_QUOTA: i64 = 10_000;

/// Default bytes of parked entries of one agent.
pub const PARKED_BYTES_QUOTA: i64 = 256 * 1024 * 1024;

/// Default number of stored prompts of one agent. They stay for [`PROMPT_DAYS`].
pub const AGENT_PROMPTS_QUOTA: i64 = 10_000;

/// Default number of grants per tenant.
pub const GRANTS_QUOTA: i64 = 100;

/// Agents that one event may reach.
pub const RECIPIENTS_MAX: usize = 64;

/// Refusals stored per tenant.
pub const REFUSALS_KEPT_MAX: i64 = 1_000;

/// Refusals that wait to be written; further refusals are only counted.
pub const REFUSAL_QUEUE_MAX: usize = 1_024;

/// Unreadable events stored per bot.
pub const QUARANTINE_KEPT_MAX: i64 = 1_000;

/// Longest age of a cached refusal.
pub const STALE_REFUSAL_MAX: Duration = Duration::from_secs(2);

/// Bots whose grants and bindings are cached.
pub const BOTS_KNOWN_MAX: u64 = 10_000;

/// Interval at which the gate checks these for changes even without a bell.
pub const REACH_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Interval at which every local line is checked even without a bell.
pub const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Inboxes that one step of this sweep checks.
pub const SWEEP_LINES_MAX: usize = 256;

/// Sweep interval over all lines while the bell is broken, plus or minus a fifth.
pub const DOUBT_SWEEP_EVERY: Duration = Duration::from_secs(2);

/// Time that single lines in doubt are collected before they are checked.
pub const DOUBT_GATHERED_FOR: Duration = Duration::from_millis(100);

/// Keys that are marked one by one; above it, all are marked.
pub const MARKS_MAX: usize = 16_384;

/// Longest time that a caller waits for the bell to ring.
pub const RING_WAIT: Duration = Duration::from_millis(50);

/// Interval of a node's heartbeat on the bell.
pub const BEAT_EVERY: Duration = Duration::from_millis(400);

/// Time without a heartbeat after which the bell counts as broken.
pub const BEAT_MISSED_AFTER: Duration = Duration::from_millis(1_500);

/// Time without a heartbeat after which a node counts as gone and not as cut off.
pub const NODE_FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// Longest hint, in bytes.
pub const HINT_BYTES_MAX: usize = 2 * 1024;

/// Largest difference between a hint's time and the local clock. A sweep has found anything older, and a stop that late
/// would hit another turn.
pub const HINT_AGE_MAX: Duration = Duration::from_secs(30);

/// Later hints of a node that may overtake one which is still accepted.
pub const HINT_WINDOW: u64 = 4_096;

/// Node lives whose hints are tracked.
pub const LIVES_MAX: usize = 256;

/// Hints that wait to be processed; above it, all lines are checked.
pub const HINTS_WAITING_MAX: usize = 4_096;

/// Channels in one subscribe command of the bell.
pub const CHANNELS_AT_ONCE_MAX: usize = 512;

/// Timeout of connecting the bell or subscribing to a channel.
pub const BELL_WAIT: Duration = Duration::from_secs(1);

/// First retry delay of a lost bell.
pub const BELL_AGAIN_MIN: Duration = Duration::from_millis(100);

/// Longest retry delay of a lost bell; the delay grows from [`BELL_AGAIN_MIN`] up to this.
pub const BELL_AGAIN_MAX: Duration = Duration::from_secs(1);

/// Minimum interval between two log messages about a broken bell.
pub const BELL_TOLD_EVERY: Duration = Duration::from_secs(10);

/// Requests on one node that wait for another node to settle a send.
pub const SETTLED_WAITS_MAX: usize = 20_000;

/// Interval at which refusals are written.
pub const REFUSAL_FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Age up to which a sweep reads revocations, so that a store outage hides none.
pub const REVOKED_SEEN_WITHIN: Duration = Duration::from_hours(1);

/// Accounts in the cache.
pub const ACCOUNTS_KEPT_MAX: u64 = 10_000;

/// Time that an account stays in the cache.
pub const ACCOUNT_KEPT_FOR: Duration = Duration::from_secs(5);

/// Largest difference between a node's clock and the database's.
pub const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_secs(5);

/// Interval at which the two clocks are compared.
pub const CLOCKS_COMPARED_EVERY: Duration = Duration::from_secs(5);

/// Interval at which revoked gateways are looked for.
pub const REVOCATION_SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Seconds that an upgrade token is accepted after its expiry.
pub const TOKEN_PAST_SECS_MAX: i64 = 60;

/// Seconds ahead that an upgrade token's expiry may lie.
pub const TOKEN_AHEAD_SECS_MAX: i64 = 660;

/// Time that a new line waits until the line that it replaces has ended.
pub const REPLACED_WAIT: Duration = Duration::from_secs(1);

/// Time that an ending line may take to write its last acks.
pub const LAST_ACKS_WAIT: Duration = Duration::from_millis(2_500);

/// Days after which a pending entry is parked as expired.
pub const PENDING_DAYS: i32 = 7;

/// Days that a parked entry is stored, so that an operator can resubmit it.
pub const PARKED_DAYS: i32 = 30;

/// Hours that changes of reach are stored for nodes that were away. A node that was away longer reads everything.
pub const REACH_CHANGES_HOURS: i32 = 1;

/// Retention of an acknowledged entry, in hours.
pub const ACKED_HOURS: i32 = 24;

/// Days that an event's dedupe key is stored.
pub const DEDUPE_DAYS: i32 = 7;

/// Hours that a send is stored, so that a repeat is recognised and its agent may change the message.
pub const SEND_HOURS: i32 = 24;

/// Days that a prompt's author is stored; a later button press reaches no agent.
pub const PROMPT_DAYS: i32 = 7;

/// Sends of other nodes that one query claims.
pub const WAITING_SENDS_MAX: usize = 512;

/// Bots without an owner that one sweep takes over.
pub const OWNERLESS_BOTS_MAX: usize = 64;

/// Calls of dead nodes that one sweep abandons.
pub const GIVEN_UP_SENDS_MAX: usize = 256;

/// Interval at which a node looks for sends without a bell.
pub const SEND_SWEEP_EVERY: Duration = Duration::from_secs(2);

/// Interval at which a node checks a send that another node makes, even without a bell.
pub const SEND_LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

/// Days within which an entry permits its agent to write to the entry's chat.
pub const REACHED_DAYS: i32 = 30;

/// Size of the cache of entries that this node just stored, so that a local line need not read them back.
pub const RECENT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Lifetime of a link code.
pub const LINK_CODE_LIFE: Duration = Duration::from_mins(10);

/// Link codes per hour of one agent.
pub const LINK_CODES_PER_HOUR: i64 = 10;

/// Link codes per hour that a person may try on a bot.
pub const LINK_TRIES_PER_HOUR: i32 = 5;

/// Hours that link codes and the counts of tries are stored.
pub const LINK_KEPT_HOURS: i32 = 24;

/// Bots in the list of those on which an agent may be linked.
pub const OPEN_BOTS_MAX: i32 = 256;

/// People on an agent's allow list per bot.
pub const LISTED_AUTHORS_MAX: usize = 1_000;

/// Chats or scopes in which an agent may waive the need to be addressed.
pub const FREE_SCOPES_MAX: usize = 1_000;

/// Largest form or body that a gateway may post.
pub const GATEWAY_BODY_BYTES_MAX: usize = 64 * 1024;

/// Timeout of reading a gateway's body.
pub const GATEWAY_BODY_WAIT: Duration = Duration::from_secs(10);

/// Rows on one page of an operator's list.
pub const LIST_ROWS_MAX: i64 = 200;

const _: () = assert!(
    LATE_ACK.as_secs() < SUSPECT_ACK.as_secs() && SUSPECT_ACK.as_secs() < DEAD_LINE.as_secs(),
    "a slow client is not suspect, and a suspect line is not yet dead",
);
const _: () = assert!(
    PING_EVERY.as_secs() + SUSPECT_PONG.as_secs() < DEAD_LINE.as_secs(),
    "a line is pinged and suspected before it is judged dead",
);
const _: () = assert!(
    FRAME_OUT_BYTES_MAX <= WINDOW_BYTES_MAX,
    "the largest frame fits into an empty window",
);
const _: () = assert!(
    STATEMENT_WAIT.as_millis() < SOURCE_REFUSED_WITHIN.as_millis(),
    "a statement is given up before the source must have its answer",
);
const _: () = assert!(
    PLATFORM_CALL_WAIT.as_secs() < SEND_ANSWER_WAIT.as_secs(),
    "a platform call ends before its client gives up",
);
const _: () = assert!(
    SEND_DONE_WITHIN.as_secs() + STATEMENT_WAIT.as_secs() < SEND_ANSWER_WAIT.as_secs(),
    "what came of a send is written down and answered before its client gives up",
);
const _: () = assert!(
    PLATFORM_CALL_WAIT.as_secs() <= SEND_DONE_WITHIN.as_secs(),
    "one call fits into the time of a send",
);
const _: () = assert!(
    STALE_REFUSAL_MAX.as_millis() <= 2_500,
    "only refusals may be stale, and not for long",
);
const _: () = assert!(
    DOUBT_SWEEP_EVERY.as_millis() * 6 / 5 < 2_500
        && BEAT_EVERY.as_millis() * 3 < BEAT_MISSED_AFTER.as_millis()
        && BEAT_MISSED_AFTER.as_millis() < 2_500,
    "a broken bell adds less than 2.5 seconds, and one lost word is no break",
);
const _: () = assert!(
    CLOCK_DIFFERENCE_MAX.as_secs() * 2 < HINT_AGE_MAX.as_secs(),
    "two nodes whose clocks are good enough understand each other",
);
