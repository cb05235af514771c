//! Models the effect of a tenant that posts without limit on tenants that post little.
//!
//! The rules are the desk's: a node has a few writers, an agent always has the same one, and each writer has a bounded
//! queue from which it takes one statement's events in order. There is no rule about tenants.

use std::collections::VecDeque;

use nightdesk_types::limits::{GATHER_MAX, WRITER_QUEUE_MAX, WRITERS};

use crate::chance::{Dice, pick};

/// Duration of a gathered accept with its commit, and the addition of each event: a little more than decision 0003
/// measured.
const STATEMENT_US: u64 = 2_000;
const EVENT_US: u64 = 200;

/// Simulated time.
const SPAN_US: u64 = 60_000_000;

/// Number of quiet tenants, each with one agent, and the interval of its events.
const QUIET_TENANTS: usize = 100;
const QUIET_EVERY_US: u64 = 1_000_000;

/// Factor by which a hot tenant posts more than all quiet ones together.
const HOT_TIMES: u64 = 50;

/// Factor of a tenant that posts more than a node can accept.
const FLOOD_TIMES: u64 = 200;

/// Number of agents of a hot tenant that has many.
const HOT_AGENTS: usize = 100;

/// The tenant beside the quiet ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hot {
    /// No other tenant.
    Nobody,
    /// A tenant that posts for one agent.
    OneAgent,
    /// A tenant that posts for many agents.
    ManyAgents,
    /// A tenant that posts for many agents, more than a node can accept.
    Flood,
}

impl Hot {
    /// All cases.
    pub const ALL: [Self; 4] = [Self::Nobody, Self::OneAgent, Self::ManyAgents, Self::Flood];

    /// Returns its name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "quiet alone",
            Self::OneAgent => "hot, one agent",
            Self::ManyAgents => "hot, 100 agents",
            Self::Flood => "flood, 100 agents",
        }
    }

    const fn agents(self) -> usize {
        match self {
            Self::Nobody => 0,
            Self::OneAgent => 1,
            Self::ManyAgents | Self::Flood => HOT_AGENTS,
        }
    }

    /// Returns the interval of events for each of its agents.
    const fn every_us(self) -> u64 {
        let times = match self {
            Self::Nobody | Self::OneAgent | Self::ManyAgents => HOT_TIMES,
            Self::Flood => FLOOD_TIMES,
        };
        QUIET_EVERY_US * self.agents() as u64 / QUIET_TENANTS as u64 / times
    }
}

/// Measurements of the quiet tenants.
#[derive(Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Median time from post to response.
    pub p50_us: u64,
    /// 99th percentile of that time.
    pub p99_us: u64,
    /// Percentage of their events that the desk deferred.
    pub refused_percent: u64,
}

/// An event that waits for its writer.
#[derive(Clone, Copy, Debug)]
struct Event {
    at_us: u64,
    is_quiet: bool,
}

/// Simulates a minute. Returns the measurements of the quiet tenants.
pub fn quiet_beside(hot: Hot) -> Quiet {
    let mut waits = Vec::new();
    let (mut refused, mut posted) = (0, 0);
    for writer in 0..WRITERS {
        let seen = write(&arrivals(hot, writer));
        refused += seen.refused;
        posted += seen.refused + seen.waits_us.len() as u64;
        waits.extend(seen.waits_us);
    }
    waits.sort_unstable();
    let at = |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or_default();
    Quiet { p50_us: at(50), p99_us: at(99), refused_percent: 100 * refused / posted.max(1) }
}

/// Returns all events of one writer, in order.
fn arrivals(hot: Hot, writer: usize) -> Vec<Event> {
    let mut events = Vec::new();
    for tenant in (0..QUIET_TENANTS).filter(|tenant| pick(*tenant as u64, WRITERS) == writer) {
        come(&mut events, QUIET_EVERY_US, (tenant, true));
    }
    for agent in (0..hot.agents()).filter(|agent| agent % WRITERS == writer) {
        come(&mut events, hot.every_us(), (QUIET_TENANTS + agent, false));
    }
    events.sort_by_key(|event: &Event| event.at_us);
    events
}

/// Adds the events of a source, with random gaps of up to twice the interval.
fn come(events: &mut Vec<Event>, every_us: u64, (who, is_quiet): (usize, bool)) {
    let mut dice = Dice::of(0, who as u64);
    let mut at_us = 0;
    loop {
        at_us += dice.throw() % (2 * every_us);
        if at_us >= SPAN_US {
            return;
        }
        events.push(Event { at_us, is_quiet });
    }
}

/// Results of the quiet tenants' events at a writer.
#[derive(Debug, Default)]
struct Written {
    waits_us: Vec<u64>,
    refused: u64,
}

/// Simulates one writer.
fn write(events: &[Event]) -> Written {
    let mut written = Written::default();
    let mut queue: VecDeque<Event> = VecDeque::new();
    let (mut free_at, mut coming) = (0, events.iter().copied().peekable());
    while !queue.is_empty() || coming.peek().is_some() {
        let begins = match (queue.front(), coming.peek()) {
            (None, Some(next)) => free_at.max(next.at_us),
            _ => free_at,
        };
        while let Some(event) = coming.next_if(|event| event.at_us <= begins) {
            if queue.len() < WRITER_QUEUE_MAX {
                queue.push_back(event);
            } else if event.is_quiet {
                written.refused += 1;
            }
        }
        let batch = queue.len().min(GATHER_MAX);
        free_at = begins + STATEMENT_US + EVENT_US * batch as u64;
        let quiet = queue.drain(..batch).filter(|event| event.is_quiet);
        written.waits_us.extend(quiet.map(|event| free_at - event.at_us));
    }
    written
}
