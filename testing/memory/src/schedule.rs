//! The store of jobs and fires.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LocalEntry;
use nightdesk_register::audit::Kind;
use nightdesk_schedule::decide::{
    FireStep, JobRecord, OpenFire, REPORTED, ReportStep, Retry, arm_job, cancel_job, end_fire,
    release_held, report_run, retry_fire,
};
use nightdesk_schedule::{
    ActiveJob, ArmRequest, CancelOutcome, ClaimBatch, FireClaim, FireEnd, FireEnding, FireEntry,
    FireState, JobId, RunReport, Store, UnarmedJob,
};
use nightdesk_types::limits::FIRES_SWEPT_MAX;
use nightdesk_types::{
    AgentId, FireId, Node, Quota, ScheduleId, Seq, StoreError, TenantScope, Timestamp,
};
use nightdesk_wake::NoticeKind;
use serde_json::json;

use super::{AgentKey, Memory, State};

mod claim;
mod operator;
mod rows;

pub(super) use rows::{FireRow, JobKey};

impl State {
    fn keep_armed(&self, (scope, agent): AgentKey) -> Result<(), StoreError> {
        let armed =
            || self.jobs.iter().filter(|(_, row)| row.status.next_at.is_some()).map(|(key, _)| key);
        let of_agent = armed().filter(|(key, _)| *key == (scope, agent)).count();
        self.keep_quota("arm a job", scope, Quota::AgentJobs, of_agent)?;
        let of_tenant = armed().filter(|((tenant, _), _)| *tenant == scope).count();
        self.keep_quota("arm a job", scope, Quota::ArmedJobs, of_tenant)
    }

    fn arm(
        &mut self,
        key: &JobKey,
        arm: &ArmRequest,
        now: Timestamp,
    ) -> Result<ActiveJob, StoreError> {
        if !self.agents.contains_key(&key.0) {
            return Err(StoreError::broken("arm a job", "the tenant has no such agent"));
        }
        let stored = self.jobs.get(key).cloned();
        let job = stored.unwrap_or_else(|| {
            JobRecord::new(ScheduleId::from_uuid(self.mint()), arm.clone(), now)
        });
        let Some(plan) = arm_job(&job, &self.open_fires(key), arm, now) else {
            return Ok(job.to_active_job());
        };
        if plan.takes_quota {
            self.keep_armed(key.0)?;
        }
        self.write_fires(&plan.superseded);
        let armed = plan.job.to_active_job();
        self.jobs.insert(key.clone(), plan.job);
        Ok(armed)
    }

    pub(super) fn cancel_job(&mut self, key: &JobKey, now: Timestamp) -> CancelOutcome {
        let open = self.open_fires(key);
        let Some(job) = self.jobs.get_mut(key) else { return CancelOutcome::Unknown };
        let plan = cancel_job(job, &open, now);
        job.status = plan.job;
        self.write_fires(&plan.ended);
        plan.cancelled
    }

    /// Cancels the jobs of an agent.
    pub(super) fn cancel_jobs(&mut self, of: AgentKey, now: Timestamp) {
        let keys: Vec<_> = self.jobs.keys().filter(|(key, _)| *key == of).cloned().collect();
        for key in keys {
            self.cancel_job(&key, now);
        }
    }

    /// Ends a fire. Returns true if the rules permit it.
    fn end_fire(&mut self, ending: &FireEnding, now: Timestamp) -> bool {
        let FireEnding { claimed, end, outcome } = ending;
        let Some(fire) = self.fire_of(claimed.scope, claimed.fire) else { return false };
        let Some(job) = self.jobs.get(&((claimed.scope, fire.fire.agent), fire.fire.job.clone()))
        else {
            return false;
        };
        let Some(step) = end_fire(fire, job, claimed.tries, *end, now) else { return false };
        self.write_end(claimed.fire, step, outcome);
        if step.fire.state == FireState::Missed {
            self.notice_missed(claimed.fire, now);
        }
        true
    }

    fn write_end(&mut self, id: FireId, step: FireStep, outcome: &str) {
        let Some(row) = self.fires.get_mut(&id) else { return };
        row.record.set_status(step.fire);
        row.record.fire.outcome = Some(outcome.to_owned());
        let key = row.key();
        if let Some(job) = self.jobs.get_mut(&key) {
            job.status = step.job;
        }
    }

    /// Records the end of a run. Returns true if the rules permit it.
    fn report(&mut self, key: &JobKey, id: FireId, report: &RunReport, now: Timestamp) -> bool {
        let (Some(row), Some(job)) = (self.fires.get(&id), self.jobs.get(key)) else {
            return false;
        };
        match report_run(&row.record, job, now) {
            ReportStep::Ignored => return false,
            ReportStep::RunEnded => {}
            ReportStep::TakenAndRunEnded(step) => self.write_end(id, step, REPORTED),
        }
        if let Some(row) = self.fires.get_mut(&id) {
            row.record.fire.run = Some((now, report.ok, report.note.clone()));
        }
        let open = self.open_fires(key).into_iter();
        let released = open
            .filter_map(|fire| Some(OpenFire { status: release_held(fire.status, now)?, ..fire }));
        self.write_fires(&released.collect::<Vec<_>>());
        true
    }
}

impl Memory {
    /// Writes an operator's action to the audit log. An agent's action is already visible in the job's own rows.
    fn tell_by_hand(&self, state: &mut State, whose: AgentKey, kind: Kind, job: &JobId) {
        let (scope, agent) = whose;
        if scope.actor().is_user() {
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
        arm: &ArmRequest,
    ) -> Result<ActiveJob, StoreError> {
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
    ) -> Result<CancelOutcome, StoreError> {
        let mut state = self.lock();
        let cancelled = state.cancel_job(&((scope, agent), job.clone()), self.now());
        if cancelled == CancelOutcome::Cancelled {
            self.tell_by_hand(&mut state, (scope, agent), Kind::JobCancelled, job);
        }
        Ok(cancelled)
    }

    async fn armed_jobs(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ActiveJob>, StoreError> {
        let state = self.lock();
        let told = |key: &JobKey, row: &JobRecord| {
            let open = state.open_fires(key);
            !row.status.is_cancelled && open.iter().any(|fire| fire.arming == row.status.arming)
        };
        let its = state.jobs.iter().filter(|((key, _), _)| *key == (scope, agent));
        let armed = its.filter(|(key, row)| row.status.next_at.is_some() || told(key, row));
        Ok(armed.map(|(_, row)| row.to_active_job()).collect())
    }

    async fn claim(&self, node: &Node, at_most: usize) -> Result<ClaimBatch, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        if !state.lives(node) {
            return Ok(ClaimBatch::default());
        }
        let mut claims = ClaimBatch::default();
        for due in state.due_fires(now).into_iter().take(at_most) {
            state.claim_due(&due, &mut claims, now);
        }
        claims.next_in = state.next_in(now);
        Ok(claims)
    }

    async fn end(&self, endings: &[FireEnding]) -> Result<Vec<bool>, StoreError> {
        let (mut state, now) = (self.lock(), self.now());
        Ok(endings.iter().map(|ending| state.end_fire(ending, now)).collect())
    }

    async fn put(
        &self,
        claimed: &FireClaim,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError> {
        let (mut state, now) = (self.lock(), self.now());
        let (claimed, outcome) = (claimed.clone(), outcome.to_owned());
        let owner = (claimed.scope, claimed.agent);
        if !state.end_fire(&FireEnding { claimed, end: FireEnd::Taken, outcome }, now) {
            return Ok(None);
        }
        let FireEntry { bot, chat_id, body } = entry.clone();
        let entry = LocalEntry { bot, chat_id, body };
        Ok(state.put_by_hand(owner, entry, now))
    }

    async fn record_retry(
        &self,
        claimed: &FireClaim,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let retry = Retry { attempt: claimed.tries, wait, counts };
        let fire = state.fire_of(claimed.scope, claimed.fire);
        let Some(status) = fire.and_then(|fire| retry_fire(fire, retry, self.now())) else {
            return Ok(false);
        };
        if let Some(row) = state.fires.get_mut(&claimed.fire) {
            row.record.set_status(status);
            row.record.fire.outcome = Some(outcome.to_owned());
        }
        Ok(true)
    }

    async fn report(
        &self,
        scope: TenantScope,
        agent: AgentId,
        fire: FireId,
        report: &RunReport,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let key = state.fires.get(&fire).map(FireRow::key);
        let Some(key) = key.filter(|key| key.0 == (scope, agent)) else {
            return Ok(false);
        };
        Ok(state.report(&key, fire, report, self.now()))
    }

    async fn flag_unarmed(&self) -> Result<Vec<UnarmedJob>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let late = |row: &JobRecord| row.status.watch_at.is_some_and(|at| at <= now);
        let late: Vec<_> =
            state.jobs.iter().filter(|(_, row)| late(row)).map(|(key, _)| key.clone()).collect();
        let most = usize::try_from(FIRES_SWEPT_MAX).unwrap_or(0);
        let flagged = late.into_iter().take(most).map(|key| {
            if let Some(row) = state.jobs.get_mut(&key) {
                (row.status.watch_at, row.status.flagged_at) = (None, Some(now));
            }
            let ((scope, agent), job) = key;
            state.tell_of_job((scope, agent), NoticeKind::Unarmed, (0, job.to_string()), now);
            UnarmedJob { scope, agent, job }
        });
        Ok(flagged.collect())
    }
}
