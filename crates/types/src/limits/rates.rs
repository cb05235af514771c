//! How often what may be done.

use std::time::Duration;

/// Webhooks of one bot in a second, and how many of them at once, if the operator says nothing else.
pub const WEBHOOKS_PER_SECOND: u32 = 200;

/// Seconds of webhooks that may come at once.
pub const WEBHOOKS_AT_ONCE_SECS: u32 = 5;

/// What one author may write to one agent in a minute, if the operator says nothing else; two thirds
/// of it in ten seconds.
pub const AUTHOR_PER_MINUTE: u32 = 30;

/// Frames but acks that a gateway says in a second, if the operator says nothing else; more are read
/// later.
pub const FRAMES_PER_SECOND: u32 = 50;

/// Seconds of frames that may come at once.
pub const FRAMES_AT_ONCE_SECS: u32 = 4;

/// Sends of an agent in a second, if the operator says nothing else. More wait for their turn, ...
pub const SENDS_PER_SECOND: u32 = 20;

/// ... but not longer than this: then they fail.
pub const SEND_TURN_WAIT_MAX: Duration = Duration::from_secs(10);

/// Calls that manage an agent, in a minute.
pub const MANAGEMENT_PER_MINUTE: u32 = 60;

/// What one agent asks about its jobs, in a minute. A client arms all it has when it starts, and asks once for
/// each.
pub const JOBS_PER_MINUTE: u32 = 600;

/// What one agent asks about skills and data, in a minute.
pub const SHELF_PER_MINUTE: u32 = 600;

/// How often one agent is told its whole catalogue, in a minute: every skill of its tenant is read for it.
pub const CATALOGUES_PER_MINUTE: u32 = 60;

/// Scopes one agent claims or gives back in an hour.
pub const SCOPES_PER_HOUR: u32 = 30;

/// Commands one agent may make known in one guild. A guild takes a hundred, agents share it, and stock Hermes 0.20 has 27.
pub const AGENT_COMMANDS_MAX: usize = 33;

/// Guilds in which an agent's commands are made known.
pub const COMMAND_SCOPES_MAX: usize = 20;

/// How long making them known may take; what was not done is done after the next hello.
pub const COMMANDS_WAIT: Duration = Duration::from_mins(2);

/// Who is counted at a time; who comes when there are more waits.
pub const COUNTED_MAX: usize = 200_000;

/// How often nodes are counted, which share the rates.
pub const NODES_COUNTED_EVERY: Duration = Duration::from_secs(5);
