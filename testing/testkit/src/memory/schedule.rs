//! The store of jobs and fires.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::TestEntry;
use nightdesk_register::audit::Kind;
use nightdesk_schedule::{
    Arm, Armed, Cancelled, Cause, Claimed, Claims, End, FireEntry, FireState, JobId, Report, Store,
    Unarmed,
};
use nightdesk_types::limits::{FIRE_CALL_HELD, FIRES_SWEPT_MAX};
use nightdesk_types::{
    Actor, AgentId, FireId, Node, Quota, Seq, StoreError, TenantScope, Timestamp,
};
use nightdesk_wake::NoticeKind;
use serde_json::json;

use super::{AgentKey, Memory, State};

mod judge;
mod operator;
mod rows;

pub(super) use rows::{FireRow, JobKey, JobRow};

use rows::after;

impl State {
    fn keep_armed(&self, (scope, agent): AgentKey) -> Result<(), StoreError> {
        let armed =
            || self.jobs.iter().filter(|(_, row)| row.next_at.is_some()).map(|(key, _)| key);
        let of_agent = armed().filter(|(key, _)| *key == (scope, agent)).count();
        self.keep_quota("arm a job", scope, Quota::AgentJobs, of_agent)?;
        let of_tenant = armed().filter(|((tenant, _), _)| *tenant == scope).count();
        self.keep_quota("arm a job", scope, Quota::ArmedJobs, of_tenant)
    }

    fn fires_of<'s>(&'s mut self, key: &'s JobKey) -> impl Iterator<Item = &'s mut FireRow> {
        self.fires.values_mut().filter(|row| row.is_of(key) && row.next_at.is_some())
    }

    /// Ends what waits of a job. Answers whether anything did.
    fn end_waiting(&mut self, key: &JobKey, cause: Cause, now: Timestamp) -> bool {
        let mut ended = false;
        for row in self.fires_of(key).filter(|row| !row.is_under_way(now)) {
            row.end(cause.state(), Some(cause), now);
            ended = true;
        }
        ended
    }

    fn arm(&mut self, key: &JobKey, arm: &Arm, now: Timestamp) -> Result<Armed, StoreError> {
        if !self.agents.contains_key(&key.0) {
            return Err(StoreError::broken("arm a job", "the tenant has no such agent"));
        }
        if let Some(row) = self.jobs.get(key).filter(|row| self.is_armed_so(key, row, arm)) {
            return Ok(row.armed());
        }
        if self.jobs.get(key).is_none_or(|row| row.next_at.is_none()) {
            self.keep_armed(key.0)?;
        }
        self.end_waiting(key, Cause::Superseded, now);
        if !self.jobs.contains_key(key) {
            let id = self.mint();
            self.jobs.insert(key.clone(), JobRow::new(id, arm, now));
        }
        let unknown = || StoreError::broken("arm a job", "the job is gone");
        let row = self.jobs.get_mut(key).ok_or_else(unknown)?;
        row.arm(arm, now);
        Ok(row.armed())
    }

    /// Whether a job is armed with just this, or the agent is being told of this very instant.
    fn is_armed_so(&self, key: &JobKey, row: &JobRow, arm: &Arm) -> bool {
        if row.next_at.is_some() {
            return row.arm == *arm;
        }
        let mut open = self.fires.values().filter(|fire| fire.is_of(key) && fire.next_at.is_some());
        row.arm.fire_at.as_str() == arm.fire_at.as_str()
            && !row.cancelled
            && open.any(|fire| fire.fire.arming == row.arming)
    }

    pub(super) fn cancel_job(&mut self, key: &JobKey, now: Timestamp) -> Cancelled {
        if !self.jobs.contains_key(key) {
            return Cancelled::Unknown;
        }
        let ended = self.end_waiting(key, Cause::Cancelled, now);
        let under_way = self.fires_of(key).next().is_some();
        let was_armed = self.jobs.get_mut(key).is_some_and(|row| row.cancel(now));
        match (under_way, was_armed || ended) {
            (true, _) => Cancelled::UnderWay,
            (false, true) => Cancelled::Cancelled,
            (false, false) => Cancelled::Unknown,
        }
    }

    /// Nobody is told of an agent's jobs any more.
    pub(super) fn cancel_jobs(&mut self, of: AgentKey, now: Timestamp) {
        let keys: Vec<_> = self.jobs.keys().filter(|(key, _)| *key == of).cloned().collect();
        for key in keys {
            self.cancel_job(&key, now);
        }
    }

    /// Ends a fire that is open, with what follows for its job.
    fn end_fire(&mut self, id: FireId, end: End, outcome: &str, now: Timestamp) -> bool {
        let Some(row) = self.fires.get_mut(&id).filter(|row| row.fire.state == FireState::Open)
        else {
            return false;
        };
        let cause = match end {
            End::Taken => None,
            End::Missed(cause) => Some(cause),
        };
        row.fire.outcome = Some(outcome.to_owned());
        row.end(cause.map_or(row.taken(now), Cause::state), cause, now);
        let (key, arming, state) = (row.key(), row.fire.arming, row.fire.state);
        if let Some(job) = self.jobs.get_mut(&key) {
            job.fired_before |= cause.is_none();
            // Its agent armed it again while we still heard that it took this one.
            job.recurs |= cause.is_none() && job.arming > arming;
            if job.arming == arming && !job.cancelled {
                job.watch(now);
            }
        }
        if state == FireState::Missed {
            self.tell_missed(id, now);
        }
        true
    }

    fn newest_try(&mut self, claimed: &Claimed) -> Option<&mut FireRow> {
        let row = self.fires.get_mut(&claimed.fire)?;
        let is_it = row.scope == claimed.scope
            && row.fire.state == FireState::Open
            && row.fire.tries == claimed.tries;
        is_it.then_some(row)
    }
}

impl Memory {
    /// Tells of what an operator did. What an agent does has rows of its own.
    fn tell_by_hand(&self, state: &mut State, whose: AgentKey, kind: Kind, job: &JobId) {
        let (scope, agent) = whose;
        if scope.actor() == Actor::Operator {
            self.tell(state, scope, kind, &json!({ "agent_id": agent, "job": job.as_str() }));
        }
    }
}

#[async_trait]
impl Store for Memory {
    async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &Arm,
    ) -> Result<Armed, StoreError> {
        let mut state = self.lock();
        let armed = state.arm(&((scope, agent), arm.job.clone()), arm, self.now())?;
        self.tell_by_hand(&mut state, (scope, agent), Kind::JobArmed, &arm.job);
        Ok(armed)
    }

    async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Cancelled, StoreError> {
        let mut state = self.lock();
        let cancelled = state.cancel_job(&((scope, agent), job.clone()), self.now());
        if cancelled == Cancelled::Cancelled {
            self.tell_by_hand(&mut state, (scope, agent), Kind::JobCancelled, job);
        }
        Ok(cancelled)
    }

    async fn armed(&self, scope: TenantScope, agent: AgentId) -> Result<Vec<Armed>, StoreError> {
        let state = self.lock();
        let told = |key: &JobKey, row: &JobRow| {
            let mut open = state.fires.values().filter(|fire| fire.next_at.is_some());
            !row.cancelled && open.any(|fire| fire.is_of(key) && fire.fire.arming == row.arming)
        };
        let its = state.jobs.iter().filter(|((key, _), _)| *key == (scope, agent));
        let armed = its.filter(|(key, row)| row.next_at.is_some() || told(key, row));
        Ok(armed.map(|(_, row)| row.armed()).collect())
    }

    async fn claim(&self, node: &Node, at_most: usize) -> Result<Claims, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        if !state.lives(node, now) {
            return Ok(Claims::default());
        }
        let mut claims = Claims::default();
        for due in state.due_fires(now).into_iter().take(at_most) {
            let id = state.look_at(&due, now);
            state.told_or_passed(id, &mut claims, now);
        }
        claims.next_in = state.next_in(now);
        Ok(claims)
    }

    async fn end(&self, claimed: &Claimed, end: End, outcome: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let counts = match end {
            End::Taken => {
                state.fires.get(&claimed.fire).is_some_and(|row| row.scope == claimed.scope)
            }
            End::Missed(_) => state.newest_try(claimed).is_some(),
        };
        Ok(counts && state.end_fire(claimed.fire, end, outcome, self.now()))
    }

    async fn put(
        &self,
        claimed: &Claimed,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError> {
        if !self.end(claimed, End::Taken, outcome).await? {
            return Ok(None);
        }
        let FireEntry { bot, chat_id, body } = entry.clone();
        let entry = TestEntry { bot, chat_id, body };
        Ok(self.lock().put_by_hand((claimed.scope, claimed.agent), entry, self.now()))
    }

    async fn again(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError> {
        let due_at = after(self.now(), wait);
        let mut state = self.lock();
        let Some(row) = state.newest_try(claimed).filter(|row| row.calling) else {
            return Ok(false);
        };
        (row.calling, row.next_at) = (false, Some(due_at));
        row.fire.outcome = Some(outcome.to_owned());
        row.fire.tries -= u32::from(!counts);
        Ok(true)
    }

    async fn report(
        &self,
        (scope, agent): (TenantScope, AgentId),
        fire: FireId,
        report: &Report,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let key = state.fires.get(&fire).map(FireRow::key);
        let Some(key) = key.filter(|key| key.0 == (scope, agent)) else {
            return Ok(false);
        };
        state.end_fire(fire, End::Taken, "reported", now);
        let silent = |row: &&mut FireRow| row.was_taken() && row.fire.run.is_none();
        let Some(row) = state.fires.get_mut(&fire).filter(silent) else {
            return Ok(false);
        };
        row.fire.run = Some((now, report.ok, report.note.clone()));
        for held in state.fires_of(&key).filter(|row| row.fire.state == FireState::Held) {
            held.next_at = Some(now);
        }
        Ok(true)
    }

    async fn flag_unarmed(&self) -> Result<Vec<Unarmed>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let late = |row: &JobRow| row.watch_at.is_some_and(|at| at <= now);
        let late: Vec<_> =
            state.jobs.iter().filter(|(_, row)| late(row)).map(|(key, _)| key.clone()).collect();
        let most = usize::try_from(FIRES_SWEPT_MAX).unwrap_or(0);
        let flagged = late.into_iter().take(most).map(|key| {
            if let Some(row) = state.jobs.get_mut(&key) {
                (row.watch_at, row.flagged_at) = (None, Some(now));
            }
            let ((scope, agent), job) = key;
            state.tell_of_job((scope, agent), NoticeKind::Unarmed, (0, job.to_string()), now);
            Unarmed { scope, agent, job }
        });
        Ok(flagged.collect())
    }
}

/// When a call that begins now must be over.
fn held_until(now: Timestamp) -> Timestamp {
    after(now, FIRE_CALL_HELD)
}
