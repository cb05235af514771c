//! The rows of jobs and fires.

use nightdesk_schedule::decide::{FireRecord, OpenFire};
use nightdesk_schedule::{Fire, FireCause, FireState, JobId};
use nightdesk_types::{FireId, TenantScope, Timestamp};

use super::super::{AgentKey, State};

/// The agent of a job, and the job's name.
pub(in super::super) type JobKey = (AgentKey, JobId);

/// A fire's row.
pub(in super::super) struct FireRow {
    pub(super) scope: TenantScope,
    pub(super) record: FireRecord,
}

impl FireRow {
    pub(super) fn key(&self) -> JobKey {
        ((self.scope, self.record.fire.agent), self.record.fire.job.clone())
    }

    /// Returns true if it is of a job of this tenant.
    pub(in super::super) fn is_of_tenant(&self, scope: TenantScope) -> bool {
        self.scope == scope
    }

    /// Returns the time of the first claim.
    pub(in super::super) const fn began_at(&self) -> Timestamp {
        self.record.fire.began_at
    }

    /// Returns the end of a fire that was missed.
    pub(in super::super) fn missed_at(&self) -> Option<Timestamp> {
        self.record.fire.ended_at.filter(|_| self.record.fire.state == FireState::Missed)
    }

    /// Returns the subject of an alert about a missed fire.
    pub(in super::super) fn alert_subject(&self, agent_name: &str) -> String {
        let Fire { job, cause, .. } = &self.record.fire;
        format!("agent {agent_name}, job {job}: {}", cause.map_or("missed", FireCause::slug))
    }

    /// Returns the job.
    pub(in super::super) const fn job(&self) -> &JobId {
        &self.record.fire.job
    }

    /// Returns the agent of the job.
    pub(in super::super) const fn agent_key(&self) -> AgentKey {
        (self.scope, self.record.fire.agent)
    }

    pub(super) fn is_of(&self, ((scope, agent), job): &JobKey) -> bool {
        let fire = &self.record.fire;
        self.scope == *scope && fire.agent == *agent && fire.job == *job
    }
}

impl State {
    /// Returns the fires of a job that have not ended.
    pub(super) fn open_fires(&self, key: &JobKey) -> Vec<OpenFire> {
        let its = self.fires.values().filter(|row| row.is_of(key) && row.record.next_at.is_some());
        its.map(|row| OpenFire::from(&row.record)).collect()
    }

    /// Returns the start of the newest run of a job that has not ended.
    pub(super) fn running_since(&self, key: &JobKey) -> Option<Timestamp> {
        let its = self.fires.values().filter(|row| row.is_of(key));
        its.filter_map(|row| row.record.running_since()).max()
    }

    /// Writes the fires that a decision changed.
    pub(super) fn write_fires(&mut self, changed: &[OpenFire]) {
        for OpenFire { id, status, .. } in changed {
            if let Some(row) = self.fires.get_mut(id) {
                row.record.set_status(*status);
            }
        }
    }

    /// Returns the fire with this id if it belongs to the tenant.
    pub(super) fn fire_of(&self, scope: TenantScope, id: FireId) -> Option<&FireRecord> {
        self.fires.get(&id).filter(|row| row.scope == scope).map(|row| &row.record)
    }
}
