//! Scope: for whom something is done, and by whom.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use uuid::Uuid;

use crate::id::{AgentId, ClientId, GatewayId, TenantId};

/// The one tenant a call may touch.
///
/// Scopes are made in three places only: where a token is checked, where a platform
/// signature is checked, and where a worker reads the tenant from a row. There it is also known
/// who acts. Two scopes of one tenant are the same, whoever acts.
#[derive(Clone, Copy, Debug)]
pub struct TenantScope {
    tenant: TenantId,
    actor: Actor,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The desk itself.
    Desk,
    /// Whoever may run its commands.
    Operator,
    /// A gateway, with its secret.
    Gateway(GatewayId),
    /// A machine identity, with a token.
    Client(ClientId),
    /// An agent or who looks after it, with a token for it.
    Agent(AgentId),
    /// Somebody on a platform, with a code. What is told of it says who.
    Person,
}

impl TenantScope {
    /// Makes a scope for a tenant whose right to it was just proven. The desk acts.
    pub const fn of(tenant: TenantId) -> Self {
        Self { tenant, actor: Actor::Desk }
    }

    /// For what is nobody's but the desk's own: no tenant has this id.
    pub const fn own() -> Self {
        Self::of(TenantId::from_uuid(Uuid::nil()))
    }

    /// The same, and somebody else acts.
    #[must_use]
    pub const fn by(self, actor: Actor) -> Self {
        Self { actor, ..self }
    }

    /// The tenant.
    pub const fn tenant(self) -> TenantId {
        self.tenant
    }

    /// Who acts.
    pub const fn actor(self) -> Actor {
        self.actor
    }
}

impl PartialEq for TenantScope {
    fn eq(&self, other: &Self) -> bool {
        self.tenant == other.tenant
    }
}

impl Eq for TenantScope {}

impl Hash for TenantScope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tenant.hash(state);
    }
}

impl PartialOrd for TenantScope {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TenantScope {
    fn cmp(&self, other: &Self) -> Ordering {
        self.tenant.cmp(&other.tenant)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Desk => f.write_str("desk"),
            Self::Operator => f.write_str("operator"),
            Self::Gateway(id) => write!(f, "gateway:{id}"),
            Self::Client(id) => write!(f, "client:{id}"),
            Self::Agent(id) => write!(f, "agent:{id}"),
            Self::Person => f.write_str("person"),
        }
    }
}
