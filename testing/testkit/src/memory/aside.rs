//! What an operator asks of the inbox.

use async_trait::async_trait;
use nightdesk_inbox::{Aside, Overview, ParkReason, Presence, Shown, Stored, TestEntry};
use nightdesk_types::{AgentId, Seq, StoreError, TenantScope};

use super::Memory;
use super::agent::Held;

#[async_trait]
impl Aside for Memory {
    async fn overview(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<Option<Overview>, StoreError> {
        Ok(self.lock().agents.get(&(scope, agent)).map(|inbox| inbox.overview(after)))
    }

    async fn show(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Shown>, StoreError> {
        Ok(self.lock().agents.get(&(scope, agent)).and_then(|inbox| inbox.show(seq)))
    }

    async fn set_aside(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let inbox = state.agents.get_mut(&(scope, agent));
        Ok(inbox.is_some_and(|inbox| inbox.set_aside(seq, ParkReason::Operator, now)))
    }

    async fn resubmit(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Stored>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let inbox = state.agents.get_mut(&(scope, agent));
        let again = inbox.and_then(|inbox| inbox.resubmit(seq, now));
        if again.is_some() {
            state.wake_sleeper((scope, agent), now);
        }
        let (parked, presence) = (false, Presence::Awake);
        Ok(again.map(|(seq, at)| Stored { scope, agent, seq, at, parked, presence }))
    }

    async fn put_test(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &TestEntry,
    ) -> Result<Option<Seq>, StoreError> {
        let now = self.now();
        let TestEntry { bot, chat_id, body } = entry.clone();
        let mut state = self.lock();
        let Some(inbox) = state.agents.get_mut(&(scope, agent)) else { return Ok(None) };
        let (seq, _, _) = inbox.hold(Held { at: now, bot, chat_id, body: body.into() }, None);
        state.wake_sleeper((scope, agent), now);
        Ok(Some(seq))
    }
}
