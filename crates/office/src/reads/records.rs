//! The records that pages read.

use nightdesk_gate::{Refusal, StoredRefusal};
use nightdesk_inbox::ParkReason;
use nightdesk_types::{
    AgentId, BotId, Generation, LetterId, NodeEpoch, Principal, Seq, TenantId, Timestamp, Transport,
};
use nightdesk_wake::AgentWakeStatus;

use super::BoundedCount;

/// The agents of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentSelection<'a> {
    /// Agents whose name begins so, by name, after this one.
    Named {
        /// The beginning.
        prefix: &'a str,
        /// The last name of the previous page.
        after: &'a str,
    },
    /// Agents that are needed and have not dialled in, the longest needed first. One page.
    Needed,
    /// Agents with an open line. One page.
    Awake,
    /// One agent.
    Of(AgentId),
}

/// The numbers of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TenantGlance {
    /// Agents.
    pub agents: BoundedCount,
    /// Agents with an open line.
    pub awake: BoundedCount,
    /// Agents without a line that the desk calls.
    pub waking: BoundedCount,
    /// Agents with an open line that does not answer.
    pub deaf: BoundedCount,
    /// Agents that the desk gave up.
    pub unreachable: BoundedCount,
    /// Entries that wait for agents that are needed or awake.
    pub waiting: BoundedCount,
    /// The time at which the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
    /// Parked entries that were not put into an inbox again.
    pub parked: BoundedCount,
}

/// An agent at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentGlance {
    /// Its line and its wake. The number of waiting entries ends at the bound.
    pub status: AgentWakeStatus,
    /// The waiting entries.
    pub waiting: BoundedCount,
    /// The time at which the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
    /// The parked entries that were not put into the inbox again.
    pub parked: BoundedCount,
}

/// The newest line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineGlance {
    /// The number of the line: the agent had as many.
    pub generation: Generation,
    /// The name of its gateway.
    pub gateway: String,
    /// The transport of its frames.
    pub transport: Transport,
    /// The name of its node.
    pub node: String,
    /// The time at which it was opened.
    pub opened_at: Timestamp,
    /// The time at which it was closed.
    pub closed_at: Option<Timestamp>,
    /// True if it is open on a node that lives.
    pub is_open: bool,
    /// The side that ended it: `idle`, `client`, `desk`, `undelivered` or `node`.
    pub parting: Option<String>,
}

/// A wake of an agent that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedWake {
    /// Its number.
    pub number: i64,
    /// The time since which the agent was needed.
    pub since: Timestamp,
    /// The number of calls.
    pub calls: u32,
    /// The end of the last call.
    pub called_at: Option<Timestamp>,
    /// The outcome of the last call.
    pub outcome: Option<String>,
    /// The time at which the agent dialled in. `None`: the desk gave up.
    pub woken_at: Option<Timestamp>,
    /// The time at which it ended.
    pub ended_at: Timestamp,
}

/// A letter that an agent received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedLetter {
    /// The letter.
    pub id: LetterId,
    /// The sender's tenant.
    pub from_tenant: TenantId,
    /// The sender.
    pub from: AgentId,
    /// The sender's name, if it is of the same tenant.
    pub from_name: Option<String>,
    /// The length of the chain of letters that it ends.
    pub hop: u32,
    /// The time at which it was put into the inbox.
    pub put_at: Timestamp,
}

/// The position of a parked entry among those of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParkedKey {
    /// The time at which it was parked.
    pub parked_at: Timestamp,
    /// Its agent.
    pub agent: AgentId,
    /// Its number.
    pub seq: Seq,
}

/// A parked entry, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedRow {
    /// Its position.
    pub key: ParkedKey,
    /// The agent's name.
    pub agent_name: String,
    /// The time at which it was accepted.
    pub at: Timestamp,
    /// The bot that received it.
    pub bot: BotId,
    /// The chat that it came from.
    pub chat_id: String,
}

/// The parked entries with one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedGroup {
    /// The reason.
    pub reason: ParkReason,
    /// Their number.
    pub count: BoundedCount,
    /// The newest one.
    pub newest: ParkedRow,
}

/// The refused events with one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalGroup {
    /// The reason.
    pub refusal: Refusal,
    /// Their number.
    pub count: u64,
    /// The newest one.
    pub newest: StoredRefusal,
}

/// The unreadable events of a bot with one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantineGroup {
    /// The bot.
    pub bot: BotId,
    /// The problem.
    pub problem: String,
    /// Their number.
    pub count: u64,
    /// The time of the newest one.
    pub newest_at: Timestamp,
}

/// The position of a binding in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BindingKey {
    /// The bot.
    pub bot: BotId,
    /// The person, by the platform's id.
    pub author: String,
    /// The agent.
    pub agent: AgentId,
}

/// A person who is bound to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantBinding {
    /// Its position.
    pub key: BindingKey,
    /// The agent's name.
    pub agent_name: String,
}

/// The position of a grant in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantKey {
    /// The bot.
    pub bot: BotId,
    /// The guild, workspace or server. Empty: none.
    pub scope: String,
    /// The chat; `*` for every chat of the scope, or of the bot if there is no scope.
    pub chat: String,
}

/// A chat or a scope that is granted to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantGrant {
    /// Its position.
    pub key: GrantKey,
    /// The agent.
    pub agent: AgentId,
    /// The agent's name.
    pub agent_name: String,
    /// The people that reach the agent there.
    pub open_to: Principal,
    /// True if the agent may change messages of others there.
    pub is_moderator: bool,
}

/// The totals of a tenant since its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageTotals {
    /// The beginning of the hour.
    pub hour: Timestamp,
    /// The time in that hour at which they were written last.
    pub sampled_at: Timestamp,
    /// Agents at that time.
    pub agents: i64,
    /// Entries that came into inboxes.
    pub messages: i64,
    /// Wakes that ended.
    pub wakes: i64,
    /// Milliseconds for which lines were open.
    pub awake_ms: i64,
    /// Fires of jobs that began.
    pub fires: i64,
}

/// The newest totals of a tenant, and the last ones before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredTotals {
    /// The tenant.
    pub tenant: TenantId,
    /// The newest totals.
    pub newest: UsageTotals,
    /// The last ones before the time.
    pub before: Option<UsageTotals>,
}

/// A node of the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRecord {
    /// Its name.
    pub name: String,
    /// The number of its life.
    pub epoch: NodeEpoch,
    /// The beginning of its life.
    pub started_at: Timestamp,
    /// The end of its lease.
    pub expires_at: Timestamp,
    /// True if its life was ended.
    pub is_over: bool,
    /// Its open lines.
    pub lines: BoundedCount,
}
