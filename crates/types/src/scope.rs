//! The tenant that a call may touch, and the actor that makes it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use uuid::Uuid;

use crate::id::{AgentId, ApiTokenId, ClientId, GatewayId, TenantId, UserId};

/// The only tenant that a call may touch.
///
/// Scopes are created in three places only: the check of a token, the check of a platform signature, and a worker that
/// reads the tenant from a row. These places also know the actor. Two scopes of one tenant are equal, also if their
/// actors differ.
#[derive(Clone, Copy, Debug)]
pub struct TenantScope {
    tenant: TenantId,
    actor: Actor,
}

/// The actor of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The desk itself.
    Desk,
    /// An operator with access to the database.
    Operator,
    /// A user who logged in.
    User(UserId),
    /// A program, authenticated by a user's token.
    Token(ApiTokenId),
    /// A gateway, authenticated by its secret.
    Gateway(GatewayId),
    /// A machine identity, authenticated by a token.
    Client(ClientId),
    /// An agent or its owner, authenticated by a token for the agent.
    Agent(AgentId),
    /// A person on a platform, authenticated by a code. The audit entry names the person.
    Person,
}

impl TenantScope {
    /// Creates a scope for a tenant whose authority was just proven, with the desk as actor.
    pub const fn for_tenant(tenant: TenantId) -> Self {
        Self { tenant, actor: Actor::Desk }
    }

    /// Returns the scope of the desk's own data: no tenant has this id.
    pub const fn desk_own() -> Self {
        Self::for_tenant(TenantId::from_uuid(Uuid::nil()))
    }

    /// Returns the same scope with another actor.
    #[must_use]
    pub const fn with_actor(self, actor: Actor) -> Self {
        Self { actor, ..self }
    }

    /// Returns the tenant.
    pub const fn tenant(self) -> TenantId {
        self.tenant
    }

    /// Returns the actor.
    pub const fn actor(self) -> Actor {
        self.actor
    }
}

impl Actor {
    /// Returns true for an operator or a user, whose acts the audit log records also where it does not record an
    /// agent's.
    pub const fn is_user(self) -> bool {
        match self {
            Self::Operator | Self::User(_) | Self::Token(_) => true,
            Self::Desk | Self::Gateway(_) | Self::Client(_) | Self::Agent(_) | Self::Person => {
                false
            }
        }
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
            Self::User(id) => write!(f, "user:{id}"),
            Self::Token(id) => write!(f, "token:{id}"),
            Self::Gateway(id) => write!(f, "gateway:{id}"),
            Self::Client(id) => write!(f, "client:{id}"),
            Self::Agent(id) => write!(f, "agent:{id}"),
            Self::Person => f.write_str("person"),
        }
    }
}
