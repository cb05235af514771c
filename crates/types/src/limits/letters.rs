//! Limits of letters between agents.

use std::time::Duration;

/// Largest text of a letter, in bytes.
pub const LETTER_BYTES_MAX: usize = 64 * 1024;

/// Largest request body with a letter: JSON may escape each byte of the text as six, plus room for other fields.
pub const LETTER_BODY_BYTES_MAX: usize = 6 * LETTER_BYTES_MAX + 8 * 1024;

/// Longest address including its session, in bytes.
pub const ADDRESS_BYTES_MAX: usize = 256;

/// Live sessions that an agent names on a line.
pub const SESSIONS_MAX: usize = 64;

/// Longest name of a session, in bytes.
pub const SESSION_NAME_BYTES_MAX: usize = 128;
const _: () = assert!(
    SESSION_NAME_BYTES_MAX < ADDRESS_BYTES_MAX,
    "an address has room for an agent and its session"
);

/// Longest dispatch or correlation id, in bytes.
pub const DISPATCH_ID_BYTES_MAX: usize = 128;

/// Longest event type of a letter and longest skill name, in bytes.
pub const LETTER_LABEL_BYTES_MAX: usize = 256;

/// Agents for which the configuration may set a route other than the inbox.
pub const WAYS_MAX: usize = 256;

/// Timeout of one connector call.
pub const CONNECTOR_WAIT: Duration = Duration::from_secs(10);

/// Timeout of a connector call for a due letter. After it, another node may claim the letter.
pub const WAY_WHEN_DUE_WAIT: Duration = Duration::from_secs(5);

/// Timeout of writing to a terminal.
pub const TMUX_WAIT: Duration = Duration::from_secs(5);

/// Most bytes that the connector types into a terminal at once.
pub const TMUX_WORDS_BYTES_MAX: usize = 16 * 1024;

/// Letter ids that a connector without its own storage remembers for deduplication.
pub const RECENT_LETTERS_MAX: usize = 1_024;

/// Writers that put letters, each a transaction at a time. A recipient's letters all go to one writer.
pub const LETTER_WRITERS: usize = 2;

/// Longest chain of letters that answer letters.
pub const HOPS_MAX: u32 = 8;

/// Time within which a received letter counts as the one that the agent's next letter answers.
pub const HOP_REMEMBERED: Duration = Duration::from_mins(5);

/// Letters per second from one agent to one other agent.
pub const PAIR_PER_SECOND: u32 = 5;

/// Default time to wait for a reply.
pub const EXCHANGE_WAIT: Duration = Duration::from_mins(1);

/// Longest time that a sender may wait for a reply.
pub const EXCHANGE_WAIT_MAX: Duration = Duration::from_mins(5);

/// Time that the send command waits until a desk has delivered the letter.
pub const LETTER_PUT_WAIT: Duration = Duration::from_secs(3);

/// Poll interval of the send command during [`LETTER_PUT_WAIT`].
pub const LETTER_PUT_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Poll interval of a wait for a reply if the bell does not ring.
pub const REPLY_LOOKED_EVERY: Duration = Duration::from_secs(1);

/// Time that a letter's sender waits for a woken agent to connect before the desk reports the agent as not woken.
pub const WOKEN_WAIT: Duration = Duration::from_secs(3);

/// Poll interval during [`WOKEN_WAIT`].
pub const WOKEN_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Agents on one page of the directory.
pub const AGENTS_PAGE_MAX: usize = 1_000;

/// Letters on one page.
pub const LETTERS_PAGE_MAX: usize = 100;

/// Approximate time within which a repeated tool call without an id of its own is recognised.
pub const CALL_REMEMBERED_MS: u32 = 2 * 60 * 1_000;

/// Largest body of an MCP request.
pub const MCP_BYTES_MAX: usize = 1024 * 1024;

/// Retention of the results of letters.
pub const LETTERS_KEPT: Duration = Duration::from_hours(30 * 24);

const _: () = assert!(
    HOP_REMEMBERED.as_secs() >= EXCHANGE_WAIT_MAX.as_secs(),
    "whoever is waited for still knows what it answers",
);
const _: () = assert!(
    super::FIRE_BEGUN_WITHIN.as_millis() + WAY_WHEN_DUE_WAIT.as_millis()
        < super::FIRE_CALL_HELD.as_millis(),
    "a letter is handed over before somebody else may do so",
);
const _: () = assert!(
    super::FIRE_SWEEP_EVERY.as_millis() < LETTER_PUT_WAIT.as_millis(),
    "a desk that runs puts a letter while its sender looks",
);
const _: () =
    assert!(WOKEN_WAIT.as_millis() < CONNECTOR_WAIT.as_millis(), "who wakes is answered in time");
const _: () = assert!(
    TMUX_WAIT.as_millis() < CONNECTOR_WAIT.as_millis(),
    "a terminal gives up before who waits for it",
);
const _: () = assert!(
    CONNECTOR_WAIT.as_millis() < EXCHANGE_WAIT_MAX.as_millis(),
    "a reply may take longer than handing over what it is to",
);
