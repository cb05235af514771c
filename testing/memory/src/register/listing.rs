//! Implements the operator's lists of tenants, agents and gateways.

use async_trait::async_trait;
use nightdesk_register::{LastLine, ListedGateway, ListedIdentity, Listing, LiveSecret};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

use super::super::agent::Line;
use super::super::{Memory, State};
use super::gateways::{GatewayRow, SecretRow};

impl State {
    fn all_tenants(&self) -> Vec<ListedIdentity<TenantId>> {
        let named = |(scope, tenant): (&TenantScope, &super::Tenant)| {
            let (name, created_at) = (tenant.name.clone(), tenant.created_at);
            ListedIdentity { id: scope.tenant(), name, created_at }
        };
        self.tenants.iter().map(named).collect()
    }

    fn all_agents(&self, of: TenantScope) -> Vec<ListedIdentity<AgentId>> {
        let mine = self.agents.iter().filter(|((scope, _), _)| *scope == of);
        let named = mine.map(|((_, id), agent)| {
            let (name, created_at) = (agent.name.clone(), agent.created_at);
            ListedIdentity { id: *id, name, created_at }
        });
        named.collect()
    }

    fn listed(&self, row: &GatewayRow, now: Timestamp) -> Option<ListedGateway> {
        let agent = self.agents.get(&(row.gateway.scope, row.gateway.agent))?;
        let line = agent.line.as_ref().filter(|line| line.gateway == row.gateway.id);
        let is_good = |secret: &&SecretRow| secret.expires_at.is_none_or(|at| at > now);
        let secret = |secret: &SecretRow| {
            let (created_at, expires_at) = (secret.created_at, secret.expires_at);
            LiveSecret { created_at, expires_at }
        };
        Some(ListedGateway {
            name: row.name.clone(),
            agent: agent.name.clone(),
            created_at: row.created_at,
            revoked_at: row.revoked_at,
            line: line.map_or(LastLine::None, last_line),
            secrets: row.secrets.iter().filter(is_good).map(secret).collect(),
        })
    }
}

const fn last_line(line: &Line) -> LastLine {
    match line.closed_at {
        None => LastLine::Open { since: line.opened_at },
        Some(_) => LastLine::Closed { at: line.closed_at },
    }
}

/// Returns a page by name.
fn page<T>(mut all: Vec<T>, after: &str, name: impl Fn(&T) -> &str) -> Vec<T> {
    all.sort_by(|one, other| name(one).cmp(name(other)));
    all.retain(|one| name(one) > after);
    all.truncate(usize::try_from(LIST_ROWS_MAX).unwrap_or(0));
    all
}

#[async_trait]
impl Listing for Memory {
    async fn tenants_called(
        &self,
        called: &str,
    ) -> Result<Vec<ListedIdentity<TenantId>>, StoreError> {
        let mut all = self.lock().all_tenants();
        all.retain(|one| one.name == called || one.id.to_string() == called.to_lowercase());
        Ok(all)
    }

    async fn tenants(&self, after: &str) -> Result<Vec<ListedIdentity<TenantId>>, StoreError> {
        Ok(page(self.lock().all_tenants(), after, |one| &one.name))
    }

    async fn agents_called(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError> {
        let mut all = self.lock().all_agents(scope);
        all.retain(|one| one.name == called || one.id.to_string() == called.to_lowercase());
        Ok(all)
    }

    async fn agents(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError> {
        Ok(page(self.lock().all_agents(scope), after, |one| &one.name))
    }

    async fn gateways(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedGateway>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let mine = state.gateways.values().filter(|row| row.gateway.scope == scope);
        let listed = mine.filter_map(|row| state.listed(row, now)).collect();
        Ok(page(listed, after, |one: &ListedGateway| &one.name))
    }

    async fn gateways_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ListedGateway>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let is_own = |row: &&GatewayRow| (row.gateway.scope, row.gateway.agent) == (scope, agent);
        let own = state.gateways.values().filter(is_own);
        let listed = own.filter_map(|row| state.listed(row, now)).collect();
        Ok(page(listed, "", |one: &ListedGateway| &one.name))
    }
}
