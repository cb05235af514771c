//! The rows of jobs and fires.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use nightdesk_schedule::{Arm, Armed, Cause, Fire, FireState, JobId};
use nightdesk_types::limits::{FIRE_LATE, RUN_MAX, UNARMED_AFTER};
use nightdesk_types::{Arming, ScheduleId, TenantScope, Timestamp};
use uuid::Uuid;

use super::super::AgentKey;

/// Whose job, and what it is called.
pub(in super::super) type JobKey = (AgentKey, JobId);

pub(super) fn after(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// A job's row.
pub(in super::super) struct JobRow {
    pub(super) id: ScheduleId,
    pub(super) arming: Arming,
    /// As its agent asked for it.
    pub(super) arm: Arm,
    pub(super) due_at: Timestamp,
    pub(super) next_at: Option<Timestamp>,
    pub(super) recurs: bool,
    pub(super) fired_before: bool,
    pub(super) cancelled: bool,
    pub(super) watch_at: Option<Timestamp>,
    pub(super) flagged_at: Option<Timestamp>,
    pub(super) changed_at: Timestamp,
}

impl JobRow {
    pub(super) fn new(id: Uuid, arm: &Arm, now: Timestamp) -> Self {
        Self {
            id: ScheduleId::from_uuid(id),
            arming: Arming::default(),
            arm: arm.clone(),
            due_at: now,
            next_at: None,
            recurs: false,
            fired_before: false,
            cancelled: false,
            watch_at: None,
            flagged_at: None,
            changed_at: now,
        }
    }

    pub(super) fn arm(&mut self, arm: &Arm, now: Timestamp) {
        self.arming = self.arming.next();
        self.arm = arm.clone();
        self.due_at = after(arm.fire_at.instant(), self.put_off(arm.policies.jitter));
        self.next_at = Some(self.due_at.max(now));
        self.recurs |= self.fired_before;
        (self.cancelled, self.watch_at, self.flagged_at) = (false, None, None);
        self.changed_at = now;
    }

    /// What is added to an instant: the same for every look at this arming.
    fn put_off(&self, jitter: Duration) -> Duration {
        let mut hasher = DefaultHasher::new();
        (self.id, self.arming).hash(&mut hasher);
        let jitter = u64::try_from(jitter.as_millis()).unwrap_or(0);
        Duration::from_millis(hasher.finish() % (jitter + 1))
    }

    /// Answers whether it was armed.
    pub(super) const fn cancel(&mut self, now: Timestamp) -> bool {
        let was_armed = self.next_at.is_some();
        (self.next_at, self.watch_at, self.flagged_at) = (None, None, None);
        (self.cancelled, self.changed_at) = (true, now);
        was_armed
    }

    /// If it should be armed again and is not, somebody looks whether it is in a while.
    pub(super) fn watch(&mut self, now: Timestamp) {
        if self.next_at.is_none() && (self.arm.recurring || self.recurs) {
            self.watch_at = Some(after(now, UNARMED_AFTER));
        }
    }

    pub(super) fn armed(&self) -> Armed {
        let recurring = self.arm.recurring || self.recurs;
        Armed { id: self.id, arming: self.arming, arm: Arm { recurring, ..self.arm.clone() } }
    }
}

/// A fire's row.
pub(in super::super) struct FireRow {
    pub(super) scope: TenantScope,
    pub(super) fire: Fire,
    pub(super) due_at: Timestamp,
    pub(super) calling: bool,
    pub(super) next_at: Option<Timestamp>,
    pub(super) reports: bool,
}

impl FireRow {
    pub(super) fn key(&self) -> JobKey {
        ((self.scope, self.fire.agent), self.fire.job.clone())
    }

    pub(super) fn is_of(&self, ((scope, agent), job): &JobKey) -> bool {
        self.scope == *scope && self.fire.agent == *agent && self.fire.job == *job
    }

    pub(super) fn is_under_way(&self, now: Timestamp) -> bool {
        self.calling && self.next_at.is_some_and(|at| at > now)
    }

    pub(super) const fn was_taken(&self) -> bool {
        matches!(self.fire.state, FireState::Fired | FireState::Late)
    }

    /// Until when its run counts as under way, if it does.
    pub(super) fn runs_until(&self, now: Timestamp) -> Option<Timestamp> {
        let runs = self.reports && self.was_taken() && self.fire.run.is_none();
        let until = self.fire.ended_at.filter(|_| runs).map(|at| after(at, RUN_MAX));
        until.filter(|until| *until > now)
    }

    /// What it is when it is taken now.
    pub(super) fn taken(&self, now: Timestamp) -> FireState {
        if now > after(self.due_at, FIRE_LATE) { FireState::Late } else { FireState::Fired }
    }

    pub(super) const fn end(&mut self, state: FireState, cause: Option<Cause>, now: Timestamp) {
        (self.fire.state, self.fire.cause, self.fire.ended_at) = (state, cause, Some(now));
        (self.calling, self.next_at) = (false, None);
    }
}
