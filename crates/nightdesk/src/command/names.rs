//! Resolves tenants and agents that an operator gives by name or by id, and bots by id.

use anyhow::{Context, bail};
use clap::Args;
use nightdesk_register::{ListedIdentity, Register};
use nightdesk_types::{Actor, AgentId, BotId, TenantId, TenantScope};

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
    /// Returns the tenant and the agent.
    pub(crate) async fn resolve(
        &self,
        register: &Register,
    ) -> anyhow::Result<(TenantScope, AgentId)> {
        let scope = tenant(register, &self.tenant).await?;
        Ok((scope, agent(register, scope, &self.agent).await?))
    }
}

/// Returns the tenant of that name or id.
pub(super) async fn tenant(register: &Register, called: &str) -> anyhow::Result<TenantScope> {
    let found = register.store().tenants_called(called).await?;
    single_match("tenant", called, &found).map(operator_scope)
}

/// Returns the operator's scope for a resolved tenant.
pub(crate) const fn operator_scope(tenant: TenantId) -> TenantScope {
    TenantScope::for_tenant(tenant).with_actor(Actor::Operator)
}

/// Parses the id of a bot.
pub(super) fn bot(id: &str) -> anyhow::Result<BotId> {
    id.parse().context("--bot is not a bot's id; `nightdesk bot list` shows the ids")
}

/// Returns the tenant's agent of that name or id.
async fn agent(register: &Register, scope: TenantScope, called: &str) -> anyhow::Result<AgentId> {
    let found = register.store().agents_called(scope, called).await?;
    single_match("agent", called, &found)
}

fn single_match<Id: Copy + std::fmt::Display>(
    what: &str,
    called: &str,
    found: &[ListedIdentity<Id>],
) -> anyhow::Result<Id> {
    match found {
        [one] => Ok(one.id),
        [] => bail!("there is no {what} called {called}; `nightdesk {what} list` shows them"),
        [one, other, ..] => bail!(
            "{called} matches {what} {} ({}) and {what} {} ({}); use a name that is not \
             an id, or rename one",
            one.name,
            one.id,
            other.name,
            other.id
        ),
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::Timestamp;

    use super::*;

    fn named(id: u8, name: &str) -> ListedIdentity<u8> {
        ListedIdentity { id, name: name.to_owned(), created_at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_name_must_mean_one() {
        let two = [named(1, "acme"), named(2, "1")];

        assert_eq!(single_match("tenant", "acme", &two[..1]).unwrap(), 1);
        let none = single_match("agent", "owl", &two[..0]).unwrap_err().to_string();
        assert_eq!(none, "there is no agent called owl; `nightdesk agent list` shows them");
        let both = single_match("tenant", "1", &two).unwrap_err().to_string();
        assert!(both.contains("acme (1)") && both.contains("1 (2)"), "{both}");
    }
}
