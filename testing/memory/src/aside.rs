//! Implements the operator's access to the inbox.

use async_trait::async_trait;
use nightdesk_inbox::{
    EntryDetails, InboxAdmin, InboxOverview, LocalEntry, ParkReason, StoppedChat,
};
use nightdesk_register::audit::Kind;
use nightdesk_types::{AgentId, Seq, StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::agent::{Agent, Held};
use super::{AgentKey, Memory, State};

impl State {
    /// Stores an entry that no platform sent. The desk's own entries ignore the inbox's limits.
    pub(super) fn put_by_hand(
        &mut self,
        whose: AgentKey,
        entry: LocalEntry,
        now: Timestamp,
    ) -> Option<Seq> {
        let LocalEntry { bot, chat_id, body } = entry;
        let (incarnation, any) = (self.incarnation, (i64::MAX, i64::MAX));
        let held = Held { incarnation, at: now, bot, chat_id, body: body.into() };
        let (seq, _, _) = self.agents.get_mut(&whose)?.hold(held, None, any);
        self.wake_sleeper(whose, now);
        Some(seq)
    }
}

#[async_trait]
impl InboxAdmin for Memory {
    async fn overview(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<Option<InboxOverview>, StoreError> {
        Ok(self.lock().agents.get(&(scope, agent)).map(|inbox| inbox.overview(after)))
    }

    async fn show_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<EntryDetails>, StoreError> {
        Ok(self.lock().agents.get(&(scope, agent)).and_then(|inbox| inbox.show(seq)))
    }

    async fn park_waiting(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let inbox = state.agents.get_mut(&(scope, agent));
        let moved = inbox.is_some_and(|inbox| inbox.set_aside(seq, ParkReason::Operator, now));
        if moved {
            let about = json!({ "agent_id": agent, "seq": seq });
            self.tell(&mut state, scope, Kind::EntrySetAside, &about);
        }
        Ok(moved)
    }

    async fn park_chat(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: StoppedChat<'_>,
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let found = state.agents.get(&(scope, agent));
        let has_line = |found: &Agent| found.line.as_ref().is_some_and(|line| state.is_open(line));
        let Some(asleep) = found.filter(|found| !has_line(found)) else { return Ok(0) };
        let waiting = asleep.waiting_in(chat);
        if let Some(inbox) = state.agents.get_mut(&(scope, agent)) {
            for seq in &waiting {
                inbox.set_aside(*seq, ParkReason::Stopped, now);
            }
        }
        Ok(waiting.len())
    }

    async fn resubmit(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Seq>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let incarnation = state.incarnation;
        let inbox = state.agents.get_mut(&(scope, agent));
        let again = inbox.and_then(|inbox| inbox.resubmit(seq, incarnation, now));
        if let Some(new) = again {
            state.wake_sleeper((scope, agent), now);
            let about = json!({ "agent_id": agent, "seq": seq, "resubmitted_as": new });
            self.tell(&mut state, scope, Kind::EntryResubmitted, &about);
        }
        Ok(again)
    }

    async fn drop_parked(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let inbox = state.agents.get_mut(&(scope, agent));
        let is_dropped = inbox.is_some_and(|inbox| inbox.drop_parked(seq));
        if is_dropped {
            let about = json!({ "agent_id": agent, "seq": seq });
            self.tell(&mut state, scope, Kind::EntryRemoved, &about);
        }
        Ok(is_dropped)
    }

    async fn put_local(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &LocalEntry,
    ) -> Result<Option<Seq>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let put = state.put_by_hand((scope, agent), entry.clone(), now);
        let Some(seq) = put else { return Ok(None) };
        let about = json!({ "agent_id": agent, "seq": seq });
        self.tell(&mut state, scope, Kind::EntryPut, &about);
        Ok(Some(seq))
    }
}
