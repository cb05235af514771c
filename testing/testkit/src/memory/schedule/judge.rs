//! What is due, and what is done about it.

use std::time::Duration;

use nightdesk_schedule::{Cause, Claimed, Claims, Fire, FireState, Overlap};
use nightdesk_types::limits::{FIRE_DEADLINE, FIRE_LATE, NOTICES_KEPT_MAX};
use nightdesk_types::{FireId, Timestamp};
use nightdesk_wake::{About, Notice, NoticeKind};

use super::super::{AgentKey, State, push_bounded};
use super::held_until;
use super::rows::{FireRow, JobKey, JobRow, after};

/// What is due.
pub(super) enum Due {
    /// A job's instant.
    Job(JobKey),
    /// The next look at a fire.
    Fire(FireId),
}

/// What is done about it.
enum Verdict {
    /// The agent is told.
    Told,
    /// It waits for a run to end.
    Held(Timestamp),
    /// It is over.
    Passed(Cause),
}

impl State {
    /// What is due, the longest due first.
    pub(super) fn due_fires(&self, now: Timestamp) -> Vec<Due> {
        let fires = self.fires.iter().filter_map(|(id, row)| Some((row.next_at?, Due::Fire(*id))));
        let jobs =
            self.jobs.iter().filter_map(|(key, row)| Some((row.next_at?, Due::Job(key.clone()))));
        let mut due: Vec<_> = fires.chain(jobs).filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, due)| due).collect()
    }

    /// How long until something is due.
    pub(super) fn next_in(&self, now: Timestamp) -> Option<Duration> {
        let fires = self.fires.values().filter_map(|row| row.next_at);
        let next = fires.chain(self.jobs.values().filter_map(|row| row.next_at)).min()?;
        Some(Duration::try_from(next.duration_since(now)).unwrap_or_default())
    }

    /// Until when a run of a job counts as under way.
    fn runs_until(&self, key: &JobKey, now: Timestamp) -> Option<Timestamp> {
        let its = self.fires.values().filter(|row| row.is_of(key));
        its.filter_map(|row| row.runs_until(now)).max()
    }

    /// Decides what is done, and notes it. Answers which fire it is about.
    pub(super) fn look_at(&mut self, due: &Due, now: Timestamp) -> Option<FireId> {
        match due {
            Due::Job(key) => self.look_at_job(key, now),
            Due::Fire(id) => {
                let verdict = self.of_fire(*id, now)?;
                let row = self.fires.get_mut(id)?;
                row.note(&verdict, now);
                let (key, state) = (row.key(), row.fire.state);
                if state == FireState::Missed {
                    self.jobs.get_mut(&key)?.watch(now);
                }
                Some(*id)
            }
        }
    }

    fn look_at_job(&mut self, key: &JobKey, now: Timestamp) -> Option<FireId> {
        let verdict = self.of_job(key, now)?;
        let id = FireId::from_uuid(self.mint());
        let job = self.jobs.get_mut(key)?;
        (job.next_at, job.changed_at) = (None, now);
        if let Verdict::Passed(_) = verdict {
            job.watch(now);
        }
        let mut row = job.begin(key, id, now);
        row.note(&verdict, now);
        self.fires.insert(id, row);
        Some(id)
    }

    fn of_job(&self, key: &JobKey, now: Timestamp) -> Option<Verdict> {
        let job = self.jobs.get(key)?;
        let policies = job.arm.policies;
        if now > after(job.next_at?, policies.catch_up.max(FIRE_LATE)) {
            return Some(Verdict::Passed(Cause::TooLate));
        }
        let runs_until = self.runs_until(key, now).filter(|_| job.arm.reports);
        Some(match (policies.overlap, runs_until) {
            (Overlap::Skip, Some(_)) => Verdict::Passed(Cause::Overlap),
            (Overlap::BufferOne, Some(until)) => Verdict::Held(until),
            (Overlap::AllowAll, _) | (_, None) => Verdict::Told,
        })
    }

    fn of_fire(&self, id: FireId, now: Timestamp) -> Option<Verdict> {
        let row = self.fires.get(&id)?;
        let (key, fire) = (row.key(), &row.fire);
        let job = self.jobs.get(&key)?;
        let until = self.runs_until(&key, now).filter(|_| fire.state == FireState::Held);
        Some(if job.cancelled {
            Verdict::Passed(Cause::Cancelled)
        } else if job.arming > fire.arming {
            Verdict::Passed(Cause::Superseded)
        } else if now >= after(fire.began_at, FIRE_DEADLINE) {
            Verdict::Passed(Cause::GaveUp)
        } else {
            until.map_or(Verdict::Told, Verdict::Held)
        })
    }

    /// Puts a fire that was looked at where whoever claims finds it.
    pub(super) fn told_or_passed(
        &mut self,
        id: Option<FireId>,
        claims: &mut Claims,
        now: Timestamp,
    ) {
        let Some((id, row)) = id.and_then(|id| Some((id, self.fires.get(&id)?))) else {
            return;
        };
        match row.fire.state {
            FireState::Open => claims.fires.extend(self.claimed_fire(row)),
            FireState::Held => {}
            FireState::Missed => {
                claims.passed.push(row.fire.clone());
                self.tell_missed(id, now);
            }
            FireState::Skipped | FireState::Fired | FireState::Late => {
                claims.passed.push(row.fire.clone());
            }
        }
    }

    fn claimed_fire(&self, row: &FireRow) -> Option<Claimed> {
        let job = self.jobs.get(&row.key())?;
        let fire = row.fire.clone();
        Some(Claimed {
            scope: row.scope,
            agent: fire.agent,
            job: fire.job,
            fire: fire.id,
            fire_at: fire.fire_at,
            to: job.arm.to.clone(),
            tries: fire.tries,
            outcome: fire.outcome,
        })
    }

    pub(super) fn tell_missed(&mut self, id: FireId, now: Timestamp) {
        let Some(row) = self.fires.get(&id) else { return };
        let Fire { agent, job, fire_at, cause, tries, outcome, .. } = &row.fire;
        let cause = cause.map_or("", Cause::slug);
        let last = outcome.as_ref().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
        let words = format!("{job}, due {}: {cause}{last}", fire_at.as_str());
        let (whose, said) = ((row.scope, *agent), (*tries, words));
        self.tell_of_job(whose, NoticeKind::FireMissed, said, now);
    }

    pub(super) fn tell_of_job(
        &mut self,
        (scope, agent): AgentKey,
        kind: NoticeKind,
        (calls, words): (u32, String),
        now: Timestamp,
    ) {
        let (about, outcome) = (About::Agent(agent), Some(words));
        let notice = Notice { at: now, about, kind, calls, outcome };
        push_bounded(self.notices.entry(scope).or_default(), notice, NOTICES_KEPT_MAX);
    }
}

impl JobRow {
    /// A fire of the instant that came.
    fn begin(&self, ((scope, agent), job): &JobKey, id: FireId, now: Timestamp) -> FireRow {
        FireRow {
            scope: *scope,
            fire: Fire {
                id,
                agent: *agent,
                job: job.clone(),
                arming: self.arming,
                fire_at: self.arm.fire_at.clone(),
                state: FireState::Open,
                cause: None,
                tries: 0,
                outcome: None,
                began_at: now,
                ended_at: None,
                run: None,
            },
            due_at: self.due_at,
            calling: false,
            next_at: Some(now),
            reports: self.arm.reports,
        }
    }
}

impl FireRow {
    fn note(&mut self, verdict: &Verdict, now: Timestamp) {
        match *verdict {
            Verdict::Told => {
                self.fire.state = FireState::Open;
                self.fire.tries += 1;
                (self.calling, self.next_at) = (true, Some(held_until(now)));
            }
            Verdict::Held(until) => {
                (self.fire.state, self.next_at) = (FireState::Held, Some(until));
            }
            Verdict::Passed(cause) => self.end(cause.state(), Some(cause), now),
        }
    }
}
