//! The decision of a claim: from a wake's row, the facts and the time to the next step.
//!
//! A store locks rows that are due, reads the facts, calls [`decide`] for each, and writes the rows and notices it
//! returns, in one transaction. PostgreSQL and memory do so alike, so the simulation runs the rules of production.

use nightdesk_types::{AgentId, Generation, Seq, TenantScope, Timestamp};

use crate::notice::{NoticeKind, NoticeSubject, OwnerNotice};
use crate::row::{Suspicion, WakePhase, WakeRow};
use crate::store::{DelayNotice, WaitingChat, WakeClaim, WakeStep, WakeTerms};

#[cfg(test)]
mod tests;

/// A wake whose row the store has locked, and the facts that its step depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWake {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The row.
    pub row: WakeRow,
    /// The agent's line, if it is open on a node that lives.
    pub line: Option<OpenLine>,
    /// True if the agent's last line ended because it went idle.
    pub went_idle: bool,
    /// The agent's wake URLs, in the order of calls.
    pub urls: Vec<String>,
    /// True if the desk posts the agent's entries to a URL.
    pub has_webhook: bool,
    /// The chats of the oldest waiting entries. Empty if no entry waits.
    pub places: Vec<WaitingChat>,
}

/// A line that is open on a node that lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLine {
    /// The line.
    pub generation: Generation,
    /// The time at which it was taken.
    pub opened_at: Timestamp,
    /// The agent's cursor.
    pub acked: Seq,
}

/// The result of a claim for one wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeDecision {
    /// The row to be written.
    pub row: WakeRow,
    /// The notice for the agent's owner, to be written with it.
    pub notice: Option<OwnerNotice>,
    /// The step that the claiming node takes. `None`: nothing is to be done.
    pub claimed: Option<WakeClaim>,
}

/// The cases of a claim, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakeCase {
    /// Another node claimed it, or its time has not come.
    NotDue,
    /// It was given up, and the node that did so did not record that people were notified.
    GivenUpBefore,
    /// The agent has had a line since then.
    Up(OpenLine),
    /// No entry waits, and no person requested a call.
    NotNeeded,
    /// The agent did not dial in within the deadline.
    Overdue,
    /// The agent has no URL, and the operator no command.
    NoWaker,
    /// The agent is held, and its hour is not over.
    StillHeld,
    /// The agent was woken as often in this hour as it may be.
    TooOften,
    /// The agent is to be called.
    Callable,
}

/// Decides the next step of a wake.
pub fn decide(wake: DueWake, terms: WakeTerms, now: Timestamp) -> WakeDecision {
    let case = find_case(&wake, terms, now);
    let delay = delay_notice(&wake, case, terms, now);
    let row = next_row(wake.row.clone(), case, &delay, now);
    let notice = owner_notice(&wake, case, now);
    let step = wake_step(case, &delay);
    let claimed = step.map(|step| wake_claim(wake, &row, step, delay));
    WakeDecision { row, notice, claimed }
}

fn find_case(wake: &DueWake, terms: WakeTerms, now: Timestamp) -> WakeCase {
    let row = &wake.row;
    if !row.is_due(now) {
        return WakeCase::NotDue;
    }
    if row.phase == WakePhase::Unreachable {
        return WakeCase::GivenUpBefore;
    }
    if let Some(line) = wake.line.filter(|line| row.suspicion != Some(line.suspicion())) {
        return WakeCase::Up(line);
    }
    if wake.places.is_empty() && !row.asked {
        return WakeCase::NotNeeded;
    }
    if now >= row.given_up_at() {
        return WakeCase::Overdue;
    }
    if wake.urls.is_empty() && !terms.has_command && !wake.has_webhook {
        return WakeCase::NoWaker;
    }
    if row.is_held(terms.wakes_per_hour, now) {
        return WakeCase::StillHeld;
    }
    let is_new = row.calls == 0 && !row.asked;
    if is_new && row.wakes_this_hour(now) >= terms.wakes_per_hour {
        return WakeCase::TooOften;
    }
    WakeCase::Callable
}

/// Returns the notice of a delay. It is for a person: letters and jobs come through no bot.
fn delay_notice(wake: &DueWake, case: WakeCase, terms: WakeTerms, now: Timestamp) -> DelayNotice {
    let is_awaited = match case {
        WakeCase::NoWaker | WakeCase::StillHeld | WakeCase::TooOften | WakeCase::Callable => true,
        WakeCase::NotDue
        | WakeCase::GivenUpBefore
        | WakeCase::Up(_)
        | WakeCase::NotNeeded
        | WakeCase::Overdue => false,
    };
    let of_person = wake.places.iter().find(|place| !place.bot.uuid().is_nil());
    let Some(place) = of_person.filter(|_| is_awaited && !wake.row.delay_told) else {
        return DelayNotice::Over;
    };
    match wake.row.since.checked_add(terms.still_waking_after) {
        Ok(at) if at <= now => DelayNotice::Due(place.clone()),
        Ok(at) => DelayNotice::At(at),
        Err(_) => DelayNotice::Over,
    }
}

fn next_row(row: WakeRow, case: WakeCase, delay: &DelayNotice, now: Timestamp) -> WakeRow {
    match case {
        WakeCase::NotDue => row,
        WakeCase::GivenUpBefore | WakeCase::Overdue => row.give_up(now),
        WakeCase::Up(line) if line.opened_at >= row.since => row.wake_up(line.opened_at),
        WakeCase::Up(_) | WakeCase::NotNeeded => row.settle(),
        WakeCase::NoWaker => row.wait_for_waker().look_for_delay(delay, now),
        WakeCase::StillHeld | WakeCase::TooOften => row.hold().look_for_delay(delay, now),
        WakeCase::Callable => row.take_call(now),
    }
}

/// Returns the notice for the owner of an agent: one per wake that is held or given up.
fn owner_notice(wake: &DueWake, case: WakeCase, now: Timestamp) -> Option<OwnerNotice> {
    let row = &wake.row;
    let (kind, calls, outcome) = match case {
        WakeCase::Overdue => (NoticeKind::Unreachable, row.calls, row.outcome.clone()),
        WakeCase::TooOften => (NoticeKind::Held, row.wakes_this_hour(now), None),
        WakeCase::NotDue
        | WakeCase::GivenUpBefore
        | WakeCase::Up(_)
        | WakeCase::NotNeeded
        | WakeCase::NoWaker
        | WakeCase::StillHeld
        | WakeCase::Callable => return None,
    };
    Some(OwnerNotice { at: now, about: NoticeSubject::Agent(wake.agent), kind, calls, outcome })
}

const fn wake_step(case: WakeCase, delay: &DelayNotice) -> Option<WakeStep> {
    match case {
        WakeCase::Callable => Some(WakeStep::Call),
        WakeCase::TooOften => Some(WakeStep::Held),
        WakeCase::GivenUpBefore | WakeCase::Overdue => Some(WakeStep::GaveUp),
        WakeCase::NoWaker | WakeCase::StillHeld => match delay {
            DelayNotice::Due(_) => Some(WakeStep::Delayed),
            DelayNotice::At(_) | DelayNotice::Over => None,
        },
        WakeCase::NotDue | WakeCase::Up(_) | WakeCase::NotNeeded => None,
    }
}

/// Builds the claim. It has the chats to notify at the first call, when the agent is held, and when it is given up.
fn wake_claim(wake: DueWake, row: &WakeRow, step: WakeStep, delay: DelayNotice) -> WakeClaim {
    let is_told = match step {
        WakeStep::Call => row.calls == 1,
        WakeStep::Delayed => false,
        WakeStep::Held | WakeStep::GaveUp => true,
    };
    WakeClaim {
        scope: wake.scope,
        agent: wake.agent,
        step,
        since: row.since,
        calls: row.calls,
        outcome: row.outcome.clone(),
        urls: wake.urls,
        has_webhook: wake.has_webhook,
        places: if is_told { wake.places } else { Vec::new() },
        went_idle: wake.went_idle,
        delay,
    }
}

impl OpenLine {
    /// Returns the suspicion that holds as long as this line stays and the agent does not ack.
    const fn suspicion(&self) -> Suspicion {
        Suspicion { line: self.generation, acked: self.acked }
    }
}
