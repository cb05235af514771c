//! Claims of due jobs and fires.

use std::time::Duration;

use nightdesk_schedule::decide::{claim_instant, claim_try};
use nightdesk_schedule::{ClaimBatch, FireState};
use nightdesk_types::limits::NOTICES_KEPT_MAX;
use nightdesk_types::{FireId, Timestamp};
use nightdesk_wake::{NoticeKind, NoticeSubject, OwnerNotice};

use super::super::{AgentKey, State, push_bounded};
use super::rows::{FireRow, JobKey};

/// A row that is due.
pub(super) enum Due {
    Job(JobKey),
    Fire(FireId),
}

impl State {
    /// Returns the rows that are due, the longest due first.
    pub(super) fn due_fires(&self, now: Timestamp) -> Vec<Due> {
        let fires = self.fires.iter();
        let fires = fires.filter_map(|(id, row)| Some((row.record.next_at?, Due::Fire(*id))));
        let jobs = self.jobs.iter();
        let jobs = jobs.filter_map(|(key, row)| Some((row.status.next_at?, Due::Job(key.clone()))));
        let mut due: Vec<_> = fires.chain(jobs).filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, due)| due).collect()
    }

    /// Returns the time until the next row is due.
    pub(super) fn next_in(&self, now: Timestamp) -> Option<Duration> {
        let fires = self.fires.values().filter_map(|row| row.record.next_at);
        let next = fires.chain(self.jobs.values().filter_map(|row| row.status.next_at)).min()?;
        Some(Duration::try_from(next.duration_since(now)).unwrap_or_default())
    }

    /// Claims a row that is due.
    pub(super) fn claim_due(&mut self, due: &Due, claims: &mut ClaimBatch, now: Timestamp) {
        let claimed = match due {
            Due::Job(key) => self.claim_job(key, now),
            Due::Fire(id) => self.claim_fire(*id, now),
        };
        let Some(row) = claimed.and_then(|id| self.fires.get(&id)) else { return };
        let Some(job) = self.jobs.get(&row.key()) else { return };
        let (scope, fire) = (row.scope, row.record.fire.clone());
        claims.add(scope, &job.arm.to, fire.clone());
        if fire.state == FireState::Missed {
            self.notice_missed(fire.id, now);
        }
    }

    fn claim_job(&mut self, key: &JobKey, now: Timestamp) -> Option<FireId> {
        let running_since = self.running_since(key);
        let id = FireId::from_uuid(self.mint());
        let ((scope, agent), _) = *key;
        let job = self.jobs.get_mut(key)?;
        let step = claim_instant(job, running_since, now)?;
        let mut record = job.begin_fire(agent, id, now);
        record.set_status(step.fire);
        job.status = step.job;
        self.fires.insert(id, FireRow { scope, record });
        Some(id)
    }

    fn claim_fire(&mut self, id: FireId, now: Timestamp) -> Option<FireId> {
        let key = self.fires.get(&id)?.key();
        let running_since = self.running_since(&key);
        let (row, job) = (self.fires.get_mut(&id)?, self.jobs.get_mut(&key)?);
        let step = claim_try(&row.record, job, running_since, now)?;
        row.record.set_status(step.fire);
        job.status = step.job;
        Some(id)
    }

    pub(super) fn notice_missed(&mut self, id: FireId, now: Timestamp) {
        let Some(row) = self.fires.get(&id) else { return };
        let fire = &row.record.fire;
        let (whose, about) = ((row.scope, fire.agent), (fire.tries, fire.missed_notice()));
        self.tell_of_job(whose, NoticeKind::FireMissed, about, now);
    }

    pub(super) fn tell_of_job(
        &mut self,
        (scope, agent): AgentKey,
        kind: NoticeKind,
        (calls, words): (u32, String),
        now: Timestamp,
    ) {
        let (about, outcome) = (NoticeSubject::Agent(agent), Some(words));
        let notice = OwnerNotice { at: now, about, kind, calls, outcome };
        push_bounded(self.notices.entry(scope).or_default(), notice, NOTICES_KEPT_MAX);
    }
}
