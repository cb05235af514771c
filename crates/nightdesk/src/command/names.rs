//! The arguments that name an agent.

use clap::Args;
use nightdesk_office::single_match;
use nightdesk_register::Register;
use nightdesk_types::{Actor, AgentId, TenantId, TenantScope};

/// The agent that a command is about.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent's tenant, by name or id.
    #[arg(long)]
    pub(crate) tenant: String,
    /// The agent, by name or id.
    #[arg(long)]
    pub(crate) agent: String,
}

impl AgentArgs {
    /// Returns the path of a route of the agent.
    pub(crate) fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["tenants", &self.tenant, "agents", &self.agent][..], rest].concat()
    }

    /// Returns the tenant and the agent, for a node whose configuration names them.
    pub(crate) async fn resolve(
        &self,
        register: &Register,
    ) -> anyhow::Result<(TenantScope, AgentId)> {
        let store = register.store();
        let tenants = store.tenants_called(&self.tenant).await?;
        let scope = operator_scope(single_match("tenant", &self.tenant, &tenants)?);
        let agents = store.agents_called(scope, &self.agent).await?;
        Ok((scope, single_match("agent", &self.agent, &agents)?))
    }
}

/// Returns the operator's scope for a resolved tenant.
pub(crate) const fn operator_scope(tenant: TenantId) -> TenantScope {
    TenantScope::for_tenant(tenant).with_actor(Actor::Operator)
}
