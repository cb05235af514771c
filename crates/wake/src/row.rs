//! A wake's row, and the change that each event makes to it.
//!
//! Every function is pure and returns the next row, so that all stores write the same one. [`decide`] has the rules of
//! a claim.
//!
//! [`decide`]: crate::decide()

use std::time::Duration;

use nightdesk_types::limits::{CALL_GAP, UNRECORDED_CALL_GAP, WAKE_DEADLINE};
use nightdesk_types::{Generation, Seq, Timestamp};

use crate::store::{DelayNotice, WakeClaim};

/// The span over which wakes are counted.
const HOUR: Duration = Duration::from_hours(1);

/// The outcome of a call that was not made.
const PUT_OFF: &str = "put off";

/// The row of an agent's newest wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeRow {
    /// The wake's phase.
    pub phase: WakePhase,
    /// The time since which the agent is needed.
    pub since: Timestamp,
    /// The time of the next claim. Open wakes always have one.
    pub due_at: Option<Timestamp>,
    /// Calls since the agent was needed.
    pub calls: u32,
    /// The end of the last call.
    pub called_at: Option<Timestamp>,
    /// The result of the last call.
    pub outcome: Option<String>,
    /// The earliest time of the next call.
    pub rests_until: Timestamp,
    /// The last time the agent dialled in because it was needed.
    pub woken_at: Option<Timestamp>,
    /// The open line that does not answer, for which the agent is called.
    pub suspicion: Option<Suspicion>,
    /// A person requested the call, so it is made also if no entry waits.
    pub asked: bool,
    /// The author of the oldest waiting entry was told that the agent still does not come.
    pub delay_told: bool,
    /// Start of the hour in which wakes are counted.
    pub hour_began_at: Timestamp,
    /// Wakes in that hour.
    pub hour_wakes: u32,
}

/// The phase of a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakePhase {
    /// The agent is called when the row is due.
    Due,
    /// The agent was woken too often and is called when the hour is over.
    Held,
    /// The agent dialled in.
    Woken,
    /// The agent is not needed.
    Settled,
    /// The agent was given up.
    Unreachable,
}

nightdesk_types::slugs! {
    WakePhase:
    Due = "due",
    Held = "held",
    Woken = "woken",
    Settled = "settled",
    Unreachable = "unreachable",
}

/// An open line that does not answer, and the cursor at that time. It counts until the agent acks or the line is
/// replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The line.
    pub line: Generation,
    /// The cursor.
    pub acked: Seq,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEnd {
    /// The time of the end.
    pub at: Timestamp,
    /// The time its client has to come back by itself.
    pub grace: Duration,
}

impl LineEnd {
    /// Returns the earliest time at which the agent is called because of it.
    pub fn first_call_at(self, now: Timestamp) -> Timestamp {
        later_by(self.at, self.grace).max(now)
    }
}

impl WakeRow {
    /// Returns the row of an agent that was never needed.
    pub const fn new(now: Timestamp) -> Self {
        Self {
            phase: WakePhase::Settled,
            since: now,
            due_at: None,
            calls: 0,
            called_at: None,
            outcome: None,
            rests_until: Timestamp::UNIX_EPOCH,
            woken_at: None,
            suspicion: None,
            asked: false,
            delay_told: false,
            hour_began_at: Timestamp::UNIX_EPOCH,
            hour_wakes: 0,
        }
    }

    /// Returns true if a claim may take it.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= now)
    }

    /// Makes the wake due because an entry waits for an agent without a line. A wake that is open stays as it is.
    #[must_use]
    pub fn make_due(self, due_at: Timestamp, now: Timestamp) -> Self {
        if self.is_open() { self } else { self.begin_wake(due_at, now) }
    }

    /// Makes the wake due, or due sooner, because a line ended while an entry waits. The client has its grace first.
    #[must_use]
    pub fn end_line(self, end: LineEnd, now: Timestamp) -> Self {
        self.hasten(end.first_call_at(now), None, now)
    }

    /// Makes the wake due because an open line does not answer while an entry waits. The line stays.
    #[must_use]
    pub fn suspect(self, suspicion: Suspicion, now: Timestamp) -> Self {
        self.hasten(now, Some(suspicion), now)
    }

    /// Makes the wake due because a person requests a call. Neither the limit per hour nor an empty inbox prevents it.
    #[must_use]
    pub fn request_call(self, now: Timestamp) -> Self {
        let row = self.hasten(now, None, now);
        Self { phase: WakePhase::Due, asked: true, due_at: Some(now.max(row.rests_until)), ..row }
    }

    /// Makes the wake due because the agent has another address. `None`: it is not needed now.
    pub fn call_soon(self, now: Timestamp) -> Option<Self> {
        let due_at = Some(now.max(self.rests_until));
        (self.phase == WakePhase::Due).then_some(Self { due_at, ..self })
    }

    /// Closes the wake because the agent took a line. `None`: it was not needed.
    pub fn dial_in(self, now: Timestamp) -> Option<Self> {
        let is_needed = self.is_open() || self.phase == WakePhase::Unreachable;
        is_needed.then(|| self.wake_up(now))
    }

    /// Records the result of a call, and delays the next one: at most until an author is to be told of the delay. `None`:
    /// the result is that of an earlier wake.
    pub fn record_outcome(
        self,
        call: &WakeClaim,
        outcome: &str,
        wait: Duration,
        now: Timestamp,
    ) -> Option<Self> {
        let next_at = call.delay.bring_forward(later_by(now, wait), later_by(now, CALL_GAP));
        let due_at = if self.phase == WakePhase::Due { Some(next_at) } else { self.due_at };
        let outcome = Some(outcome.to_owned());
        // The call began before now.
        let rests_until = self.rests_until.min(later_by(now, CALL_GAP));
        let called_at = Some(now);
        self.is_at(call).then_some(Self { due_at, called_at, outcome, rests_until, ..self })
    }

    /// Records that a call was not made: it does not count, and is due later. `None`: the row changed since the claim.
    pub fn put_off(self, call: &WakeClaim, wait: Duration, now: Timestamp) -> Option<Self> {
        let until = later_by(now, wait);
        let is_first = u32::from(self.calls == 1);
        (self.is_at(call) && self.phase == WakePhase::Due).then(|| Self {
            calls: self.calls.saturating_sub(1),
            hour_wakes: self.hour_wakes.saturating_sub(is_first),
            outcome: Some(PUT_OFF.to_owned()),
            due_at: Some(until),
            rests_until: until,
            ..self
        })
    }

    /// Records that people were notified that the agent was given up. `None`: it is needed again.
    pub fn finish_giving_up(self, call: &WakeClaim) -> Option<Self> {
        let is_given_up = self.phase == WakePhase::Unreachable && self.since == call.since;
        is_given_up.then_some(Self { due_at: None, ..self })
    }

    /// Records that the author of the oldest entry was told of the delay. `None`: it is another wake, or it is over.
    pub fn finish_delay_notice(self, call: &WakeClaim) -> Option<Self> {
        let is_same = self.is_open() && self.since == call.since;
        is_same.then_some(Self { delay_told: true, ..self })
    }

    /// Closes the wake because the agent dialled in.
    pub(crate) fn wake_up(self, now: Timestamp) -> Self {
        Self { woken_at: Some(now), ..self.close(WakePhase::Woken) }
    }

    /// Closes the wake because the agent is not needed any more.
    pub(crate) fn settle(self) -> Self {
        self.close(WakePhase::Settled)
    }

    /// Takes one attempt. If its outcome is not recorded, the next claim leaves the gap also after a call that began late.
    pub(crate) fn take_call(self, now: Timestamp) -> Self {
        let counted = self.wakes_this_hour(now);
        let rests_until = later_by(now, UNRECORDED_CALL_GAP);
        let is_first = self.calls == 0;
        Self {
            phase: WakePhase::Due,
            calls: self.calls.saturating_add(1),
            due_at: Some(rests_until),
            rests_until,
            asked: false,
            hour_began_at: if is_first && counted == 0 { now } else { self.hour_began_at },
            hour_wakes: if is_first { counted + 1 } else { self.hour_wakes },
            ..self
        }
    }

    /// Waits for the deadline because the agent cannot be called. It may still dial in by itself.
    pub(crate) fn wait_for_waker(self) -> Self {
        let due_at = Some(self.given_up_at());
        Self { outcome: Some("no waker".to_owned()), due_at, asked: false, ..self }
    }

    /// Holds the wake until the hour is over because the agent was woken too often.
    pub(crate) fn hold(self) -> Self {
        Self { phase: WakePhase::Held, due_at: Some(later_by(self.hour_began_at, HOUR)), ..self }
    }

    /// Gives the agent up. The wake stays due until people are notified.
    pub(crate) fn give_up(self, now: Timestamp) -> Self {
        let due_at = Some(later_by(now, CALL_GAP));
        Self { phase: WakePhase::Unreachable, due_at, asked: false, ..self }
    }

    /// Makes a wake that is not called due earlier, if an author is to be told of the delay. A notice that is due is
    /// claimed again after the gap, until it is recorded.
    pub(crate) fn look_for_delay(self, delay: &DelayNotice, now: Timestamp) -> Self {
        let at = match delay {
            DelayNotice::Due(_) => later_by(now, CALL_GAP),
            DelayNotice::At(at) => *at,
            DelayNotice::Over => return self,
        };
        Self { due_at: self.due_at.map(|due_at| due_at.min(at)), ..self }
    }

    /// Returns true if the wake is held and its hour is not over.
    pub(crate) fn is_held(&self, wakes_per_hour: u32, now: Timestamp) -> bool {
        self.phase == WakePhase::Held && self.wakes_this_hour(now) >= wakes_per_hour
    }

    /// Returns the wakes counted in the hour that is under way.
    pub(crate) fn wakes_this_hour(&self, now: Timestamp) -> u32 {
        if now >= later_by(self.hour_began_at, HOUR) { 0 } else { self.hour_wakes }
    }

    /// Returns the time at which the agent is given up.
    pub(crate) fn given_up_at(&self) -> Timestamp {
        later_by(self.since, WAKE_DEADLINE)
    }

    const fn is_open(&self) -> bool {
        matches!(self.phase, WakePhase::Due | WakePhase::Held)
    }

    /// Returns true if the row did not change since that call was claimed.
    fn is_at(&self, call: &WakeClaim) -> bool {
        self.since == call.since && self.calls == call.calls
    }

    fn begin_wake(self, due_at: Timestamp, now: Timestamp) -> Self {
        Self {
            phase: WakePhase::Due,
            since: now,
            calls: 0,
            outcome: None,
            due_at: Some(due_at.max(self.rests_until)),
            suspicion: None,
            delay_told: false,
            ..self
        }
    }

    /// Makes the wake due, or due sooner. A wake that is held stays so.
    fn hasten(self, due_at: Timestamp, suspicion: Option<Suspicion>, now: Timestamp) -> Self {
        let row = match self.phase {
            WakePhase::Held => self,
            WakePhase::Due => {
                Self { due_at: self.due_at.min(Some(due_at.max(self.rests_until))), ..self }
            }
            WakePhase::Woken | WakePhase::Settled | WakePhase::Unreachable => {
                self.begin_wake(due_at, now)
            }
        };
        Self { suspicion, ..row }
    }

    fn close(self, phase: WakePhase) -> Self {
        Self { phase, due_at: None, asked: false, suspicion: None, ..self }
    }
}

fn later_by(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}
