//! Limits: every bound the desk keeps, in one place, checked against each other.

use std::time::Duration;

mod audit;
mod boot;
mod chat;
mod letters;
mod listening;
mod media;
mod outside;
mod rates;
mod shelf;
mod store;
mod time;
mod tokens;
mod vault;
mod waking;

pub use audit::*;
pub use boot::*;
pub use chat::*;
pub use letters::*;
pub use listening::*;
pub use media::*;
pub use outside::*;
pub use rates::*;
pub use shelf::*;
pub use store::*;
pub use time::*;
pub use tokens::*;
pub use vault::*;
pub use waking::*;

/// Entries an agent may hold unacknowledged on one line.
pub const WINDOW_ENTRIES_MAX: usize = 12;

/// Frames a stock client may have unread: at 16 its library misses its own pongs (ADR 0028).
pub const UNREAD_FRAMES_MAX: usize = 12;

/// Bytes of entries an agent may hold unacknowledged on one line. One entry always fits, whatever its size.
pub const WINDOW_BYTES_MAX: usize = 1024 * 1024;

/// The longest frame we send. The stock client dies of one over 1 MiB.
pub const FRAME_OUT_BYTES_MAX: usize = 512 * 1024;

/// The longest message we read from a gateway. The stock client really sends 3 MB.
pub const FRAME_IN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Fragments one incoming message may be cut into.
pub const FRAGMENTS_MAX: u32 = 256;

/// Pings, pongs and closes a gateway may send in [`CONTROL_WINDOW`].
pub const CONTROL_FRAMES_MAX: u32 = 60;

/// The span over which control frames are counted.
pub const CONTROL_WINDOW: Duration = Duration::from_mins(1);

/// How late the slowest real client acks.
pub const LATE_ACK: Duration = Duration::from_secs(40);

/// Without a pong for so long after a ping, a line is suspect.
pub const SUSPECT_PONG: Duration = Duration::from_secs(20);

/// Without an ack of the oldest entry for so long, a line is suspect and a try counts.
pub const SUSPECT_ACK: Duration = Duration::from_secs(45);

/// Without any sign of life, or any ack of the oldest entry, for so long, a line is dead.
pub const DEAD_LINE: Duration = Duration::from_secs(90);

/// How often we ping.
pub const PING_EVERY: Duration = Duration::from_secs(25);

/// How often an entry is handed over before it is parked.
pub const TRIES_MAX: u32 = 3;

/// How long a fresh line may take to say its first hello.
pub const HELLO_WAIT: Duration = Duration::from_secs(30);

/// How long a revoked gateway is listened to before it is told so: its client counts a close
/// before its first hello as a passing fault.
pub const REVOKED_HELLO_WAIT: Duration = Duration::from_millis(100);

/// Dials that are looked up or take their line at a time; the others wait their turn, so that a
/// herd of them leaves the store to those who are in.
pub const DIALS_AT_ONCE_MAX: usize = 6;

/// Dials of known gateways that become lines in a second.
pub const DIALS_PER_SECOND: u32 = 500;

/// Dials that are let in at once after a while without any.
pub const DIALS_BURST: u32 = 100;

/// How long a dial waits to be let in. A stock client gives it ten seconds; who would wait longer
/// is told to come again.
pub const DIAL_ADMITTED_WITHIN: Duration = Duration::from_secs(8);

/// Lines of a node that stops leave over at most this, so that their clients do not all dial
/// at once.
pub const LEAVE_SPREAD: Duration = Duration::from_secs(30);

/// The longest step between two lines that leave: few lines leave soon.
pub const LEAVE_STEP: Duration = Duration::from_millis(10);

/// How long a line that leaves waits for acks and for sends that are under way.
pub const LEAVE_WAIT: Duration = Duration::from_secs(5);

/// Platforms one line may say hello for.
pub const HELLOS_MAX: usize = 16;

/// Sends of one line under way at a time, and as many that only show something for a moment.
pub const SENDS_IN_FLIGHT_MAX: usize = 64;

/// How long a line waits for the answer to a send: the client gives up after this.
pub const SEND_ANSWER_WAIT: Duration = Duration::from_secs(30);

/// How long one call to a platform may take.
pub const PLATFORM_CALL_WAIT: Duration = Duration::from_secs(20);

/// How long a send may take from its frame to its last call, all waiting included: what is
/// unsaid by then stays unsaid, so that the answer is there before the client gives up.
pub const SEND_DONE_WITHIN: Duration = Duration::from_secs(27);

/// Messages one send may be cut into.
pub const PARTS_MAX: usize = 40;

/// Sends of one node that wait for their turn or are under way; more are told to come again.
pub const TURNS_MAX: usize = 20_000;

/// A platform that wants to be left alone is left alone for at least this long, ...
pub const RATE_LIMITED_MIN: Duration = Duration::from_secs(1);

/// ... and is asked again after this long, whatever it said.
pub const RATE_LIMITED_MAX: Duration = Duration::from_mins(10);

/// How often one chat is shown that somebody is typing.
pub const TYPING_EVERY: Duration = Duration::from_secs(1);

/// How long showing that may take.
pub const TYPING_CALL_WAIT: Duration = Duration::from_secs(3);

/// How often people in one chat are told that their agent is being woken.
pub const WAKING_EVERY: Duration = Duration::from_secs(15);

/// How soon a task that waits notices that its node stops.
pub const STOP_NOTICED_WITHIN: Duration = Duration::from_millis(250);

/// For how long it is shown again where what is shown fades; then people know as much as we do.
pub const WAKING_SHOWN_FOR: Duration = Duration::from_mins(2);

/// How long before it fades it is shown again.
pub const STATUS_OVERLAP: Duration = Duration::from_secs(1);

/// Chats in which it is shown again at a time; in more it is shown once.
pub const SHOWN_AT_ONCE_MAX: usize = 256;

/// How many are being told at a time; more are not.
pub const WAKINGS_AT_ONCE_MAX: usize = 64;

/// Paces kept before those that are free again are looked for.
pub const PACES_KEPT_MIN: usize = 1_024;

/// Writing one frame takes at most this long, or the line is dead.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// How long a closed line waits for its client to hang up too.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// How soon it is tried again to note that a line ended.
pub const LINE_END_AGAIN: Duration = Duration::from_secs(3);

/// And how often.
pub const LINE_END_TRIES_MAX: u32 = 200;

/// The longest request id taken from a gateway.
pub const REQUEST_ID_BYTES_MAX: usize = 128;

/// The longest id a platform may give a chat, thread, person or message.
pub const PLATFORM_ID_BYTES_MAX: usize = 512;

/// The longest name, topic or other short text of an event.
pub const SHORT_TEXT_BYTES_MAX: usize = 4 * 1024;

/// The largest body a platform may post to us.
pub const WEBHOOK_BYTES_MAX: usize = 1024 * 1024;

/// How long a platform may take to send its request.
pub const WEBHOOK_READ_WAIT: Duration = Duration::from_secs(10);

/// A source is refused within this when the store is down.
pub const SOURCE_REFUSED_WITHIN: Duration = Duration::from_millis(2_500);

/// Accepts or acks gathered into one statement.
pub const GATHER_MAX: usize = 16;

/// Tasks that write gathered accepts. Few: more only wait for each other's locks.
pub const WRITERS: usize = 4;

/// Accepts waiting for one writer; more are told to come again.
pub const WRITER_QUEUE_MAX: usize = 512;

/// Entries an inbox holds unacknowledged; more are parked with a notice.
pub const INBOX_ENTRIES_MAX: i64 = 10_000;

/// Bytes of entries an inbox holds unacknowledged; more are parked.
pub const INBOX_BYTES_MAX: i64 = 256 * 1024 * 1024;

/// Agents of a tenant, if nobody allowed it more.
pub const AGENTS_QUOTA: i64 = 50;

/// Grants of a tenant, if nobody allowed it more.
pub const GRANTS_QUOTA: i64 = 100;

/// Agents one event may reach.
pub const RECIPIENTS_MAX: usize = 64;

/// Refusals kept per tenant.
pub const REFUSALS_KEPT_MAX: i64 = 1_000;

/// Refusals waiting to be written; more are only counted.
pub const REFUSAL_QUEUE_MAX: usize = 1_024;

/// Unreadable events kept per bot.
pub const QUARANTINE_KEPT_MAX: i64 = 1_000;

/// How old a cached refusal may be.
pub const STALE_REFUSAL_MAX: Duration = Duration::from_secs(2);

/// Bots whose grants and bindings are kept in memory.
pub const BOTS_KNOWN_MAX: u64 = 10_000;

/// How often the gate looks whether they changed, whether or not the bell rang.
pub const REACH_LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often every local line is looked at, whether or not the bell rang.
pub const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Inboxes one step of that looks at.
pub const SWEEP_LINES_MAX: usize = 256;

/// While the bell is broken, all of them are looked at this often, give or take a fifth.
pub const DOUBT_SWEEP_EVERY: Duration = Duration::from_secs(2);

/// Single lines in doubt are gathered for so long before they are looked at.
pub const DOUBT_GATHERED_FOR: Duration = Duration::from_millis(100);

/// Things marked one by one; when there are more, all are.
pub const MARKS_MAX: usize = 16_384;

/// How long whoever rings the bell may wait for it.
pub const RING_WAIT: Duration = Duration::from_millis(50);

/// How often a node says on the bell that it is there, ...
pub const BEAT_EVERY: Duration = Duration::from_millis(400);

/// ... and after how long without its word the bell is broken.
pub const BEAT_MISSED_AFTER: Duration = Duration::from_millis(1_500);

/// A node that is silent for so long is gone, and not cut off.
pub const NODE_FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// The longest hint.
pub const HINT_BYTES_MAX: usize = 2 * 1024;

/// How far a hint's time may be from ours. What is older was found by a sweep, and a stop that
/// late would hit another turn.
pub const HINT_AGE_MAX: Duration = Duration::from_secs(30);

/// How many of a node's hints may overtake one that still counts.
pub const HINT_WINDOW: u64 = 4_096;

/// Lives of nodes whose hints are remembered.
pub const LIVES_MAX: usize = 256;

/// Hints that wait to be heard; when there are more, all lines are looked at.
pub const HINTS_WAITING_MAX: usize = 4_096;

/// Channels of the bell that are asked for at once.
pub const CHANNELS_AT_ONCE_MAX: usize = 512;

/// How long the bell may take to connect, or to give a channel.
pub const BELL_WAIT: Duration = Duration::from_secs(1);

/// A lost bell is tried again after this long, ...
pub const BELL_AGAIN_MIN: Duration = Duration::from_millis(100);

/// ... and then ever more slowly, up to this.
pub const BELL_AGAIN_MAX: Duration = Duration::from_secs(1);

/// A bell that breaks again and again is told of this often.
pub const BELL_TOLD_EVERY: Duration = Duration::from_secs(10);

/// Who may wait on one node for a send to be settled elsewhere.
pub const SETTLED_WAITS_MAX: usize = 20_000;

/// How often refusals are written down.
pub const REFUSAL_FLUSH_EVERY: Duration = Duration::from_secs(1);

/// A revocation is looked for this long, so that a store that was down hides none.
pub const REVOKED_SEEN_WITHIN: Duration = Duration::from_hours(1);

/// Accounts kept in memory.
pub const ACCOUNTS_KEPT_MAX: u64 = 10_000;

/// How long an account is kept in memory before the register is asked again.
pub const ACCOUNT_KEPT_FOR: Duration = Duration::from_secs(5);

/// How far a node's clock may be from the database's.
pub const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_secs(5);

/// How often the two are compared.
pub const CLOCKS_COMPARED_EVERY: Duration = Duration::from_secs(5);

/// How often revoked gateways are looked for.
pub const REVOCATION_SWEEP_EVERY: Duration = Duration::from_secs(1);

/// How old an upgrade token may be past its expiry.
pub const TOKEN_PAST_SECS_MAX: i64 = 60;

/// How far ahead an upgrade token may expire.
pub const TOKEN_AHEAD_SECS_MAX: i64 = 660;

/// Failed upgrades counted against one address in [`UPGRADE_FAILURES_WINDOW`].
pub const UPGRADE_FAILURES_MAX: u32 = 20;

/// The span over which failed upgrades are counted.
pub const UPGRADE_FAILURES_WINDOW: Duration = Duration::from_mins(1);

/// For how long an address that failed more often is told nothing else, if it fails again.
pub const UPGRADE_FAILURES_BARRED: Duration = Duration::from_mins(15);

/// Addresses whose failures are counted at a time.
pub const FAILING_ADDRESSES_MAX: usize = 10_000;

/// Gateways whose last address is remembered; more make the old ones go.
pub const DIALLING_GATEWAYS_MAX: usize = 200_000;

/// How long a new line waits for the one it replaces to be put away.
pub const REPLACED_WAIT: Duration = Duration::from_secs(1);

/// How long a line that ends may take to write its last acks.
pub const LAST_ACKS_WAIT: Duration = Duration::from_millis(2_500);

/// One gateway seen from two addresses within this is worth a warning.
pub const TWO_ADDRESSES_WITHIN: Duration = Duration::from_mins(1);

/// Days of pending entries kept before they are parked as expired.
pub const PENDING_DAYS: i32 = 7;

/// Hours that a change of who may be reached is told to nodes that were away. Later they read
/// everything.
pub const REACH_CHANGES_HOURS: i32 = 1;

/// Hours an acknowledged entry is kept.
pub const ACKED_HOURS: i32 = 24;

/// Days that are opened before they begin, so that a node may rest for as long.
pub const DAYS_OPENED_AHEAD: i32 = 2;

/// Rows one batch of upkeep touches.
pub const UPKEEP_ROWS_MAX: i32 = 1_000;

/// Batches of each kind in one round of upkeep.
pub const UPKEEP_BATCHES_MAX: u32 = 100;

/// How often the upkeep runs.
pub const UPKEEP_EVERY: Duration = Duration::from_mins(5);

/// Days an event's dedupe key is remembered.
pub const DEDUPE_DAYS: i32 = 7;

/// Hours a send is remembered, so that a repeat of it is recognised.
pub const SEND_HOURS: i32 = 24;

/// Days it is remembered who asked what with buttons; whoever presses one later reaches nobody.
pub const PROMPT_DAYS: i32 = 7;

/// Sends of other nodes that one look takes in hand.
pub const WAITING_SENDS_MAX: usize = 512;

/// Bots without an owner that one sweep takes over.
pub const OWNERLESS_BOTS_MAX: usize = 64;

/// Calls of dead nodes that one sweep gives up.
pub const GIVEN_UP_SENDS_MAX: usize = 256;

/// How often sends are looked for that nobody rang for.
pub const SEND_SWEEP_EVERY: Duration = Duration::from_secs(2);

/// How often a send that another node makes is looked at, whether or not the bell rang.
pub const SEND_LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

/// Days within which an entry lets its agent write to the chat it came from.
pub const REACHED_DAYS: i32 = 30;

/// Entries this node has just stored and keeps, so that a line here need not read them back.
pub const RECENT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How long a link code is good.
pub const LINK_CODE_LIFE: Duration = Duration::from_mins(10);

/// How many link codes an agent gets in an hour.
pub const LINK_CODES_PER_HOUR: i64 = 10;

/// How many link codes a person may try on a bot in an hour.
pub const LINK_TRIES_PER_HOUR: i32 = 5;

/// Hours after which a link code, and how often somebody tried one, is forgotten.
pub const LINK_KEPT_HOURS: i32 = 24;

/// How many bots are shown on which an agent may be linked.
pub const OPEN_BOTS_MAX: i32 = 256;

/// How many people may be on an agent's list on a bot.
pub const LISTED_AUTHORS_MAX: usize = 1_000;

/// How many chats or scopes an agent may name where it need not be addressed.
pub const FREE_SCOPES_MAX: usize = 1_000;

/// The largest form or body a gateway may post to us.
pub const GATEWAY_BODY_BYTES_MAX: usize = 64 * 1024;

/// How long a gateway may take to send its body.
pub const GATEWAY_BODY_WAIT: Duration = Duration::from_secs(10);

/// Rows one page of an operator's list has.
pub const LIST_ROWS_MAX: i64 = 200;

/// How long a node's lease lasts without being renewed.
pub const LEASE_LASTS: Duration = Duration::from_secs(7);

/// How often it is renewed.
pub const LEASE_RENEWED_EVERY: Duration = Duration::from_secs(2);

/// How long one renewal may take, and how soon one that failed is tried again.
pub const LEASE_RENEWED_WITHIN: Duration = Duration::from_secs(1);

/// A node whose lease ran out so long ago is gone.
pub const BURIED_AFTER: Duration = Duration::from_secs(2);

/// How long it is remembered who owns something. Whoever acts on something old is refused.
pub const OWNER_KEPT_FOR: Duration = Duration::from_secs(2);

/// Owners remembered at a time.
pub const OWNERS_KEPT_MAX: u64 = 10_000;

const _: () = assert!(
    LEASE_RENEWED_EVERY.as_secs() + 2 * LEASE_RENEWED_WITHIN.as_secs() < LEASE_LASTS.as_secs(),
    "a renewal may fail once without anybody noticing"
);
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
