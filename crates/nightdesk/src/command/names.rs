//! Names: who an operator means. A tenant or an agent may be called by name or by id.

use anyhow::bail;
use clap::Args;
use nightdesk_register::{Named, Register};
use nightdesk_types::{Actor, AgentId, TenantId, TenantScope};

/// Which agent a command is about.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// Whose agent it is, by name or id.
    #[arg(long)]
    pub(crate) tenant: String,
    /// The agent, by name or id.
    #[arg(long)]
    pub(crate) agent: String,
}

impl Whose {
    /// Who that is.
    pub(crate) async fn found(
        &self,
        register: &Register,
    ) -> anyhow::Result<(TenantScope, AgentId)> {
        let scope = tenant(register, &self.tenant).await?;
        Ok((scope, agent(register, scope, &self.agent).await?))
    }
}

/// The tenant that is called so.
pub(super) async fn tenant(register: &Register, called: &str) -> anyhow::Result<TenantScope> {
    let found = register.store().tenants_called(called).await?;
    only("tenant", called, &found).map(of_tenant)
}

/// For a tenant that was just found.
pub(super) const fn of_tenant(tenant: TenantId) -> TenantScope {
    TenantScope::of(tenant).by(Actor::Operator)
}

/// The agent of the tenant that is called so.
async fn agent(register: &Register, scope: TenantScope, called: &str) -> anyhow::Result<AgentId> {
    let found = register.store().agents_called(scope, called).await?;
    only("agent", called, &found)
}

fn only<Id: Copy + std::fmt::Display>(
    what: &str,
    called: &str,
    found: &[Named<Id>],
) -> anyhow::Result<Id> {
    match found {
        [one] => Ok(one.id),
        [] => bail!("there is no {what} called {called}; `nightdesk {what} list` shows them"),
        [one, other, ..] => bail!(
            "{called} may be {what} {} ({}) or {what} {} ({}); say which by the name that is not \
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

    fn named(id: u8, name: &str) -> Named<u8> {
        Named { id, name: name.to_owned(), created_at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_name_must_mean_one() {
        let two = [named(1, "acme"), named(2, "1")];

        assert_eq!(only("tenant", "acme", &two[..1]).unwrap(), 1);
        let none = only("agent", "owl", &two[..0]).unwrap_err().to_string();
        assert_eq!(none, "there is no agent called owl; `nightdesk agent list` shows them");
        let both = only("tenant", "1", &two).unwrap_err().to_string();
        assert!(both.contains("acme (1)") && both.contains("1 (2)"), "{both}");
    }
}
