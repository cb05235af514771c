//! The operator's view of wakes, and the operator's changes to them.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{LIST_ROWS_MAX, WAITING_COUNTED_MAX};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use nightdesk_wake::{
    AgentWakeStatus, AgentWebhook, NewWebhook, OwnerNotice, WakeAdmin, WakeRow,
    WakeStatus as WakeState,
};
use serde_json::json;

use super::super::Memory;

fn state_of(row: &WakeRow) -> WakeState {
    WakeState {
        state: row.phase.slug().to_owned(),
        since: row.since,
        due_at: row.due_at,
        calls: row.calls,
        called_at: row.called_at,
        outcome: row.outcome.clone(),
        woken_at: row.woken_at,
    }
}

#[async_trait]
impl WakeAdmin for Memory {
    async fn wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<String>, StoreError> {
        Ok(self.lock().wakers.get(&(scope, agent)).cloned().unwrap_or_default())
    }

    async fn set_wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        state.agent("set an agent's wake URLs", scope, agent)?;
        state.wakers.insert((scope, agent), urls.to_vec());
        state.change_wake((scope, agent), |row| row.call_soon(now));
        self.tell(&mut state, scope, Kind::WakeUrlSet, &json!({ "agent_id": agent }));
        Ok(())
    }

    async fn webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<AgentWebhook>, StoreError> {
        Ok(self.lock().webhooks.get(&(scope, agent)).cloned())
    }

    async fn set_webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
        webhook: Option<&NewWebhook>,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        state.agent("set an agent's webhook", scope, agent)?;
        let before = state.webhooks.remove(&(scope, agent));
        if let Some(NewWebhook { url, salt }) = webhook.cloned() {
            let old = before.and_then(|before| before.salts.into_iter().next());
            let salts = [salt].into_iter().chain(old).collect();
            state.webhooks.insert((scope, agent), AgentWebhook { url, salts });
        }
        state.change_wake((scope, agent), |row| row.call_soon(now));
        let act = json!({ "agent_id": agent, "webhook": webhook.is_some() });
        self.tell(&mut state, scope, Kind::WakeUrlSet, &act);
        Ok(())
    }

    async fn request_call(&self, scope: TenantScope, agent: AgentId) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.wake((scope, agent), now).request_call(now);
        state.wakes.insert((scope, agent), row);
        self.tell(&mut state, scope, Kind::WakeAsked, &json!({ "agent_id": agent }));
        Ok(())
    }

    async fn status(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: &str,
    ) -> Result<Vec<AgentWakeStatus>, StoreError> {
        let state = self.lock();
        let mine = state.agents.iter().filter(|((tenant, id), found)| {
            *tenant == scope
                && agent.is_none_or(|agent| agent == *id)
                && found.name.as_str() > after
        });
        let mut all: Vec<AgentWakeStatus> = mine
            .map(|(key, found)| {
                let line = found.line.as_ref().filter(|line| state.is_open(line));
                AgentWakeStatus {
                    agent: key.1,
                    name: found.name.clone(),
                    line_since: line.map(|line| line.opened_at),
                    transport: line.map(|line| line.transport),
                    waiting: (found.waits().count() as u64).min(WAITING_COUNTED_MAX.unsigned_abs()),
                    urls: state.wakers.get(key).map_or(0, |urls| urls.len() as u64),
                    wake: state.wakes.get(key).map(state_of),
                    rules: found.client_rules,
                }
            })
            .collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all.truncate(usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX));
        Ok(all)
    }

    async fn notices(&self, scope: TenantScope) -> Result<Vec<OwnerNotice>, StoreError> {
        let most = usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX);
        let state = self.lock();
        let notices = state.notices.get(&scope).into_iter().flatten().rev();
        Ok(notices.take(most).cloned().collect())
    }
}
