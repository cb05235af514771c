//! Implements the inbox's store.

use async_trait::async_trait;
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRequest, LineClaim, ParkOutcome, ParkReason, PutOutcome,
    QuarantinedEvent, ReadRequest, ReadResponse, SourceCursor, Store,
};
use nightdesk_types::limits::QUARANTINE_KEPT_MAX;
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantScope, Timestamp};

use super::agent::Agent;
use super::{Memory, State, push_bounded};

/// Cursor and epoch of a source.
#[derive(Default)]
pub(super) struct SourceRow {
    pub(super) epoch: NodeEpoch,
    pub(super) cursor: Option<String>,
}

impl State {
    /// Begins another history, because the store lost commits.
    pub(super) fn break_history(&mut self, now: Timestamp) {
        self.incarnation = self.incarnation.next();
        self.history_broken_at = Some(now);
    }

    /// Returns the agent of a line, if no other line took over and the history goes on.
    fn agent_of(&mut self, line: &LineClaim) -> Option<&mut Agent> {
        if line.incarnation != self.incarnation {
            return None;
        }
        let agent = self.agents.get_mut(&(line.scope, line.agent))?;
        (agent.cursor.generation == line.generation).then_some(agent)
    }
}

#[async_trait]
impl Store for Memory {
    async fn accept(&self, events: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError> {
        self.mishap.meets(events).await?;
        self.lock().accept(events, self.now())
    }

    async fn read_waiting(&self, asks: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError> {
        let mut state = self.lock();
        let waiting = |ask: &ReadRequest| {
            state.agent("read waiting entries", ask.line.scope, ask.line.agent)?;
            if ask.line.incarnation != state.incarnation {
                return Ok(ReadResponse::HistoryChanged);
            }
            let mine = state.agent_of(&ask.line);
            Ok(mine.map_or(ReadResponse::LineReplaced, |agent| {
                ReadResponse::Entries(agent.waiting(ask))
            }))
        };
        asks.iter().map(waiting).collect()
    }

    async fn ack(&self, acks: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let ack = |ack: &AckRequest| {
            if ack.line.incarnation != state.incarnation {
                return AckOutcome::HistoryChanged;
            }
            let Some(agent) = state.agent_of(&ack.line) else { return AckOutcome::LineReplaced };
            if ack.ranges.iter().any(|range| range.to > agent.head()) {
                state.break_history(now);
                return AckOutcome::BeyondHead;
            }
            agent.ack(&ack.ranges, now);
            AckOutcome::Moved(agent.cursor.acked)
        };
        Ok(acks.iter().map(ack).collect())
    }

    async fn park(
        &self,
        line: &LineClaim,
        seq: Seq,
        reason: ParkReason,
    ) -> Result<ParkOutcome, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let Some(agent) = state.agent_of(line) else { return Ok(ParkOutcome::LineReplaced) };
        Ok(if agent.set_aside(seq, reason, now) {
            ParkOutcome::Parked
        } else {
            ParkOutcome::NotWaiting
        })
    }

    async fn read_heads(&self, agents: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError> {
        let state = self.lock();
        let head = |agent| state.agents.get(agent).map(Agent::head).unwrap_or_default();
        Ok(agents.iter().map(head).collect())
    }

    async fn take_source(
        &self,
        operator: TenantScope,
        bot: BotId,
        source: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError> {
        let mut state = self.lock();
        let row = state.sources.entry((operator, bot, source.to_owned())).or_default();
        row.epoch = row.epoch.next();
        Ok((row.epoch, row.cursor.clone()))
    }

    async fn move_cursor(
        &self,
        operator: TenantScope,
        bot: BotId,
        mark: &SourceCursor,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let row = state.sources.get_mut(&(operator, bot, mark.source.clone()));
        let ours = row.filter(|row| row.epoch == mark.epoch);
        Ok(ours.map(|row| row.cursor = Some(mark.cursor.clone())).is_some())
    }

    async fn quarantine(&self, unreadable: &QuarantinedEvent) -> Result<(), StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let ring = state.quarantined.entry((unreadable.operator, unreadable.bot)).or_default();
        push_bounded(ring, (now, unreadable.clone()), QUARANTINE_KEPT_MAX);
        Ok(())
    }
}
