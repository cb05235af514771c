//! The store of wakes: how they become due, and what is done about them.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::Presence;
use nightdesk_line::Parting;
use nightdesk_types::limits::{
    BURIED_LINES_MAX, CALL_GAP, NOTICES_KEPT_MAX, WAKE_DEADLINE, WAKE_PLACES_MAX,
};
use nightdesk_types::{AgentId, Generation, Seq, StoreError, TenantScope, Timestamp};
use nightdesk_wake::{About, Claimed, Notice, NoticeKind, Place, Step, Store, Terms, Which};

use super::agent::{Agent, Line};
use super::{AgentKey, Memory, State, push_bounded};

mod operator;

const HOUR: Duration = Duration::from_hours(1);

/// A wake's row.
pub(super) struct Row {
    phase: Phase,
    since: Timestamp,
    due_at: Option<Timestamp>,
    calls: u32,
    called_at: Option<Timestamp>,
    outcome: Option<String>,
    rests_until: Timestamp,
    woken_at: Option<Timestamp>,
    suspect: Option<(Generation, Seq)>,
    asked: bool,
    hour_began_at: Timestamp,
    hour_wakes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Due,
    Held,
    Woken,
    Settled,
    Unreachable,
}

fn after(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

impl Row {
    const fn new(now: Timestamp) -> Self {
        Self {
            phase: Phase::Settled,
            since: now,
            due_at: None,
            calls: 0,
            called_at: None,
            outcome: None,
            rests_until: Timestamp::UNIX_EPOCH,
            woken_at: None,
            suspect: None,
            asked: false,
            hour_began_at: Timestamp::UNIX_EPOCH,
            hour_wakes: 0,
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Due | Phase::Held)
    }

    /// Begins anew.
    fn begin(&mut self, now: Timestamp, due_at: Timestamp) {
        self.phase = Phase::Due;
        (self.since, self.calls, self.outcome) = (now, 0, None);
        self.due_at = Some(due_at.max(self.rests_until));
        self.suspect = None;
    }

    /// Becomes due, or sooner due.
    fn hasten(&mut self, now: Timestamp, due_at: Timestamp, suspect: Option<(Generation, Seq)>) {
        match self.phase {
            Phase::Held => {}
            Phase::Due => self.due_at = self.due_at.min(Some(due_at.max(self.rests_until))),
            Phase::Woken | Phase::Settled | Phase::Unreachable => self.begin(now, due_at),
        }
        self.suspect = suspect;
    }

    fn put_away(&mut self, phase: Phase) {
        (self.phase, self.due_at, self.asked, self.suspect) = (phase, None, false, None);
    }

    /// Wakes counted in the hour that is under way.
    fn counted(&self, now: Timestamp) -> u32 {
        if now >= after(self.hour_began_at, HOUR) { 0 } else { self.hour_wakes }
    }

    fn take_call(&mut self, now: Timestamp) {
        let counted = self.counted(now);
        if self.calls == 0 {
            self.hour_began_at = if counted == 0 { now } else { self.hour_began_at };
            self.hour_wakes = counted + 1;
        }
        self.phase = Phase::Due;
        self.calls += 1;
        self.asked = false;
        self.rests_until = after(now, CALL_GAP);
        self.due_at = Some(self.rests_until);
    }

    fn is(&self, claimed: &Claimed) -> bool {
        self.since == claimed.since && self.calls == claimed.calls
    }
}

impl State {
    pub(super) fn is_open(&self, line: &Line, now: Timestamp) -> bool {
        line.closed_at.is_none() && self.lives(&line.node, now)
    }

    /// When the client of a line that ended had its time to come back.
    fn back_by(&self, line: &Line, now: Timestamp) -> Timestamp {
        let ended_at = line.closed_at.or_else(|| self.ended_at(&line.node, now));
        ended_at.map_or(now, |ended_at| after(ended_at, line.grace)).max(now)
    }

    fn wake_row(&mut self, key: AgentKey, now: Timestamp) -> &mut Row {
        self.wakes.entry(key).or_insert_with(|| Row::new(now))
    }

    /// Makes a wake due if the agent has no line.
    pub(super) fn wake_sleeper(&mut self, key: AgentKey, now: Timestamp) -> Presence {
        let line = self.agents.get(&key).and_then(|agent| agent.line.as_ref());
        if line.is_some_and(|line| self.is_open(line, now)) {
            return Presence::Awake;
        }
        let due_at = line.map_or(now, |line| self.back_by(line, now));
        let row = self.wake_row(key, now);
        if !row.is_open() {
            row.begin(now, due_at);
        }
        if row.phase == Phase::Held { Presence::Held } else { Presence::Asleep }
    }

    /// A line was taken.
    pub(super) fn is_up(&mut self, key: AgentKey, now: Timestamp) {
        let open = |row: &&mut Row| row.is_open() || row.phase == Phase::Unreachable;
        if let Some(row) = self.wakes.get_mut(&key).filter(open) {
            row.put_away(Phase::Woken);
            row.woken_at = Some(now);
        }
    }

    /// A line ended: if something waits, a wake is due.
    pub(super) fn line_ended(&mut self, key: AgentKey, line: Generation, now: Timestamp) {
        let Some(agent) = self.agents.get(&key).filter(|agent| agent.waits().next().is_some())
        else {
            return;
        };
        let ended = agent.line.as_ref().filter(|ended| ended.generation == line);
        if let Some(due_at) = ended.map(|ended| self.back_by(ended, now)) {
            self.wake_row(key, now).hasten(now, due_at, None);
        }
    }

    fn tell_owner(&mut self, key: AgentKey, now: Timestamp, kind: NoticeKind, calls: u32) {
        let outcome = self.wakes.get(&key).and_then(|row| row.outcome.clone());
        let outcome = outcome.filter(|_| kind == NoticeKind::Unreachable);
        let about = About::Agent(key.1);
        let notice = Notice { at: now, about, kind, calls, outcome };
        push_bounded(self.notices.entry(key.0).or_default(), notice, NOTICES_KEPT_MAX);
    }

    /// What is to be done about a wake that is due, and notes that it is being done.
    fn step(&mut self, key: AgentKey, terms: Terms, now: Timestamp) -> Option<Step> {
        let agent = self.agents.get(&key)?;
        let waits = agent.waits().next().is_some();
        let live = agent.line.as_ref().filter(|line| self.is_open(line, now));
        let up = live.map(|line| (line.opened_at, (line.generation, agent.cursor.acked)));
        let callable =
            terms.has_command || self.wakers.get(&key).is_some_and(|urls| !urls.is_empty());
        let row = self.wakes.get_mut(&key)?;
        if row.phase == Phase::Unreachable {
            row.due_at = Some(after(now, CALL_GAP));
            return Some(Step::GaveUp);
        }
        if let Some((opened_at, _)) = up.filter(|(_, at)| row.suspect != Some(*at)) {
            let phase = if opened_at >= row.since { Phase::Woken } else { Phase::Settled };
            row.put_away(phase);
            row.woken_at = if phase == Phase::Woken { Some(opened_at) } else { row.woken_at };
            return None;
        }
        if !waits && !row.asked {
            row.put_away(Phase::Settled);
            return None;
        }
        let deadline = after(row.since, WAKE_DEADLINE);
        let (calls, counted) = (row.calls, row.counted(now));
        if now >= deadline {
            (row.phase, row.due_at, row.asked) =
                (Phase::Unreachable, Some(after(now, CALL_GAP)), false);
            self.tell_owner(key, now, NoticeKind::Unreachable, calls);
            return Some(Step::GaveUp);
        }
        if !callable {
            (row.outcome, row.due_at, row.asked) =
                (Some("no waker".to_owned()), Some(deadline), false);
            return None;
        }
        if calls == 0 && !row.asked && counted >= terms.wakes_per_hour {
            (row.phase, row.due_at) = (Phase::Held, Some(after(row.hour_began_at, HOUR)));
            self.tell_owner(key, now, NoticeKind::Held, counted);
            return Some(Step::Held);
        }
        row.take_call(now);
        Some(Step::Call)
    }

    fn claimed(&self, key: AgentKey, step: Step) -> Option<Claimed> {
        let (row, agent) = (self.wakes.get(&key)?, self.agents.get(&key)?);
        let tells = step != Step::Call || row.calls == 1;
        let parting = agent.line.as_ref().and_then(|line| line.parting);
        Some(Claimed {
            scope: key.0,
            agent: key.1,
            step,
            since: row.since,
            calls: row.calls,
            outcome: row.outcome.clone(),
            urls: self.wakers.get(&key).cloned().unwrap_or_default(),
            places: if tells { agent.places() } else { Vec::new() },
            went_idle: parting == Some(Parting::Idle),
        })
    }

    fn due(&self, which: Which, now: Timestamp) -> Vec<AgentKey> {
        let is_due = |row: &Row| row.due_at.is_some_and(|at| at <= now);
        let due = self.wakes.iter().filter(|(_, row)| is_due(row));
        match which {
            Which::Due(most) => {
                let mut due: Vec<_> = due.map(|(key, row)| (row.due_at, *key)).collect();
                due.sort_unstable();
                due.into_iter().take(most).map(|(_, key)| key).collect()
            }
            Which::Of(scope, agent) => {
                due.map(|(key, _)| *key).filter(|key| *key == (scope, agent)).collect()
            }
        }
    }
}

impl Agent {
    /// Where the oldest of what waits came from.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for held in self.waits() {
            let place = Place { bot: held.bot, chat_id: held.chat_id.clone() };
            if !places.contains(&place) && places.len() < WAKE_PLACES_MAX {
                places.push(place);
            }
        }
        places
    }
}

#[async_trait]
impl Store for Memory {
    async fn claim(&self, which: Which, terms: &Terms) -> Result<Vec<Claimed>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let keys = state.due(which, now);
        let claimed = keys.into_iter().filter_map(|key| {
            let step = state.step(key, *terms, now)?;
            state.claimed(key, step)
        });
        Ok(claimed.collect())
    }

    async fn note(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.wakes.get_mut(&(claimed.scope, claimed.agent));
        if let Some(row) = row.filter(|row| row.is(claimed)) {
            (row.called_at, row.outcome) = (Some(now), Some(outcome.to_owned()));
            if row.phase == Phase::Due {
                row.due_at = Some(after(now, wait));
            }
        }
        Ok(())
    }

    async fn put_off(&self, claimed: &Claimed, wait: Duration) -> Result<(), StoreError> {
        let until = after(self.now(), wait);
        let mut state = self.lock();
        let row = state.wakes.get_mut(&(claimed.scope, claimed.agent));
        if let Some(row) = row.filter(|row| row.is(claimed) && row.phase == Phase::Due) {
            row.hour_wakes -= u32::from(row.calls == 1);
            row.calls -= 1;
            row.outcome = Some("put off".to_owned());
            (row.due_at, row.rests_until) = (Some(until), until);
        }
        Ok(())
    }

    async fn told(&self, claimed: &Claimed) -> Result<(), StoreError> {
        let mut state = self.lock();
        let row = state.wakes.get_mut(&(claimed.scope, claimed.agent));
        let given_up =
            |row: &&mut Row| row.phase == Phase::Unreachable && row.since == claimed.since;
        if let Some(row) = row.filter(given_up) {
            row.due_at = None;
        }
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
            state.wake_row(key, now).hasten(now, now, Some((line, acked)));
        }
        Ok(())
    }

    async fn bury(&self) -> Result<u64, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let dead = |line: &Line| line.closed_at.is_none() && state.is_gone(&line.node);
        let lines = state.agents.iter().filter_map(|(key, agent)| {
            let line = agent.line.as_ref().filter(|line| dead(line))?;
            Some((*key, line.generation, state.ended_at(&line.node, now)))
        });
        let most = usize::try_from(BURIED_LINES_MAX).unwrap_or(0);
        let lines: Vec<_> = lines.take(most).collect();
        for (key, generation, ended_at) in &lines {
            if let Some(line) = state.agents.get_mut(key).and_then(|agent| agent.line.as_mut()) {
                line.closed_at = Some(ended_at.unwrap_or(now));
            }
            state.line_ended(*key, *generation, now);
        }
        Ok(u64::try_from(lines.len()).unwrap_or(u64::MAX))
    }
}
