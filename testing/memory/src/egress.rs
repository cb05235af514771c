//! Implements the store of sends.

use async_trait::async_trait;
use nightdesk_egress::{
    AbandonedSend, MadeMessage, PastSend, PastSends, SendKey, SendPlace, SendResult, SendState,
    Store, WaitingSend,
};
use nightdesk_gate::{AdmittedSend, BotMessage};
use nightdesk_lease::{Owner, Resource};
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, BotId, Node, Quota, Send, StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::{Memory, SendName, State};

/// A send's row.
pub(super) struct SendRow {
    pub(super) asked_at: Timestamp,
    asked_on: String,
    bot: BotId,
    send: Send,
    stage: Stage,
}

enum Stage {
    Asked,
    Calling(Node),
    Settled(SendResult),
}

impl SendRow {
    pub(super) const fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// Returns true if the send made this message.
    pub(super) fn made(&self, message: &BotMessage) -> bool {
        let Stage::Settled(settled) = &self.stage else { return false };
        let is_it = |made: &MadeMessage| {
            made.id == message.id
                && made.own_chat.as_ref().unwrap_or(&self.send.chat_id) == &message.chat
        };
        self.bot == message.bot
            && self.send.op.changed_message().is_none()
            && settled.made_messages().iter().any(is_it)
    }

    fn looked_at(&self) -> SendState {
        match &self.stage {
            Stage::Asked | Stage::Calling(_) => SendState::UnderWay,
            Stage::Settled(settled) => SendState::Settled(settled.clone()),
        }
    }
}

fn name(key: &SendKey) -> SendName {
    (key.scope, key.agent, key.request.clone())
}

impl State {
    /// Moves a send to its next stage, if its current stage permits it.
    fn move_on(&mut self, key: &SendKey, stands: impl FnOnce(&Stage) -> bool, next: Stage) -> bool {
        let row = self.sends.get_mut(&name(key)).filter(|row| stands(&row.stage));
        row.map(|row| row.stage = next).is_some()
    }

    /// Returns the requested sends that are not begun, oldest first.
    fn unbegun(&self) -> Vec<(&SendName, &SendRow)> {
        let unbegun = |(_, row): &(&SendName, &SendRow)| matches!(row.stage, Stage::Asked);
        let mut rows: Vec<_> = self.sends.iter().filter(unbegun).collect();
        rows.sort_by_key(|(_, row)| row.asked_at);
        rows
    }
}

#[async_trait]
impl PastSends for Memory {
    async fn read_past_sends(
        &self,
        scope: TenantScope,
        agent: AgentId,
        place: SendPlace<'_>,
        since: Timestamp,
    ) -> Result<Vec<PastSend>, StoreError> {
        let state = self.lock();
        let its = |(name, row): &(&SendName, &SendRow)| {
            (name.0, name.1) == (scope, agent)
                && (row.bot, row.send.chat_id.as_str()) == (place.bot, place.chat_id)
                && row.asked_at >= since
        };
        let said = state.sends.iter().filter(its).map(|(name, row)| PastSend {
            request: name.2.clone(),
            asked_at: row.asked_at,
            result: match &row.stage {
                Stage::Asked | Stage::Calling(_) => None,
                Stage::Settled(settled) => Some(settled.clone()),
            },
        });
        let mut said: Vec<PastSend> = said.collect();
        said.sort_by_key(|said| said.asked_at);
        said.truncate(usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX));
        Ok(said)
    }
}

#[async_trait]
impl Store for Memory {
    async fn record_request(
        &self,
        send: &AdmittedSend,
        asked_on: &str,
    ) -> Result<SendState, StoreError> {
        let (asked_at, asked_on) = (self.now(), asked_on.to_owned());
        let mut state = self.lock();
        let name = name(&SendKey::from(send));
        if let Some(row) = state.sends.get(&name) {
            return Ok(row.looked_at());
        }
        let (scope, agent) = (SendKey::from(send).scope, SendKey::from(send).agent);
        let has = state.sends.keys().filter(|name| (name.0, name.1) == (scope, agent)).count();
        state.keep_quota("request a send", scope, Quota::AgentSends, has)?;
        let (bot, send) = (send.bot(), send.send().clone());
        if let Some(kind) = send.op.capability() {
            let about = json!({ "agent_id": agent, "kind": kind });
            self.tell(&mut state, scope, Kind::CapabilityUsed, &about);
        }
        state.sends.insert(name, SendRow { asked_at, asked_on, bot, send, stage: Stage::Asked });
        Ok(SendState::New)
    }

    async fn send_state(&self, send: &SendKey) -> Result<Option<SendState>, StoreError> {
        self.mishap.meets_send()?;
        Ok(self.lock().sends.get(&name(send)).map(SendRow::looked_at))
    }

    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let Some(bot) = state.sends.get(&name(send)).map(|row| row.bot) else { return Ok(false) };
        let free = |stage: &Stage| matches!(stage, Stage::Asked);
        let owns = state.owns(Resource::Bot(bot), owner);
        Ok(owns && state.move_on(send, free, Stage::Calling(owner.node.clone())))
    }

    async fn settle(
        &self,
        send: &SendKey,
        node: &Node,
        settled: &SendResult,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let is_gone = !state.lives(node);
        let ours = |stage: &Stage| matches!(stage, Stage::Calling(by) if by == node && !is_gone);
        Ok(state.move_on(send, ours, Stage::Settled(settled.clone())))
    }

    async fn retract(
        &self,
        send: &SendKey,
        _node: &Node,
        why: &SendResult,
    ) -> Result<bool, StoreError> {
        let free = |stage: &Stage| matches!(stage, Stage::Asked);
        Ok(self.lock().move_on(send, free, Stage::Settled(why.clone())))
    }

    async fn waiting_sends(
        &self,
        node: &Node,
        sends_max: usize,
    ) -> Result<Vec<WaitingSend>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let owned = |row: &SendRow| {
            let owner = state.owners.get(&Resource::Bot(row.bot).to_string());
            owner.is_some_and(|owner| owner.node == *node)
        };
        let waiting = |((scope, agent, request), row): (&SendName, &SendRow)| WaitingSend {
            key: SendKey { scope: *scope, agent: *agent, request: request.clone() },
            bot: row.bot,
            send: row.send.clone(),
            asked_on: Some(row.asked_on.clone()),
            waits_for: now.duration_since(row.asked_at).unsigned_abs(),
        };
        let rows = state.unbegun().into_iter().filter(|(_, row)| owned(row));
        Ok(rows.take(sends_max).map(waiting).collect())
    }

    async fn ownerless_bots(&self, bots_max: usize) -> Result<Vec<BotId>, StoreError> {
        let state = self.lock();
        let mut bots: Vec<BotId> = state.unbegun().iter().map(|(_, row)| row.bot).collect();
        bots.sort_unstable();
        bots.dedup();
        bots.retain(|bot| !state.is_owned(Resource::Bot(*bot)));
        bots.truncate(bots_max);
        Ok(bots)
    }

    async fn abandon_sends(&self, sends_max: usize) -> Result<Vec<AbandonedSend>, StoreError> {
        let mut state = self.lock();
        let calling: Vec<(SendName, Node)> = state
            .sends
            .iter()
            .filter_map(|(name, row)| match &row.stage {
                Stage::Calling(node) => Some((name.clone(), node.clone())),
                Stage::Asked | Stage::Settled(_) => None,
            })
            .collect();
        let lost = calling.into_iter().filter(|(_, node)| !state.lives(node));
        let lost: Vec<SendName> = lost.take(sends_max).map(|(name, _)| name).collect();
        let mut given_up = Vec::new();
        for name in lost {
            let Some(row) = state.sends.get_mut(&name) else { continue };
            row.stage = Stage::Settled(SendResult::Ambiguous);
            let (_, agent, request) = name;
            given_up.push(AbandonedSend { agent, request, asked_on: Some(row.asked_on.clone()) });
        }
        Ok(given_up)
    }
}
