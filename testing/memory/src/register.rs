//! Implements the register's store: tenants, agents, bindings and grants; the rest is in the submodules.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::{IdentityStore, NewBot};
use nightdesk_types::{AgentId, BotId, DataKeyId, Quota, StoreError, TenantScope, Timestamp};
use nightdesk_vault::WrappedKey;
use serde_json::json;
use uuid::Uuid;

use super::agent::Agent;
use super::{AgentKey, Memory, State};

mod bots;
mod capabilities;
mod commands;
mod enrolment;
mod gateways;
mod hearing;
mod issuer;
mod linking;
mod listing;
mod managing;
mod provision;
mod reaching;
mod sessions;

use bots::BotKeyRow;
pub(super) use bots::BotRow;
pub(super) use capabilities::{CapabilityKey, CapabilityRow};
pub(super) use commands::CommandRow;
pub(super) use enrolment::{ClientRow, EnrolmentRow};
pub(super) use gateways::GatewayRow;
pub(super) use linking::CodeRow;
pub(super) use sessions::SessionRow;

/// A tenant's row, with its data keys, oldest first.
pub(super) struct Tenant {
    name: String,
    created_at: Timestamp,
    keys: Vec<(DataKeyId, WrappedKey)>,
    gateways_may_widen: bool,
}

impl State {
    /// Returns the name of a tenant. `None`: it is the desk, or there is no such tenant.
    pub(super) fn tenant_name(&self, scope: TenantScope) -> Option<String> {
        self.tenants.get(&scope).map(|tenant| tenant.name.clone())
    }

    fn data_key(
        &self,
        operation: &'static str,
        scope: TenantScope,
    ) -> Result<&(DataKeyId, WrappedKey), StoreError> {
        let newest = self.tenants.get(&scope).and_then(|tenant| tenant.keys.last());
        newest.ok_or_else(|| StoreError::broken(operation, "there is no such tenant"))
    }

    fn wrapped(&self, scope: TenantScope, key: DataKeyId) -> Option<&WrappedKey> {
        let keys = &self.tenants.get(&scope)?.keys;
        keys.iter().find(|(id, _)| *id == key).map(|(_, wrapped)| wrapped)
    }
}

/// Checks a unique constraint.
fn must_be_free(operation: &'static str, is_taken: bool) -> Result<(), StoreError> {
    if is_taken { Err(StoreError::broken(operation, "it is taken")) } else { Ok(()) }
}

#[async_trait]
impl IdentityStore for Memory {
    async fn create_tenant(
        &self,
        scope: TenantScope,
        name: &str,
        key: &WrappedKey,
    ) -> Result<(), StoreError> {
        let created_at = self.now();
        let mut state = self.lock();
        let named = state.tenants.values().any(|tenant| tenant.name == name);
        must_be_free("create a tenant", named || state.tenants.contains_key(&scope))?;
        let keys = vec![(DataKeyId::new(1), key.clone())];
        let name = name.to_owned();
        state.tenants.insert(scope, Tenant { name, created_at, keys, gateways_may_widen: false });
        self.tell(&mut state, scope, Kind::TenantCreated, &json!({}));
        Ok(())
    }

    async fn data_key(&self, scope: TenantScope) -> Result<(DataKeyId, WrappedKey), StoreError> {
        self.lock().data_key("read a tenant's key", scope).cloned()
    }

    async fn create_agent(&self, scope: TenantScope, name: &str) -> Result<AgentId, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let first = (scope, AgentId::from_uuid(Uuid::nil()));
        let is_own = |((tenant, _), _): &(&AgentKey, &Agent)| *tenant == scope;
        let of_tenant = || state.agents.range(first..).take_while(is_own);
        must_be_free("create an agent", of_tenant().any(|(_, agent)| agent.name == name))?;
        state.keep_quota("create an agent", scope, Quota::Agents, of_tenant().count())?;
        let id = AgentId::from_uuid(state.mint());
        state.agents.insert((scope, id), Agent::named(name, now));
        self.tell(&mut state, scope, Kind::AgentCreated, &json!({ "agent_id": id }));
        Ok(id)
    }

    async fn create_bot(&self, scope: TenantScope, bot: &NewBot) -> Result<BotId, StoreError> {
        let mut state = self.lock();
        let clashes = |row: &BotRow| row.clashes_with(scope, bot);
        must_be_free("create a bot", state.bots.values().any(clashes))?;
        let id = BotId::from_uuid(bot.id);
        let keys = BotKeyRow::first(bot).into_iter().collect();
        state.bots.insert(id, BotRow { operator: scope, new: bot.clone(), shared: false, keys });
        let about = json!({ "bot_id": id, "platform": bot.platform });
        self.tell(&mut state, scope, Kind::BotCreated, &about);
        Ok(id)
    }
}
