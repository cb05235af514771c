//! Lists the people and chats that reach a tenant's agents.

use async_trait::async_trait;
use nightdesk_office::{BindingKey, GrantKey, ReachReads, TenantBinding, TenantGrant};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::reach::EVERY_CHAT;
use nightdesk_types::{AgentId, GrantTarget, StoreError, TenantScope};

use super::super::{Memory, State};
use super::rows_max;

impl State {
    fn name_of(&self, scope: TenantScope, agent: AgentId) -> String {
        self.agents.get(&(scope, agent)).map(|agent| agent.name.clone()).unwrap_or_default()
    }
}

/// Returns the scope and the chat of a grant, as its row has them.
fn scope_and_chat(target: &GrantTarget) -> (String, String) {
    match target {
        GrantTarget::Chat { chat, scope } => (scope.clone().unwrap_or_default(), chat.clone()),
        GrantTarget::Scope(scope) => (scope.clone(), EVERY_CHAT.to_owned()),
        GrantTarget::Bot => (String::new(), EVERY_CHAT.to_owned()),
    }
}

#[async_trait]
impl ReachReads for Memory {
    async fn tenant_bindings(
        &self,
        scope: TenantScope,
        after: Option<&BindingKey>,
    ) -> Result<Vec<TenantBinding>, StoreError> {
        let state = self.lock();
        let of_tenant = state.bindings.iter().filter(|binding| binding.on.scope == scope);
        let rows = of_tenant.map(|binding| TenantBinding {
            key: BindingKey {
                bot: binding.on.bot,
                author: binding.author.clone(),
                agent: binding.on.agent,
            },
            agent_name: state.name_of(scope, binding.on.agent),
        });
        let mut rows: Vec<_> =
            rows.filter(|row| after.is_none_or(|after| row.key > *after)).collect();
        rows.sort_by(|one, other| one.key.cmp(&other.key));
        rows.truncate(rows_max(LIST_ROWS_MAX));
        Ok(rows)
    }

    async fn tenant_grants(
        &self,
        scope: TenantScope,
        after: Option<&GrantKey>,
    ) -> Result<Vec<TenantGrant>, StoreError> {
        let state = self.lock();
        let of_tenant = state.grants.iter().filter(|row| row.on.scope == scope);
        let rows = of_tenant.map(|row| {
            let (in_scope, chat) = scope_and_chat(&row.granted);
            TenantGrant {
                key: GrantKey { bot: row.on.bot, scope: in_scope, chat },
                agent: row.on.agent,
                agent_name: state.name_of(scope, row.on.agent),
                open_to: row.principal,
                is_moderator: row.is_moderator,
            }
        });
        let mut rows: Vec<_> =
            rows.filter(|row| after.is_none_or(|after| row.key > *after)).collect();
        rows.sort_by(|one, other| one.key.cmp(&other.key));
        rows.truncate(rows_max(LIST_ROWS_MAX));
        Ok(rows)
    }
}
