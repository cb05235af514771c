//! The store interface of lines.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::limits::{CLOSED_GRACE, IDLE_GRACE, VANISHED_GRACE, WEBHOOK_AGAIN};
use nightdesk_types::{
    AgentId, ClientRules, GatewayId, Generation, Incarnation, Node, Seq, StoreError, TenantScope,
    Timestamp, Transport,
};

/// An authenticated gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticatedGateway {
    /// The tenant.
    pub scope: TenantScope,
    /// The gateway's agent.
    pub agent: AgentId,
    /// The gateway.
    pub gateway: GatewayId,
    /// True if its client sends acks.
    pub acks: bool,
}

/// A line that becomes its agent's newest.
#[derive(Clone, Copy, Debug)]
pub struct LineRequest<'a> {
    /// The gateway.
    pub caller: &'a AuthenticatedGateway,
    /// The node that holds the line.
    pub node: &'a Node,
    /// The transport of its frames.
    pub transport: Transport,
    /// The rules for serving the client, if its first hello shows them.
    pub rules: Option<ClientRules>,
}

impl LineRequest<'_> {
    /// Returns the time that the client gets to reconnect if the line's node ends. An agent with a webhook does not
    /// reconnect: the next node posts as soon as it can.
    pub const fn node_end_grace(&self) -> Duration {
        match self.transport {
            Transport::Webhook => Duration::ZERO,
            Transport::WebSocket | Transport::Polling | Transport::Mcp => CLOSED_GRACE,
        }
    }
}

/// The state with which a line starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStart {
    /// The history in which the line begins.
    pub incarnation: Incarnation,
    /// The line's number; every older line is fenced.
    pub generation: Generation,
    /// The number up to which every entry is acknowledged or parked.
    pub acked: Seq,
    /// A lower bound on the time of all later entries.
    pub since: Timestamp,
    /// The last assigned number when the line was taken.
    pub head: Seq,
    /// The time since the desk closed the same gateway's previous line for a restart, if it did.
    pub restarted_ago: Option<Duration>,
    /// The entry that was parked because its tries were used up.
    pub parked: Option<Seq>,
    /// The rules by which the agent's client was served before.
    pub rules: ClientRules,
}

/// A line that is open on a node that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLine {
    /// The line.
    pub claim: LineClaim,
    /// The gateway that dialled it.
    pub gateway: GatewayId,
    /// The node that holds it.
    pub node: Node,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseRecord {
    /// The close code.
    pub code: u16,
    /// The oldest waiting entry, if the delivery on this line counts as a failed try.
    pub tried: Option<Seq>,
    /// The side that ended it.
    pub closed_by: ClosingSide,
}

/// The side that ended a line. It determines the time that the client gets to reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingSide {
    /// The client, after it announced that it goes idle.
    Idle,
    /// The client hung up or vanished.
    Client,
    /// The desk closed it.
    Desk,
    /// The desk could not deliver an entry to the agent's URL.
    Undelivered,
}

nightdesk_types::slugs! {
    ClosingSide:
    Idle = "idle",
    Client = "client",
    Desk = "desk",
    Undelivered = "undelivered",
}

impl ClosingSide {
    /// Returns the time that the client gets to reconnect before its agent is called.
    pub const fn grace(self) -> Duration {
        match self {
            Self::Idle => IDLE_GRACE,
            Self::Client => VANISHED_GRACE,
            Self::Desk => CLOSED_GRACE,
            Self::Undelivered => WEBHOOK_AGAIN,
        }
    }
}

impl CloseRecord {
    /// Returns true if the desk closed the line for a restart.
    pub const fn is_restart(self) -> bool {
        self.code == Close::Restarting.code()
    }
}

/// Stores each agent's newest line.
#[async_trait]
pub trait Store: Send + Sync {
    /// Makes a line the agent's newest, and fences every older one. The oldest waiting entry is parked if its tries are
    /// used up. Stores the rules for serving the client, if its first hello shows them.
    async fn take(&self, line: LineRequest<'_>) -> Result<LineStart, StoreError>;

    /// Returns the agent's line, if it is open on a node that lives.
    async fn find_held_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<HeldLine>, StoreError>;

    /// Stores the live sessions of the line's agent, in place of those before. They end with the line: a line that is
    /// not open, or not the agent's newest, has none.
    async fn tell_sessions(
        &self,
        line: &LineClaim,
        sessions: &SessionNames,
    ) -> Result<(), StoreError>;

    /// Records the end of a line. If an entry waits for its agent, a wake becomes due after the client's grace period.
    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError>;
}
