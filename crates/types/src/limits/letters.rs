//! Limits of letters: what agents hand to agents.

use std::time::Duration;

/// Bytes of what a letter says.
pub const LETTER_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a letter as it is posted: each of its own may take six, and there is room for what goes with them.
pub const LETTER_BODY_BYTES_MAX: usize = 6 * LETTER_BYTES_MAX + 8 * 1024;

/// Bytes of an address, with its session.
pub const ADDRESS_BYTES_MAX: usize = 256;

/// Bytes of an id by which a repeat is recognised, or a reply finds who asked.
pub const DISPATCH_ID_BYTES_MAX: usize = 128;

/// Bytes of a label by which receivers sort, and of the name of a skill.
pub const LETTER_LABEL_BYTES_MAX: usize = 256;

/// Ways by which one letter may go at a time.
pub const CONNECTORS_MAX: usize = 16;

/// Agents whose letters go other ways than through their inboxes.
pub const WAYS_MAX: usize = 256;

/// How long one way may take.
pub const CONNECTOR_WAIT: Duration = Duration::from_secs(10);

/// How long a way may take with a letter that was due: others may take it on after that.
pub const WAY_WHEN_DUE_WAIT: Duration = Duration::from_secs(5);

/// How long a terminal may take to be written to.
pub const TMUX_WAIT: Duration = Duration::from_secs(5);

/// Bytes that are typed into a terminal at a time.
pub const TMUX_WORDS_BYTES_MAX: usize = 16 * 1024;

/// Letters that a way without a memory of its own knows again.
pub const RECENT_LETTERS_MAX: usize = 1_024;

/// Writers that put letters, each a transaction at a time. A recipient's letters all go to one writer.
pub const LETTER_WRITERS: usize = 2;

/// How often a letter may be the answer to a letter.
pub const HOPS_MAX: u32 = 8;

/// For so long a letter that came counts as what the next one answers.
pub const HOP_REMEMBERED: Duration = Duration::from_mins(5);

/// Letters of one agent to one other in a second.
pub const PAIR_PER_SECOND: u32 = 5;

/// How long a reply is waited for, if nothing is said.
pub const EXCHANGE_WAIT: Duration = Duration::from_mins(1);

/// The longest that anybody waits for a reply.
pub const EXCHANGE_WAIT_MAX: Duration = Duration::from_mins(5);

/// How long a command that sends a letter waits for a desk to put it, ...
pub const LETTER_PUT_WAIT: Duration = Duration::from_secs(3);

/// ... and how often it looks.
pub const LETTER_PUT_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// How often one that waits for a reply looks for it, if nobody rings.
pub const REPLY_LOOKED_EVERY: Duration = Duration::from_secs(1);

/// How long who wakes an agent waits for it to dial in before it is said that it did not.
pub const WOKEN_WAIT: Duration = Duration::from_secs(3);

/// How often it is looked whether it did.
pub const WOKEN_LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Agents that are told of at a time.
pub const AGENTS_PAGE_MAX: usize = 1_000;

/// Letters on a page.
pub const LETTERS_PAGE_MAX: usize = 100;

/// For about so long a call of a tool that gives no id of its own is recognised when it is repeated.
pub const CALL_REMEMBERED_MS: u32 = 2 * 60 * 1_000;

/// Bytes of a call of a tool.
pub const MCP_BYTES_MAX: usize = 1024 * 1024;

/// How long it is known what came of a letter.
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
