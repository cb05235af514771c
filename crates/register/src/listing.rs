//! Listing: who there is, for an operator to look at. Pages by name, never by offset.

use async_trait::async_trait;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

/// A tenant or an agent, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<Id> {
    /// Which one.
    pub id: Id,
    /// What it is called.
    pub name: String,
    /// Since when it is there.
    pub created_at: Timestamp,
}

/// A gateway, as a list shows it. Its secrets are only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGateway {
    /// What it calls itself.
    pub name: String,
    /// The name of the agent it speaks for.
    pub agent: String,
    /// Since when it is there.
    pub created_at: Timestamp,
    /// Since when it is not welcome any more.
    pub revoked_at: Option<Timestamp>,
    /// How its newest line is.
    pub line: LastLine,
    /// Its secrets that are still good, oldest first.
    pub secrets: Vec<LiveSecret>,
}

/// How a gateway's newest line is. An agent's row remembers its newest line alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// None is remembered.
    None,
    /// It is open.
    Open {
        /// Since when.
        since: Timestamp,
    },
    /// It ended, or its node did.
    Closed {
        /// When, if its node lived to say so.
        at: Option<Timestamp>,
    },
}

/// A secret that is still good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSecret {
    /// Since when.
    pub created_at: Timestamp,
    /// Until when. None: until it is replaced.
    pub expires_at: Option<Timestamp>,
}

/// Lists who is who.
#[async_trait]
pub trait Listing: Send + Sync {
    /// The tenants an operator may mean: by name, or by id. Two only if one is called like
    /// another's id.
    async fn tenants_called(&self, called: &str) -> Result<Vec<Named<TenantId>>, StoreError>;

    /// A page of tenants, by name, after this one.
    async fn tenants(&self, after: &str) -> Result<Vec<Named<TenantId>>, StoreError>;

    /// The agents of a tenant an operator may mean, likewise.
    async fn agents_called(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<Vec<Named<AgentId>>, StoreError>;

    /// A page of a tenant's agents, by name, after this one.
    async fn agents(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<Named<AgentId>>, StoreError>;

    /// A page of a tenant's gateways, by name, after this one.
    async fn gateways(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedGateway>, StoreError>;
}
