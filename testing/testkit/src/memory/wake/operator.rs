//! What an operator sees of wakes, and does to them.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, StoreError, TenantScope};
use nightdesk_wake::{Notice, State as WakeState, Status, Wakers};
use serde_json::json;

use super::super::Memory;
use super::{Phase, Row};

impl Row {
    fn state(&self) -> WakeState {
        let state = match self.phase {
            Phase::Due => "due",
            Phase::Held => "held",
            Phase::Woken => "woken",
            Phase::Settled => "settled",
            Phase::Unreachable => "unreachable",
        };
        WakeState {
            state: state.to_owned(),
            since: self.since,
            due_at: self.due_at,
            calls: self.calls,
            called_at: self.called_at,
            outcome: self.outcome.clone(),
            woken_at: self.woken_at,
        }
    }
}

#[async_trait]
impl Wakers for Memory {
    async fn wakers(&self, scope: TenantScope, agent: AgentId) -> Result<Vec<String>, StoreError> {
        Ok(self.lock().wakers.get(&(scope, agent)).cloned().unwrap_or_default())
    }

    async fn set_wakers(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        state.agent("say where an agent is called", scope, agent)?;
        state.wakers.insert((scope, agent), urls.to_vec());
        let row = state.wakes.get_mut(&(scope, agent));
        if let Some(row) = row.filter(|row| row.phase == Phase::Due) {
            row.due_at = Some(now.max(row.rests_until));
        }
        self.tell(&mut state, scope, Kind::WakeUrlSet, &json!({ "agent_id": agent }));
        Ok(())
    }

    async fn ask(&self, scope: TenantScope, agent: AgentId) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.wake_row((scope, agent), now);
        row.hasten(now, now, None);
        (row.phase, row.asked, row.due_at) = (Phase::Due, true, Some(now.max(row.rests_until)));
        self.tell(&mut state, scope, Kind::WakeAsked, &json!({ "agent_id": agent }));
        Ok(())
    }

    async fn status(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: &str,
    ) -> Result<Vec<Status>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let mine = state.agents.iter().filter(|((tenant, id), found)| {
            *tenant == scope
                && agent.is_none_or(|agent| agent == *id)
                && found.name.as_str() > after
        });
        let mut all: Vec<Status> = mine
            .map(|(key, found)| Status {
                agent: key.1,
                name: found.name.clone(),
                line_since: found
                    .line
                    .as_ref()
                    .filter(|line| state.is_open(line, now))
                    .map(|line| line.opened_at),
                waiting: u64::try_from(found.waits().count()).unwrap_or(u64::MAX),
                urls: state.wakers.get(key).map_or(0, |urls| urls.len() as u64),
                wake: state.wakes.get(key).map(Row::state),
                rules: found.client_rules,
            })
            .collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all.truncate(usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX));
        Ok(all)
    }

    async fn notices(&self, scope: TenantScope) -> Result<Vec<Notice>, StoreError> {
        let most = usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX);
        let state = self.lock();
        let notices = state.notices.get(&scope).into_iter().flatten().rev();
        Ok(notices.take(most).cloned().collect())
    }
}
