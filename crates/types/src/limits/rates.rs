//! How often what may be done.

use std::time::Duration;

/// Webhooks of one bot in a second, and how many of them at once, if the operator says nothing else.
pub const WEBHOOKS_PER_SECOND: u32 = 200;

/// Seconds of webhooks that may come at once.
pub const WEBHOOKS_AT_ONCE_SECS: u32 = 5;

/// What one author may write to one agent in a minute, if the operator says nothing else; two thirds
/// of it in ten seconds.
pub const AUTHOR_PER_MINUTE: u32 = 30;

/// Calls that manage an agent, in a minute.
pub const MANAGEMENT_PER_MINUTE: u32 = 60;

/// Link codes made for or tried by one agent's people, in an hour.
pub const LINKS_PER_HOUR: u32 = 10;

/// Scopes one agent claims or gives back in an hour.
pub const SCOPES_PER_HOUR: u32 = 30;

/// Who is counted at a time; who comes when there are more waits.
pub const COUNTED_MAX: usize = 200_000;

/// How often nodes are counted, which share the rates.
pub const NODES_COUNTED_EVERY: Duration = Duration::from_secs(5);
