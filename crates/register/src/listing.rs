//! Lists tenants, agents and gateways for an operator. Pages by name, never by offset.

use async_trait::async_trait;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

/// A tenant or an agent in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedIdentity<Id> {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// The time at which it was created.
    pub created_at: Timestamp,
}

/// A gateway in a list. Its secrets are not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGateway {
    /// The gateway's name.
    pub name: String,
    /// The name of the agent that it speaks for.
    pub agent: String,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time at which it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The state of its newest line.
    pub line: LastLine,
    /// Its valid secrets, oldest first.
    pub secrets: Vec<LiveSecret>,
}

/// The state of a gateway's newest line. An agent's row records only its newest line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// No line is recorded.
    None,
    /// The line is open.
    Open {
        /// The time at which it opened.
        since: Timestamp,
    },
    /// The line ended, or its node did.
    Closed {
        /// The time of the end, if the node recorded it.
        at: Option<Timestamp>,
    },
}

/// A valid secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSecret {
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time at which it expires. `None`: when it is replaced.
    pub expires_at: Option<Timestamp>,
}

/// Lists identities.
#[async_trait]
pub trait Listing: Send + Sync {
    /// Returns the tenants that match a name or an id. There are two only if one tenant's name is another's id.
    async fn tenants_called(
        &self,
        called: &str,
    ) -> Result<Vec<ListedIdentity<TenantId>>, StoreError>;

    /// Returns a page of tenants, by name, after this one.
    async fn tenants(&self, after: &str) -> Result<Vec<ListedIdentity<TenantId>>, StoreError>;

    /// Returns the tenant's agents that match a name or an id.
    async fn agents_called(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError>;

    /// Returns a page of a tenant's agents, by name, after this one.
    async fn agents(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError>;

    /// Returns a page of a tenant's gateways, by name, after this one.
    async fn gateways(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedGateway>, StoreError>;

    /// Returns the gateways of an agent, by name, at most a page.
    async fn gateways_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ListedGateway>, StoreError>;
}
