//! Implements the records that pages read.

mod reach;
mod stuck;
mod usage;

use std::collections::{BTreeSet, VecDeque};

use async_trait::async_trait;
use nightdesk_line::ClosingSide;
use nightdesk_office::{
    AgentGlance, AgentGlances, AgentSelection, BoundedCount, LineGlance, LoggedWake,
    ReceivedLetter, TenantGlance,
};
use nightdesk_types::limits::{
    AGENT_COUNTED_MAX, LIST_ROWS_MAX, RECEIVED_LETTERS_MAX, SUMMARY_COUNTED_MAX, WAKES_LOGGED_MAX,
};
use nightdesk_types::{AgentId, StoreError, TenantScope, Timestamp};
use nightdesk_wake::{WakePhase, WakeRow};

use super::agent::Agent;
use super::{AgentKey, Memory, State, push_bounded};

/// The wakes of an agent that ended.
#[derive(Default)]
pub(super) struct WakeLog {
    /// Their number.
    count: i64,
    /// The newest ones, oldest first.
    newest: VecDeque<LoggedWake>,
}

const fn is_needed(row: &WakeRow) -> bool {
    matches!(row.phase, WakePhase::Due | WakePhase::Held | WakePhase::Unreachable)
}

impl State {
    /// Logs an agent's wake if it ended with the last change.
    pub(super) fn log_wake(&mut self, key: AgentKey, before: Option<WakePhase>, now: Timestamp) {
        let Some(row) = self.wakes.get(&key) else { return };
        let has_ended = matches!(row.phase, WakePhase::Woken | WakePhase::Unreachable);
        if !has_ended || before.is_none_or(|before| before == row.phase) {
            return;
        }
        let log = self.wake_logs.entry(key).or_default();
        log.count += 1;
        let wake = LoggedWake {
            number: log.count,
            since: row.since,
            calls: row.calls,
            called_at: row.called_at.filter(|at| *at >= row.since),
            outcome: row.outcome.clone(),
            woken_at: row.woken_at.filter(|_| row.phase == WakePhase::Woken),
            ended_at: now,
        };
        push_bounded(&mut log.newest, wake, WAKES_LOGGED_MAX);
    }

    /// Returns the agents of a tenant.
    fn agents_of(&self, scope: TenantScope) -> impl Iterator<Item = (&AgentKey, &Agent)> {
        self.agents.iter().filter(move |((tenant, _), _)| *tenant == scope)
    }

    fn is_given_up(&self, key: &AgentKey) -> bool {
        self.wakes.get(key).is_some_and(|row| row.phase == WakePhase::Unreachable)
    }

    fn has_line(&self, key: &AgentKey) -> bool {
        let line = self.agents.get(key).and_then(|agent| agent.line.as_ref());
        line.is_some_and(|line| line.closed_at.is_none())
    }

    /// Returns the agents of a tenant that are needed, the longest needed first.
    fn needed(&self, scope: TenantScope) -> Vec<AgentKey> {
        let of_tenant = self.wakes.iter().filter(|((tenant, _), _)| *tenant == scope);
        let mut needed: Vec<_> = of_tenant.filter(|(_, row)| is_needed(row)).collect();
        needed.sort_by_key(|(_, row)| row.since);
        needed.into_iter().map(|(key, _)| *key).collect()
    }

    fn awake(&self, scope: TenantScope) -> Vec<AgentKey> {
        let keys = self.agents_of(scope).map(|(key, _)| *key);
        keys.filter(|key| self.has_line(key)).collect()
    }

    fn glance_at_tenant(&self, scope: TenantScope) -> TenantGlance {
        let needed = self.needed(scope);
        let count_needed = |is_given_up: bool, has_line: bool| {
            let wanted = needed.iter().filter(|key| {
                self.is_given_up(key) == is_given_up && self.has_line(key) == has_line
            });
            bounded(wanted.count())
        };
        let awake = self.awake(scope);
        let looked_at: BTreeSet<&AgentKey> = needed.iter().chain(&awake).collect();
        let waiting = looked_at.into_iter().filter_map(|key| self.agents.get(key));
        let waiting = waiting.map(|agent| agent.glance(usize::MAX));
        let (counts, oldest): (Vec<i64>, Vec<Option<Timestamp>>) = waiting.unzip();
        let parked = self.agents_of(scope).map(|(_, agent)| agent.stuck().count());
        TenantGlance {
            agents: bounded(self.agents_of(scope).count()),
            awake: bounded(awake.len()),
            waking: count_needed(false, false),
            deaf: count_needed(false, true),
            unreachable: count_needed(true, false),
            waiting: bounded(usize::try_from(counts.iter().sum::<i64>()).unwrap_or(usize::MAX)),
            oldest_at: oldest.into_iter().flatten().min(),
            parked: bounded(parked.sum()),
        }
    }

    fn select(&self, scope: TenantScope, which: AgentSelection<'_>) -> Vec<AgentKey> {
        match which {
            AgentSelection::Named { prefix, after } => {
                let named = self.agents_of(scope).map(|(key, agent)| (agent.name.as_str(), *key));
                let mut named: Vec<_> =
                    named.filter(|(name, _)| *name > after && name.starts_with(prefix)).collect();
                named.sort_unstable();
                named.into_iter().map(|(_, key)| key).collect()
            }
            AgentSelection::Needed => self.needed(scope),
            AgentSelection::Awake => self.awake(scope),
            AgentSelection::Of(agent) => vec![(scope, agent)],
        }
    }

    fn newest_line(&self, key: &AgentKey) -> Option<LineGlance> {
        let line = self.agents.get(key)?.line.as_ref()?;
        Some(LineGlance {
            generation: line.generation,
            gateway: self.gateways.get(&line.gateway)?.called().to_owned(),
            transport: line.transport,
            node: line.node.name.clone(),
            opened_at: line.opened_at,
            closed_at: line.closed_at,
            is_open: self.is_open(line),
            parting: line.parting.map(|side| ClosingSide::slug(side).to_owned()),
        })
    }
}

fn bounded(count: usize) -> BoundedCount {
    BoundedCount::new(i64::try_from(count).unwrap_or(i64::MAX), SUMMARY_COUNTED_MAX)
}

fn rows_max(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(0)
}

#[async_trait]
impl AgentGlances for Memory {
    async fn glance_at_tenant(&self, scope: TenantScope) -> Result<TenantGlance, StoreError> {
        Ok(self.lock().glance_at_tenant(scope))
    }

    async fn glance_at_agents(
        &self,
        scope: TenantScope,
        which: AgentSelection<'_>,
    ) -> Result<Vec<AgentGlance>, StoreError> {
        let keys = self.lock().select(scope, which);
        let mut glances = Vec::new();
        for key in keys.into_iter().take(rows_max(LIST_ROWS_MAX)) {
            glances.extend(self.glance(key).await?);
        }
        Ok(glances)
    }

    async fn newest_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<LineGlance>, StoreError> {
        Ok(self.lock().newest_line(&(scope, agent)))
    }

    async fn logged_wakes(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<LoggedWake>, StoreError> {
        let state = self.lock();
        let newest = state.wake_logs.get(&(scope, agent)).map(|log| &log.newest);
        Ok(newest.into_iter().flatten().rev().cloned().collect())
    }

    async fn received_letters(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ReceivedLetter>, StoreError> {
        let (now, state) = (self.now(), self.lock());
        let mut received = state.letters_to((scope, agent), now);
        for letter in &mut received {
            let sender = (scope, letter.from);
            let is_own = letter.from_tenant == scope.tenant();
            let found = state.agents.get(&sender).filter(|_| is_own);
            letter.from_name = found.map(|agent| agent.name.clone());
        }
        received.sort_by_key(|letter| (std::cmp::Reverse(letter.put_at), letter.id));
        received.truncate(rows_max(RECEIVED_LETTERS_MAX));
        Ok(received)
    }
}

impl Memory {
    async fn glance(&self, key: AgentKey) -> Result<Option<AgentGlance>, StoreError> {
        let found = nightdesk_wake::WakeAdmin::status(self, key.0, Some(key.1), "").await?.pop();
        let Some(mut status) = found else { return Ok(None) };
        let state = self.lock();
        let Some(agent) = state.agents.get(&key) else { return Ok(None) };
        let most = rows_max(AGENT_COUNTED_MAX) + 1;
        let (waiting, oldest_at) = agent.glance(most);
        let parked = i64::try_from(agent.stuck().take(most).count()).unwrap_or(i64::MAX);
        let waiting = BoundedCount::new(waiting, AGENT_COUNTED_MAX);
        status.waiting = waiting.count;
        let parked = BoundedCount::new(parked, AGENT_COUNTED_MAX);
        Ok(Some(AgentGlance { status, waiting, oldest_at, parked }))
    }
}
