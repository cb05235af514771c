//! The store of wakes: it reads the facts, and writes the rows that `nightdesk-wake` decides.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::AgentPresence;
use nightdesk_line::ClosingSide;
use nightdesk_types::limits::{BURIED_LINES_MAX, NOTICES_KEPT_MAX, WAKE_PLACES_MAX};
use nightdesk_types::{AgentId, Generation, StoreError, TenantScope, Timestamp};
use nightdesk_wake::{
    DueWake, LineEnd, OpenLine, Store, Suspicion, WaitingChat, WakeClaim, WakeDecision, WakePhase,
    WakeRow, WakeSelection, WakeTerms, decide,
};

use super::agent::{Agent, Line};
use super::{AgentKey, Memory, State, push_bounded};

mod operator;

impl State {
    pub(super) fn is_open(&self, line: &Line) -> bool {
        line.closed_at.is_none() && self.lives(&line.node)
    }

    /// Returns the end of a line that is not open.
    fn line_end(&self, line: &Line, now: Timestamp) -> LineEnd {
        let at = line.closed_at.or_else(|| self.ended_at(&line.node, now));
        at.map_or(LineEnd { at: now, grace: Duration::ZERO }, |at| LineEnd {
            at,
            grace: line.grace,
        })
    }

    fn wake(&self, key: AgentKey, now: Timestamp) -> WakeRow {
        self.wakes.get(&key).cloned().unwrap_or_else(|| WakeRow::new(now))
    }

    /// Changes a wake if it exists and the rule returns a new row.
    fn change_wake(&mut self, key: AgentKey, rule: impl FnOnce(WakeRow) -> Option<WakeRow>) {
        if let Some(next) = self.wakes.get(&key).cloned().and_then(rule) {
            self.wakes.insert(key, next);
        }
    }

    /// Makes a wake due if the agent has no line.
    pub(super) fn wake_sleeper(&mut self, key: AgentKey, now: Timestamp) -> AgentPresence {
        let line = self.agents.get(&key).and_then(|agent| agent.line.as_ref());
        if line.is_some_and(|line| self.is_open(line)) {
            return AgentPresence::Awake;
        }
        let due_at = line.map_or(now, |line| self.line_end(line, now).first_call_at(now));
        let row = self.wake(key, now).make_due(due_at, now);
        let presence =
            if row.phase == WakePhase::Held { AgentPresence::Held } else { AgentPresence::Asleep };
        self.wakes.insert(key, row);
        presence
    }

    /// Records that the agent dialled in.
    pub(super) fn is_up(&mut self, key: AgentKey, now: Timestamp) {
        let before = self.wakes.get(&key).map(|row| row.phase);
        self.change_wake(key, |row| row.dial_in(now));
        self.log_wake(key, before, now);
    }

    /// Makes a wake due if a line ended while entries wait.
    pub(super) fn line_ended(&mut self, key: AgentKey, line: Generation, now: Timestamp) {
        let waiting = self.agents.get(&key).filter(|agent| agent.waits().next().is_some());
        let line = waiting.and_then(|agent| agent.line.as_ref()).filter(|it| it.generation == line);
        if let Some(end) = line.map(|line| self.line_end(line, now)) {
            self.wakes.insert(key, self.wake(key, now).end_line(end, now));
        }
    }

    /// Returns the wake and the facts that its step depends on.
    fn due_wake(&self, key: AgentKey) -> Option<DueWake> {
        let (row, agent) = (self.wakes.get(&key)?.clone(), self.agents.get(&key)?);
        let line = agent.line.as_ref().filter(|line| self.is_open(line));
        let parting = agent.line.as_ref().and_then(|line| line.parting);
        Some(DueWake {
            scope: key.0,
            agent: key.1,
            row,
            line: line.map(|line| OpenLine {
                generation: line.generation,
                opened_at: line.opened_at,
                acked: agent.cursor.acked,
            }),
            went_idle: parting == Some(ClosingSide::Idle),
            urls: self.wakers.get(&key).cloned().unwrap_or_default(),
            has_webhook: self.webhooks.contains_key(&key),
            places: agent.places(),
        })
    }

    fn claim_wake(&mut self, key: AgentKey, terms: WakeTerms, now: Timestamp) -> Option<WakeClaim> {
        let WakeDecision { row, notice, claimed } = decide(self.due_wake(key)?, terms, now);
        let before = self.wakes.insert(key, row).map(|row| row.phase);
        self.log_wake(key, before, now);
        if let Some(notice) = notice {
            push_bounded(self.notices.entry(key.0).or_default(), notice, NOTICES_KEPT_MAX);
        }
        claimed
    }

    fn due(&self, which: WakeSelection, now: Timestamp) -> Vec<AgentKey> {
        let due = self.wakes.iter().filter(|(_, row)| row.is_due(now));
        match which {
            WakeSelection::Due(most) => {
                let mut due: Vec<_> = due.map(|(key, row)| (row.due_at, *key)).collect();
                due.sort_unstable();
                due.into_iter().take(most).map(|(_, key)| key).collect()
            }
            WakeSelection::Of(scope, agent) => {
                due.map(|(key, _)| *key).filter(|key| *key == (scope, agent)).collect()
            }
        }
    }
}

impl Agent {
    /// Returns the chats of the oldest waiting entries.
    fn places(&self) -> Vec<WaitingChat> {
        let mut places: Vec<WaitingChat> = Vec::new();
        for held in self.waits() {
            let place = WaitingChat { bot: held.bot, chat_id: held.chat_id.clone() };
            if !places.contains(&place) && places.len() < WAKE_PLACES_MAX {
                places.push(place);
            }
        }
        places
    }
}

#[async_trait]
impl Store for Memory {
    async fn claim(
        &self,
        which: WakeSelection,
        terms: &WakeTerms,
    ) -> Result<Vec<WakeClaim>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let keys = state.due(which, now);
        Ok(keys.into_iter().filter_map(|key| state.claim_wake(key, *terms, now)).collect())
    }

    async fn record_outcome(
        &self,
        claimed: &WakeClaim,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let key = (claimed.scope, claimed.agent);
        self.lock().change_wake(key, |row| row.record_outcome(claimed, outcome, wait, now));
        Ok(())
    }

    async fn put_off(&self, claimed: &WakeClaim, wait: Duration) -> Result<(), StoreError> {
        let now = self.now();
        let key = (claimed.scope, claimed.agent);
        self.lock().change_wake(key, |row| row.put_off(claimed, wait, now));
        Ok(())
    }

    async fn record_notified(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let key = (claimed.scope, claimed.agent);
        self.lock().change_wake(key, |row| row.finish_giving_up(claimed));
        Ok(())
    }

    async fn record_delay_told(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let key = (claimed.scope, claimed.agent);
        self.lock().change_wake(key, |row| row.finish_delay_notice(claimed));
        Ok(())
    }

    async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: Generation,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let key = (scope, agent);
        let found = state.agents.get(&key).filter(|agent| agent.cursor.generation == line);
        let waits = found.filter(|agent| agent.waits().next().is_some());
        if let Some(acked) = waits.map(|agent| agent.cursor.acked) {
            let row = state.wake(key, now).suspect(Suspicion { line, acked }, now);
            state.wakes.insert(key, row);
        }
        Ok(())
    }

    async fn close_dead_lines(&self) -> Result<u64, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let dead = |line: &Line| line.closed_at.is_none() && !state.lives(&line.node);
        let lines = state.agents.iter().filter_map(|(key, agent)| {
            let line = agent.line.as_ref().filter(|line| dead(line))?;
            Some((*key, line.generation, state.ended_at(&line.node, now)))
        });
        let most = usize::try_from(BURIED_LINES_MAX).unwrap_or(0);
        let lines: Vec<_> = lines.take(most).collect();
        for (key, generation, ended_at) in &lines {
            if let Some(line) = state.agents.get_mut(key).and_then(|agent| agent.line.as_mut()) {
                let ended_at = ended_at.unwrap_or(now);
                line.count_awake(ended_at);
                line.closed_at = Some(ended_at);
            }
            state.line_ended(*key, *generation, now);
        }
        Ok(u64::try_from(lines.len()).unwrap_or(u64::MAX))
    }
}
