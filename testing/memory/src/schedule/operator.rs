//! The operator's view of jobs and fires.

use std::cmp::Reverse;

use async_trait::async_trait;
use nightdesk_schedule::{Fire, JobAdmin, JobId, ScheduledJob};
use nightdesk_types::limits::{FIRES_KEPT, FIRES_PAGE_MAX, LIST_ROWS_MAX};
use nightdesk_types::{AgentId, FireId, StoreError, TenantScope, Timestamp};

use super::super::{Memory, State};
use super::rows::JobKey;

impl State {
    fn shown(&self, key: &JobKey) -> Option<ScheduledJob> {
        let row = self.jobs.get(key)?;
        let its = self.fires.values().filter(|fire| fire.is_of(key));
        let armed = row.to_active_job();
        Some(ScheduledJob {
            id: armed.id,
            agent: key.0.1,
            agent_name: self.agents.get(&key.0)?.name.clone(),
            arming: armed.arming,
            arm: armed.arm,
            next_at: row.status.next_at,
            flagged_at: row.status.flagged_at,
            last: its
                .map(|row| &row.record.fire)
                .max_by_key(|fire| (fire.began_at, fire.id))
                .cloned(),
        })
    }

    /// Removes fires and unused jobs that ended longer ago than the retention time.
    pub(in super::super) fn forget_fires(&mut self, now: Timestamp) {
        let is_old = |at: Timestamp| at.checked_add(FIRES_KEPT).is_ok_and(|until| until < now);
        self.fires.retain(|_, row| !row.record.fire.ended_at.is_some_and(is_old));
        let fires = &self.fires;
        self.jobs.retain(|key, row| {
            let status = row.status;
            let is_unused = status.next_at.is_none() && status.watch_at.is_none();
            let idle = is_unused && is_old(status.changed_at);
            !idle || fires.values().any(|fire| fire.is_of(key))
        });
    }
}

#[async_trait]
impl JobAdmin for Memory {
    async fn list_jobs(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: Option<(AgentId, JobId)>,
    ) -> Result<Vec<ScheduledJob>, StoreError> {
        let state = self.lock();
        let most = usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX);
        let its = state.jobs.keys().filter(|((tenant, its), job)| {
            let is_later = after.as_ref().is_none_or(|after| (*its, job) > (after.0, &after.1));
            *tenant == scope && agent.is_none_or(|agent| agent == *its) && is_later
        });
        Ok(its.filter_map(|key| state.shown(key)).take(most).collect())
    }

    async fn find_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Option<ScheduledJob>, StoreError> {
        Ok(self.lock().shown(&((scope, agent), job.clone())))
    }

    async fn list_fires(
        &self,
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>,
    ) -> Result<Vec<Fire>, StoreError> {
        let state = self.lock();
        let of_it = |fire: &Fire| {
            of.as_ref().is_none_or(|(agent, job)| {
                fire.agent == *agent && job.as_ref().is_none_or(|job| fire.job == *job)
            })
        };
        let its = state.fires.values().filter(|row| row.scope == scope).map(|row| &row.record.fire);
        let place = |fire: &Fire| (fire.began_at, fire.id);
        let from = before.map(|id| state.fires.get(&id).map(|row| place(&row.record.fire)));
        let earlier = |fire: &&Fire| from.is_none_or(|from| Some(place(fire)) < from);
        let mut its: Vec<Fire> = its.filter(|fire| of_it(fire)).filter(earlier).cloned().collect();
        its.sort_by_key(|fire| Reverse(place(fire)));
        its.truncate(FIRES_PAGE_MAX);
        Ok(its)
    }
}
