//! Implements the management of an agent's reach.

use async_trait::async_trait;
use nightdesk_letters::Party;
use nightdesk_register::audit::Kind;
use nightdesk_register::{AgentOnBot, AgentReach, Managing, OpenBot};
use nightdesk_types::{AgentId, BotId, GatewayId, StoreError, TenantScope};
use serde_json::json;

use crate::gate::Changed;
use crate::{Memory, State};

impl State {
    fn widens(&mut self, scope: TenantScope) -> Result<&mut bool, StoreError> {
        let tenant = self.tenants.get_mut(&scope);
        let tenant = tenant
            .ok_or_else(|| StoreError::broken("set gateways' rights", "there is no such tenant"));
        tenant.map(|tenant| &mut tenant.gateways_may_widen)
    }

    /// Removes bindings and grants, and records the changes as the triggers do.
    pub(super) fn forget_reach(&mut self, is_its: impl Fn(AgentOnBot) -> bool) {
        let bindings = self.bindings.extract_if(.., |binding| is_its(binding.on));
        let mut gone: Vec<(AgentOnBot, Changed)> =
            bindings.map(|binding| (binding.on, Changed::Author(binding.author))).collect();
        let grants = self.grants.extract_if(.., |row| is_its(row.on));
        gone.extend(grants.map(|row| (row.on, Changed::Grant(row.granted))));
        for (on, changed) in gone {
            self.note(on, changed);
        }
    }
}

#[async_trait]
impl Managing for Memory {
    async fn reach_of(&self, scope: TenantScope, agent: AgentId) -> Result<AgentReach, StoreError> {
        let mut state = self.lock();
        let row = state.agent("read an agent's reach", scope, agent)?;
        let principal = row.principal;
        let of_bot = |(bot, authors): (&BotId, &std::collections::BTreeSet<String>)| {
            authors.iter().map(|author| (*bot, author.clone())).collect::<Vec<_>>()
        };
        let listed = row.listed.iter().flat_map(of_bot).collect();
        let relevance = row.relevance.iter().map(|(name, said)| (name.clone(), said.clone()));
        let relevance = relevance.collect();
        let is_its = |on: AgentOnBot| (on.scope, on.agent) == (scope, agent);
        let bindings = state.bindings.iter().filter(|binding| is_its(binding.on));
        let mut people: Vec<_> =
            bindings.map(|binding| (binding.on.bot, binding.author.clone())).collect();
        people.sort();
        let rows = state.grants.iter().filter(|row| is_its(row.on));
        let mut grants: Vec<_> =
            rows.map(|row| (row.on.bot, row.granted.clone(), row.principal)).collect();
        grants.sort();
        Ok(AgentReach { principal, people, grants, listed, relevance })
    }

    async fn open_bots(&self, scope: TenantScope) -> Result<Vec<OpenBot>, StoreError> {
        let state = self.lock();
        let open = state.bots.iter().filter(|(_, row)| row.operator == scope || row.shared);
        let mut open: Vec<OpenBot> = open
            .map(|(id, row)| OpenBot {
                id: *id,
                platform: row.new.platform.clone(),
                handle: row.new.handle.clone(),
                is_own: row.operator == scope,
            })
            .collect();
        open.sort_by_key(|bot| !bot.is_own);
        Ok(open)
    }

    async fn deprovision(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GatewayId>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.agent("deprovision an agent", scope, agent)?;
        row.listed.clear();
        row.relevance.clear();
        state.link_codes.retain(|_, row| !row.is_of(scope, agent));
        state.cancel_jobs((scope, agent), now);
        let is_its = |party: &Party| (party.scope, party.agent) == (scope, agent);
        state.letter_grants.retain(|(party, _), _| !is_its(party));
        state.letter_hooks.retain(|_, (party, _)| !is_its(party));
        state.forget_reach(|on| (on.scope, on.agent) == (scope, agent));
        for client in state.clients.values_mut().filter(|row| row.is_of(scope, agent)) {
            client.revoked = true;
        }
        for session in state.sessions_of(scope, agent) {
            session.end();
        }
        let its = state.gateways.iter().filter(|(_, row)| row.is_of(scope, agent));
        let its: Vec<GatewayId> = its.map(|(id, _)| *id).collect();
        let revoked: Vec<_> = its.into_iter().filter(|id| state.revoke(*id, now)).collect();
        let about = json!({ "agent_id": agent, "gateways": revoked.len() });
        self.tell(&mut state, scope, Kind::AgentDeprovisioned, &about);
        Ok(revoked)
    }

    async fn gateways_may_widen(&self, scope: TenantScope) -> Result<bool, StoreError> {
        self.lock().widens(scope).copied()
    }

    async fn let_gateways_widen(&self, scope: TenantScope, may: bool) -> Result<(), StoreError> {
        let mut state = self.lock();
        *state.widens(scope)? = may;
        let about = json!({ "gateways_may_widen": may });
        self.tell(&mut state, scope, Kind::GatewaysTrusted, &about);
        Ok(())
    }

    async fn may_stop_others(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<bool, StoreError> {
        Ok(self.lock().agents.get(&(scope, agent)).is_some_and(|agent| agent.stops_others))
    }

    async fn let_stop_others(
        &self,
        scope: TenantScope,
        agent: AgentId,
        may: bool,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let Some(row) = state.agents.get_mut(&(scope, agent)) else { return Ok(false) };
        row.stops_others = may;
        let about = json!({ "agent_id": agent, "stops_others": may });
        self.tell(&mut state, scope, Kind::StopsAllowed, &about);
        Ok(true)
    }
}
