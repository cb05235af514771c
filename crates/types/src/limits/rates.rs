//! Rate limits.

use std::time::Duration;

/// Default webhooks per second of one bot.
pub const WEBHOOKS_PER_SECOND: u32 = 200;

/// Burst of webhooks, in seconds of the rate.
pub const WEBHOOKS_AT_ONCE_SECS: u32 = 5;

/// Default messages per minute from one author to one agent; two thirds of them may come in ten seconds.
///
/// Messages over the limit are delivered and wake no agent.
pub const AUTHOR_PER_MINUTE: u32 = 30;

/// An author over this many times the limit has further messages parked.
pub const AUTHOR_PARK_FACTOR: u32 = 10;

/// Messages of one author to one agent that one node may decide on before it has counted earlier ones: those that wait
/// for a writer, and those of its batch. By so many an author may exceed a limit while the store is slow.
pub const AUTHOR_OVERSHOOT_MAX: usize = super::WRITER_QUEUE_MAX + super::GATHER_MAX;

/// Authors that are counted, each for each agent. Further authors are not counted until others rest; the wakes per hour
/// of each agent hold for them, too.
pub const AUTHORS_COUNTED_MAX: usize = 200_000;

/// Interval at which a node tries to notify an author whose messages are parked. The notice is sent once an hour.
pub const PARKED_NOTICE_TRIED_EVERY: Duration = Duration::from_mins(1);

/// Default frames per second from a gateway, not counting acks. Further frames are read later.
pub const FRAMES_PER_SECOND: u32 = 50;

/// Burst of frames, in seconds of the rate.
pub const FRAMES_AT_ONCE_SECS: u32 = 4;

/// Default sends per second of an agent. Further sends wait for their turn.
pub const SENDS_PER_SECOND: u32 = 20;

/// Longest wait of a send for its turn; after it, the send fails.
pub const SEND_TURN_WAIT_MAX: Duration = Duration::from_secs(10);

/// Management calls per minute of one agent.
pub const MANAGEMENT_PER_MINUTE: u32 = 60;

/// Calls per minute by which one agent's gateways provision themselves or enrol. A boot makes one for each platform.
pub const PROVISIONS_PER_MINUTE: u32 = 60;

/// Calls per minute about one agent's jobs. A starting client arms all its jobs, with one call each.
pub const JOBS_PER_MINUTE: u32 = 600;

/// Calls per minute of one agent about skills and data.
pub const SHELF_PER_MINUTE: u32 = 600;

/// Reads per minute of the whole catalogue by one agent. Each read loads every skill of the tenant.
pub const CATALOGUES_PER_MINUTE: u32 = 60;

/// Scopes that one agent claims or returns per hour.
pub const SCOPES_PER_HOUR: u32 = 30;

/// Commands that one agent may register in one guild. A guild takes a hundred, agents share it, and stock Hermes 0.20
/// has 27.
pub const AGENT_COMMANDS_MAX: usize = 33;

/// Guilds in which an agent's commands are registered.
pub const COMMAND_SCOPES_MAX: usize = 20;

/// Timeout of registering commands; the next hello registers the rest.
pub const COMMANDS_WAIT: Duration = Duration::from_mins(2);

/// Keys in the rate-limit table; further keys wait.
pub const COUNTED_MAX: usize = 200_000;

/// Interval at which the live nodes, which share the rates, are counted.
pub const NODES_COUNTED_EVERY: Duration = Duration::from_secs(5);

const _: () = assert!(AUTHOR_PARK_FACTOR > 1, "an author is delivered more than wakes the agent");
const _: () = assert!(
    super::SOURCE_TOGETHER_MAX <= AUTHOR_OVERSHOOT_MAX,
    "a batch of a source is within the overshoot"
);
