//! What a line asks of a store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_protocol::close::Close;
use nightdesk_types::limits::{CLOSED_GRACE, IDLE_GRACE, VANISHED_GRACE};
use nightdesk_types::{
    AgentId, ClientRules, GatewayId, Generation, Node, Seq, StoreError, TenantScope, Timestamp,
};

/// A gateway that dialled in, as its secret proved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whose it is.
    pub scope: TenantScope,
    /// The agent it speaks for.
    pub agent: AgentId,
    /// Which gateway.
    pub gateway: GatewayId,
    /// Whether its client acks at all.
    pub acks: bool,
}

/// What a line starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The line's number; every older line is fenced.
    pub generation: Generation,
    /// Everything up to here is acknowledged or set aside.
    pub acked: Seq,
    /// Nothing after that is older than this.
    pub since: Timestamp,
    /// The last number given out when the line was taken.
    pub head: Seq,
    /// How long ago the desk closed the same gateway's previous line to restart, if it did.
    pub restarted_ago: Option<Duration>,
    /// The entry that was set aside because it was handed over often enough.
    pub parked: Option<Seq>,
    /// By which rules the agent's client was served before.
    pub rules: ClientRules,
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The close code.
    pub code: u16,
    /// The oldest waiting entry, if the line was in vain for it: one try of it counts.
    pub tried: Option<Seq>,
    /// Who ended it.
    pub parting: Parting,
}

/// Who ended a line. It tells how soon its client comes back by itself, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Its client, which said that it goes idle.
    Idle,
    /// Its client hung up, or vanished.
    Client,
    /// The desk sent it away.
    Desk,
}

impl Parting {
    /// Its name in rows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Client => "client",
            Self::Desk => "desk",
        }
    }

    /// How long the client may take to come back before its agent is called.
    pub const fn grace(self) -> Duration {
        match self {
            Self::Idle => IDLE_GRACE,
            Self::Client => VANISHED_GRACE,
            Self::Desk => CLOSED_GRACE,
        }
    }
}

impl End {
    /// Whether the desk closed it to restart.
    pub const fn is_restart(self) -> bool {
        self.code == Close::Restarting.code()
    }
}

/// Keeps which line is an agent's.
#[async_trait]
pub trait Store: Send + Sync {
    /// Makes a line the agent's newest, and fences every older one. The oldest waiting entry
    /// is set aside if it was tried often enough.
    async fn take(&self, caller: &Caller, node: &Node) -> Result<Taken, StoreError>;

    /// Notes that a line ended. If something waits for its agent, a wake becomes due when the
    /// client had its time to come back.
    async fn close(&self, line: &LineClaim, end: End) -> Result<(), StoreError>;
}
