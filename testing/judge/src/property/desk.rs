//! A model of a correct desk, and the operations on it.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::AGENTS;
use crate::event::{EntryState, Event};
use crate::tale::Tale;

/// Maximum unacked entries on a line.
const WINDOW: usize = 12;

/// An operation in a run, on the agent of this number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// A person writes to one agent, or to all.
    Say(usize),
    SayToAll,
    /// The desk hands over the next entry.
    Hand(usize),
    /// The agent acks its oldest or its newest entry.
    AckOldest(usize),
    AckNewest(usize),
    /// The agent's line breaks, and unacked entries are handed over again.
    Break(usize),
    /// The line breaks with an ack in transit.
    LoseAck(usize),
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let agent = 0..AGENTS.len();
    prop_oneof![
        4 => agent.clone().prop_map(Op::Say),
        1 => Just(Op::SayToAll),
        6 => agent.clone().prop_map(Op::Hand),
        4 => agent.clone().prop_map(Op::AckOldest),
        2 => agent.clone().prop_map(Op::AckNewest),
        1 => agent.clone().prop_map(Op::Break),
        1 => agent.prop_map(Op::LoseAck),
    ]
}

/// A correct desk.
pub(super) struct Desk {
    tale: Tale,
    faults: bool,
    said: u64,
    agents: Vec<Inbox>,
}

/// An agent's inbox and line.
struct Inbox {
    agent: &'static str,
    lines: u32,
    /// All nonces, by number.
    all: Vec<String>,
    /// The numbers that are handed over next, and those that the line holds.
    next: VecDeque<usize>,
    held: VecDeque<usize>,
}

impl Desk {
    /// Returns the history of a run with these operations.
    pub(super) fn run(faults: bool, ops: &[Op]) -> Tale {
        let tale = if faults { Tale::with_faults() } else { Tale::clean() };
        let inbox = |agent| Inbox {
            agent,
            lines: 0,
            all: Vec::new(),
            next: VecDeque::new(),
            held: VecDeque::new(),
        };
        let mut desk = Self { tale, faults, said: 0, agents: AGENTS.map(inbox).into() };
        (0..AGENTS.len()).for_each(|agent| desk.open(agent));
        for op in ops {
            desk.step(*op);
        }
        desk.finish()
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Say(agent) => self.say(&[agent]),
            Op::SayToAll => self.say(&[0, 1, 2]),
            Op::Hand(agent) => self.hand(agent),
            Op::AckOldest(agent) => {
                let acked = self.agents[agent].held.pop_front();
                if let Some(number) = acked {
                    self.ack(agent, number);
                }
            }
            Op::AckNewest(agent) => {
                let acked = self.agents[agent].held.pop_back();
                if let Some(number) = acked {
                    self.ack(agent, number);
                }
            }
            Op::Break(agent) if self.faults => self.reopen(agent),
            Op::LoseAck(agent) if self.faults => {
                let lost = self.agents[agent].held.front().copied();
                if let Some(number) = lost {
                    self.ack(agent, number);
                }
                self.reopen(agent);
            }
            Op::Break(_) | Op::LoseAck(_) => {}
        }
    }

    fn say(&mut self, agents: &[usize]) {
        self.said += 1;
        let nonce = format!("m{}", self.said);
        let expect: Vec<&str> = agents.iter().map(|&agent| AGENTS[agent]).collect();
        self.tale.said_in_order(&nonce, &expect, Some(self.said));
        for &agent in agents {
            let inbox = &mut self.agents[agent];
            inbox.next.push_back(inbox.all.len());
            inbox.all.push(nonce.clone());
        }
    }

    fn hand(&mut self, agent: usize) {
        let inbox = &mut self.agents[agent];
        if inbox.held.len() < WINDOW
            && let Some(number) = inbox.next.pop_front()
        {
            inbox.held.push_back(number);
            let conn = inbox.conn();
            self.tale.handed(&conn, inbox.agent, &inbox.all[number]);
        }
    }

    fn ack(&mut self, agent: usize, number: usize) {
        let inbox = &self.agents[agent];
        self.tale.acked(&inbox.conn(), inbox.agent, &inbox.all[number]);
    }

    fn open(&mut self, agent: usize) {
        let inbox = &mut self.agents[agent];
        inbox.lines += 1;
        self.tale.opened(&inbox.conn(), inbox.agent);
    }

    fn reopen(&mut self, agent: usize) {
        let inbox = &mut self.agents[agent];
        self.tale.closed(&inbox.conn(), 1006);
        while let Some(number) = inbox.held.pop_back() {
            inbox.next.push_front(number);
        }
        self.open(agent);
    }

    /// Hands over the remaining entries, and records the tables.
    fn finish(mut self) -> Tale {
        for agent in 0..AGENTS.len() {
            while !self.agents[agent].next.is_empty() || !self.agents[agent].held.is_empty() {
                self.hand(agent);
                self.step(Op::AckOldest(agent));
            }
        }
        self.tale.note(Event::Quiesce);
        for inbox in &self.agents {
            for (nonce, seq) in inbox.all.iter().zip(1..) {
                self.tale.inbox(inbox.agent, seq, nonce, EntryState::Acked);
            }
        }
        self.tale
    }
}

impl Inbox {
    fn conn(&self) -> String {
        format!("{}-{}", self.agent, self.lines)
    }
}
