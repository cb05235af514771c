//! The contract between the pages and their store: the state of many agents at a glance.
//!
//! Every method reads a bounded number of rows by an index, so that it takes milliseconds also in a tenant of 100,000
//! agents and a million entries.

mod counts;
mod records;

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::ParkReason;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

pub use counts::BoundedCount;
pub use records::{
    AgentGlance, AgentSelection, BindingKey, GrantKey, LineGlance, LoggedWake, NodeRecord,
    ParkedGroup, ParkedKey, ParkedRow, QuarantineGroup, ReceivedLetter, RefusalGroup, StoredTotals,
    TenantBinding, TenantGlance, TenantGrant, UsageTotals,
};

/// Reads the state of agents.
#[async_trait]
pub trait AgentGlances: Send + Sync {
    /// Counts a tenant's agents by state, and its waiting and parked entries.
    async fn glance_at_tenant(&self, scope: TenantScope) -> Result<TenantGlance, StoreError>;

    /// Returns a page of a tenant's agents.
    async fn glance_at_agents(
        &self,
        scope: TenantScope,
        which: AgentSelection<'_>,
    ) -> Result<Vec<AgentGlance>, StoreError>;

    /// Returns the newest line of an agent.
    async fn newest_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<LineGlance>, StoreError>;

    /// Returns the last wakes of an agent that ended, newest first.
    async fn logged_wakes(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<LoggedWake>, StoreError>;

    /// Returns the newest letters that an agent received, newest first.
    async fn received_letters(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ReceivedLetter>, StoreError>;
}

/// Reads events that reached no agent.
#[async_trait]
pub trait StuckReads: Send + Sync {
    /// Returns the parked entries of a tenant by reason, without those that were put into an inbox again.
    async fn parked_groups(&self, scope: TenantScope) -> Result<Vec<ParkedGroup>, StoreError>;

    /// Returns a page of the parked entries with this reason, oldest first, after this one.
    async fn parked_rows(
        &self,
        scope: TenantScope,
        reason: ParkReason,
        after: Option<ParkedKey>,
    ) -> Result<Vec<ParkedRow>, StoreError>;

    /// Returns the refused events of a tenant by reason, as far as they are stored.
    async fn refusal_groups(&self, scope: TenantScope) -> Result<Vec<RefusalGroup>, StoreError>;

    /// Returns the unreadable events of a tenant's bots by problem, as far as they are stored.
    async fn quarantine_groups(
        &self,
        scope: TenantScope,
    ) -> Result<Vec<QuarantineGroup>, StoreError>;
}

/// Reads the people and chats that reach a tenant's agents.
#[async_trait]
pub trait ReachReads: Send + Sync {
    /// Returns a page of a tenant's bindings, after this one.
    async fn tenant_bindings(
        &self,
        scope: TenantScope,
        after: Option<&BindingKey>,
    ) -> Result<Vec<TenantBinding>, StoreError>;

    /// Returns a page of a tenant's grants, after this one.
    async fn tenant_grants(
        &self,
        scope: TenantScope,
        after: Option<&GrantKey>,
    ) -> Result<Vec<TenantGrant>, StoreError>;
}

/// Samples and reads the usage of tenants, and reads the nodes of the desk.
#[async_trait]
pub trait UsageReads: Send + Sync {
    /// Writes the totals of a page of tenants after this one, unless that was done within `every`. Returns the last of
    /// them. `None`: there are no more, and the totals of the desk are written.
    async fn sample_usage(
        &self,
        after: Option<TenantId>,
        every: Duration,
    ) -> Result<Option<TenantId>, StoreError>;

    /// Returns the totals of a tenant, or of the desk's own scope, oldest first: those of hours since this time, and the
    /// last ones before.
    async fn usage(
        &self,
        scope: TenantScope,
        since: Timestamp,
    ) -> Result<Vec<UsageTotals>, StoreError>;

    /// Returns the newest totals of each of these tenants, and the last ones before this time.
    async fn newest_usage(
        &self,
        tenants: &[TenantScope],
        before: Timestamp,
    ) -> Result<Vec<StoredTotals>, StoreError>;

    /// Returns the nodes of the desk, by name.
    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError>;
}

/// All that pages read besides the records of the desk's stops.
pub trait OfficeReads: AgentGlances + StuckReads + ReachReads + UsageReads {}

impl<T: AgentGlances + StuckReads + ReachReads + UsageReads> OfficeReads for T {}
