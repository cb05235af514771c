//! I12: an agent without a line is called while entries wait, with a minimum interval, and not while it is connected.

mod agent;

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Invariant};
use crate::event::RATE_LIMIT;
use crate::history::{About, Fault, History, Kind, Line, Mark, Pair};
use crate::names::Name;

use agent::{Agent, Away, Missed, What};

/// Minimum interval between two calls, less a tolerance for a slow call.
const CALL_GAP_MS: u64 = 15_000 - 500;

/// Time on a line after which the agent is no longer called, except by a call in progress.
const UP_MS: u64 = 5_000;

/// Time after which a line with an unacked entry may count as dead. The desk suspects it after 45 s, which begin a
/// little earlier on the desk.
const SUSPECT_MS: u64 = 40_000;

/// Time for which a fault may make a line suspect.
const FAULT_FELT_MS: u64 = 90_000;

/// Close codes of the desk, after which the gateway comes back by itself.
const ENDED_BY_DESK: [u16; 3] = [1011, 1012, 1013];

/// Maximum time between a node's death and its visible effects.
const SAME_TIME_MS: u64 = 2_000;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut calls: BTreeMap<Name, Vec<Mark>> = BTreeMap::new();
    for call in &history.calls {
        calls.entry(call.name).or_default().push(call.mark);
    }
    for (agent, calls) in &calls {
        too_often(history, findings, *agent, calls);
    }
    let unneeded = history.calls.iter().filter(|call| is_up(history, call));
    for call in unneeded {
        findings.add(Invariant::Wake, [call.mark], || {
            format!("{} was called while on a line", history.text(call.name))
        });
    }
    for (agent, happened) in happened(history) {
        for missed in Agent::new(history).live(happened) {
            not_called(history, findings, agent, missed);
        }
    }
}

fn too_often(history: &History, findings: &mut Findings, agent: Name, calls: &[Mark]) {
    let too_soon = |two: &&[Mark]| two[1].ms_after(made(history, two[0])) < CALL_GAP_MS;
    for two in calls.windows(2).filter(too_soon) {
        findings.add(Invariant::Wake, two.iter().copied(), || {
            let ms = two[1].ms_after(two[0]);
            format!("{} was called again after {ms} ms", history.text(agent))
        });
    }
}

/// Returns the earliest time at which a call was made. A frozen agent reads it only when it continues.
fn made(history: &History, call: Mark) -> Mark {
    let read_late = |fault: &&Fault| {
        let still = fault.touches(Kind::Gateway) || fault.touches(Kind::Target);
        let went_on = |off: Mark| off <= call && call.ms_after(off) <= SAME_TIME_MS;
        still && fault.off.is_some_and(went_on)
    };
    history.faults.iter().filter(read_late).map(|fault| fault.on).min().unwrap_or(call)
}

fn not_called(history: &History, findings: &mut Findings, agent: Name, missed: Missed) {
    let marks = [missed.told, missed.away].into_iter().filter(|mark| mark.at_ns > 0);
    findings.add(Invariant::Wake, marks, || {
        format!("{} had no line while an entry waited, and was not called", history.text(agent))
    });
}

/// Returns true if a call went to an agent that had been on a healthy line for a while.
fn is_up(history: &History, call: &About) -> bool {
    let since = call.mark.minus_ms(UP_MS);
    let felt = call.mark.minus_ms(FAULT_FELT_MS);
    let is_healthy = |line: &&Line| {
        line.agent == call.name
            && line.opened.at_ns < since.at_ns
            && line.closed.is_none_or(|close| close.mark > call.mark)
            && !history.faults.iter().any(|f| f.is_on_path_of(line) && f.was_on(felt, call.mark))
    };
    history.lines.iter().any(|line| is_healthy(&line)) && !is_suspect(history, call)
}

fn is_suspect(history: &History, call: &About) -> bool {
    let from = history.receipts.partition_point(|receipt| receipt.agent < call.name);
    let mut receipts = history.receipts[from..].iter().take_while(|r| r.agent == call.name);
    receipts.any(|receipt| {
        receipt.mark < call.mark
            && call.mark.ms_after(receipt.mark) >= SUSPECT_MS
            && receipt.done.is_none_or(|done| done > call.mark)
    })
}

/// Returns the events of each agent that can be called, in order of time.
fn happened(history: &History) -> BTreeMap<Name, Vec<(Mark, What)>> {
    let mut agents: BTreeMap<Name, Vec<(Mark, What)>> =
        history.wakeable.iter().map(|about| (about.name, Vec::new())).collect();
    let mut add = |agent: Name, mark: Mark, what: What| {
        if let Some(happened) = agents.get_mut(&agent) {
            happened.push((mark, what));
        }
    };
    let foretold: BTreeSet<Name> = history.may_park.iter().map(|may| may.nonce).collect();
    // Also if such an event is delivered, its author is over the limit, and it wakes no agent.
    let limited: BTreeSet<Name> = history
        .may_park
        .iter()
        .filter(|may| history.text(may.reason) == RATE_LIMIT)
        .map(|may| may.nonce)
        .collect();
    let may_wake = |pair: &&Pair| {
        !limited.contains(&pair.nonce) && (pair.done.is_some() || !foretold.contains(&pair.nonce))
    };
    // An agent may be done before the platform reads its acknowledgement: then nothing waited.
    let waited = |pair: &&Pair| pair.done.is_none_or(|done| done > pair.told);
    for pair in history.pairs.iter().filter(may_wake).filter(waited) {
        add(pair.agent, pair.told, What::Told);
        pair.done
            .into_iter()
            .for_each(|done| add(pair.agent, done, What::Done { told: pair.told }));
    }
    for line in &history.lines {
        add(line.agent, line.opened, What::Opened);
        if let Some(close) = line.closed {
            let away = if ENDED_BY_DESK.contains(&close.code) || died(history, line, close.mark) {
                Away::EndedByDesk
            } else {
                Away::Left
            };
            add(line.agent, close.mark, What::Closed(away));
        }
    }
    for frozen in &history.frozen {
        add(frozen.agent, frozen.on, What::Frozen);
        frozen.off.into_iter().for_each(|off| add(frozen.agent, off, What::Thawed));
    }
    history.calls.iter().for_each(|call| add(call.name, call.mark, What::Called));
    for happened in agents.values_mut() {
        happened.extend(history.last.map(|last| (last, What::Over)));
        happened.sort_by_key(|(mark, _)| *mark);
    }
    agents
}

/// Returns true if a line ended because of a fault behind it.
fn died(history: &History, line: &Line, closed: Mark) -> bool {
    let from = closed.minus_ms(SAME_TIME_MS);
    let is_cause = |fault: &&Fault| {
        (fault.touches(Kind::Node) || fault.touches(Kind::Postgres))
            && fault.is_on_path_of(line)
            && fault.was_on(from, closed.plus_ms(SAME_TIME_MS))
    };
    history.faults.iter().any(|fault| is_cause(&fault))
}

#[cfg(test)]
mod tests;
