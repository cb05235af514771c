//! Manages the sockets, and the sessions that outlive them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use super::fault::{Kind, at_gateway};
use super::world::World;

mod begin;
mod hear;
mod records;
mod resume;
pub(super) mod socket;
mod stream;

pub use records::{Identify, Mark, Order, Resume, Socket, overlap};

/// Number of events that a session stores for a resume.
const REPLAY_EVENTS_MAX: usize = 10_000;

/// Close codes that end a session.
const ENDING: [u16; 8] = [4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014];

/// A message to write on a socket.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Out {
    Frame(Value),
    Close(u16),
    Cut,
}

/// A socket and the messages to write on it.
#[derive(Debug, Default)]
pub(super) struct Wire {
    pub(super) socket: Socket,
    pub(super) out: VecDeque<Out>,
    /// Times of the last frames, for their rate limit.
    heard: VecDeque<Duration>,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) token: String,
    pub(super) shard: (u64, u64),
    pub(super) intents: u64,
    seq: u64,
    log: VecDeque<(u64, Value)>,
    wire: Option<usize>,
    left: Option<Duration>,
}

/// All sockets and sessions.
#[derive(Debug, Default)]
pub(super) struct Gateway {
    pub(super) sessions: BTreeMap<String, Session>,
    /// Every session that was begun, the oldest first.
    begun: Vec<String>,
    pub(super) wires: Vec<Wire>,
    pub(super) identifies: Vec<Identify>,
    pub(super) resumes: Vec<Resume>,
}

impl Gateway {
    pub(super) fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// Returns the position of the newest session, or the beginning of the next one if it is over.
    pub(super) fn stands_at(&self) -> Mark {
        let (begun, newest) = (self.begun.len(), self.begun.last().and_then(|id| self.session(id)));
        newest.map_or(Mark { session: begun + 1, seq: 0 }, |newest| Mark {
            session: begun,
            seq: newest.seq,
        })
    }

    /// Returns the position up to which a client confirmed its events.
    pub(super) fn confirmed(&self) -> Mark {
        let beats = self.wires.iter().map(|wire| &wire.socket);
        let beats = beats.filter_map(|one| Some((one.session.as_ref()?, one.last_heartbeat_seq?)));
        let resumes = self.resumes.iter().filter(|one| one.is_taken);
        let marks = beats.chain(resumes.map(|one| (&one.session, one.seq))).map(|(id, seq)| {
            let before = self.begun.iter().position(|begun| begun == id);
            Mark { session: before.map_or(0, |before| before + 1), seq }
        });
        marks.max().unwrap_or_default()
    }

    fn send(&mut self, wire: usize, out: Out) {
        if let Some(wire) = self.wires.get_mut(wire) {
            wire.out.push_back(out);
        }
    }

    /// Closes a socket, and ends its session if the code says so.
    fn close(&mut self, wire: usize, code: u16) {
        self.send(wire, Out::Close(code));
        if ENDING.contains(&code) {
            self.sessions.retain(|_, session| session.wire != Some(wire));
        }
    }

    fn invalid(&mut self, wire: usize, resumable: bool) {
        self.send(wire, Out::Frame(json!({ "op": 9, "d": resumable })));
        if !resumable {
            self.sessions.retain(|_, session| session.wire != Some(wire));
        }
    }

    fn obey(&mut self, wire: usize, order: Order) {
        match order {
            Order::Reconnect => self.send(wire, Out::Frame(json!({ "op": 7, "d": null }))),
            Order::Invalid { resumable } => self.invalid(wire, resumable),
            Order::Heartbeat => self.send(wire, Out::Frame(json!({ "op": 1, "d": null }))),
            Order::Close(code) => self.close(wire, code),
            Order::Cut => self.send(wire, Out::Cut),
        }
    }
}

impl World {
    /// Executes a command on every open socket that has a session, or on those of one shard. Returns their number.
    pub(super) fn order(&mut self, shard: Option<u64>, order: Order) -> usize {
        let sessions = self.gateway.sessions.values();
        let meant = sessions.filter(|session| shard.is_none_or(|shard| session.shard.0 == shard));
        let live: Vec<usize> = meant.filter_map(|session| session.wire).collect();
        for wire in &live {
            self.gateway.obey(*wire, order);
        }
        live.len()
    }

    /// Adds an event to a session, with its next sequence number.
    pub(super) fn dispatch(&mut self, session: &str, event: &str, what: &Value) {
        let fault = at_gateway(&mut self.faults, |kind| matches!(kind, Kind::Gap | Kind::Repeat));
        let Some(session) = self.gateway.sessions.get_mut(session) else { return };
        session.seq += 1;
        if fault == Some(Kind::Gap) {
            return;
        }
        let frame = json!({ "op": 0, "t": event, "s": session.seq, "d": what });
        session.log.push_back((session.seq, frame.clone()));
        if session.log.len() > REPLAY_EVENTS_MAX {
            session.log.pop_front();
        }
        let Some(wire) = session.wire else { return };
        let times = if fault == Some(Kind::Repeat) { 2 } else { 1 };
        for _ in 0..times {
            self.gateway.send(wire, Out::Frame(frame.clone()));
        }
    }

    /// Adds an opened socket.
    pub(super) fn opened(&mut self, at_resume_url: bool) -> usize {
        let socket = Socket { at_resume_url, opened: self.now(), ..Socket::default() };
        let mut wire = Wire { socket, ..Wire::default() };
        let fault = at_gateway(&mut self.faults, |kind| *kind == Kind::NoHello);
        if fault.is_none() {
            let every = self.settings.heartbeat_every.as_millis();
            let every = u64::try_from(every).unwrap_or(u64::MAX);
            let hello = json!({ "op": 10, "d": { "heartbeat_interval": every } });
            wire.out.push_back(Out::Frame(hello));
        }
        self.gateway.wires.push(wire);
        self.gateway.wires.len() - 1
    }

    /// Removes the sessions that were without a socket for too long.
    fn forget_old_sessions(&mut self) {
        let (now, life) = (self.now(), self.settings.session_life);
        let is_young = |left: Duration| now.saturating_sub(left) <= life;
        self.gateway.sessions.retain(|_, session| session.left.is_none_or(is_young));
    }

    /// Removes a socket. Its session lives on, unless the client ended it.
    pub(super) fn gone(&mut self, wire: usize, code: Option<u16>, by_client: bool) {
        let now = self.now();
        let Some(gone) = self.gateway.wires.get_mut(wire) else { return };
        gone.socket.closed = Some(now);
        gone.socket.close_code = code;
        gone.socket.closed_by_client = by_client;
        if by_client && matches!(code, Some(1000 | 1001)) {
            self.gateway.sessions.retain(|_, session| session.wire != Some(wire));
        }
        let left = self.gateway.sessions.values_mut().find(|session| session.wire == Some(wire));
        if let Some(session) = left {
            session.wire = None;
            session.left = Some(now);
        }
    }
}
