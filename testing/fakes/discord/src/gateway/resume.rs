//! Resumes a session on another socket.

use serde_json::{Value, json};

use super::begin::BAD_TOKEN;
use super::{Kind, Out, Resume, at_gateway};
use crate::world::{World, number};

const BAD_SEQ: u16 = 4007;

/// Closed because another socket resumed the session.
const REPLACED: u16 = 4000;

/// The reason that a session is not resumed.
enum Refusal {
    Close(u16),
    Invalid(bool),
}

impl World {
    pub(super) fn resume(&mut self, wire: usize, asked: &Value) {
        let token = asked["token"].as_str().unwrap_or_default();
        let session = asked["session_id"].as_str().unwrap_or_default().to_owned();
        let seq = number(&asked["seq"]).unwrap_or_default();
        let refusal = self.why_not_resume(token, &session, seq);
        let at_resume_url =
            self.gateway.wires.get(wire).is_some_and(|wire| wire.socket.at_resume_url);
        let (at, is_taken) = (self.now(), refusal.is_none());
        let resume = Resume { at, session: session.clone(), seq, is_taken, at_resume_url };
        self.gateway.resumes.push(resume);
        match refusal {
            Some(Refusal::Close(code)) => self.gateway.close(wire, code),
            Some(Refusal::Invalid(resumable)) => self.gateway.invalid(wire, resumable),
            None => self.replay(wire, &session, seq),
        }
    }

    fn why_not_resume(&mut self, token: &str, session: &str, seq: u64) -> Option<Refusal> {
        let is_ours =
            |kind: &Kind| matches!(kind, Kind::CloseAtResume(_) | Kind::InvalidAtResume(_));
        match at_gateway(&mut self.faults, is_ours) {
            Some(Kind::CloseAtResume(code)) => return Some(Refusal::Close(code)),
            Some(Kind::InvalidAtResume(resumable)) => {
                if !resumable {
                    self.gateway.sessions.remove(session);
                }
                return Some(Refusal::Invalid(resumable));
            }
            _ => {}
        }
        if !self.bots.contains_key(token) {
            return Some(Refusal::Close(BAD_TOKEN));
        }
        self.forget_old_sessions();
        let known = self.gateway.session(session).filter(|session| session.token == token);
        let Some(known) = known else { return Some(Refusal::Invalid(false)) };
        if seq > known.seq {
            return Some(Refusal::Close(BAD_SEQ));
        }
        let first = known.log.front().map_or(known.seq, |(first, _)| *first);
        (seq + 1 < first).then_some(Refusal::Invalid(false))
    }

    /// Sends the events after a sequence number, and then RESUMED, which has no number of its own.
    fn replay(&mut self, wire: usize, id: &str, seq: u64) {
        let Some(session) = self.gateway.sessions.get_mut(id) else { return };
        let before = session.wire.replace(wire);
        session.left = None;
        let missed = session.log.iter().filter(|(number, _)| *number > seq);
        let mut out: Vec<Out> = missed.map(|(_, frame)| Out::Frame(frame.clone())).collect();
        let resumed = json!({ "op": 0, "t": "RESUMED", "s": session.seq, "d": {} });
        out.push(Out::Frame(resumed));
        if let Some(before) = before.filter(|before| *before != wire) {
            self.gateway.send(before, Out::Close(REPLACED));
        }
        for one in out {
            self.gateway.send(wire, one);
        }
        self.attach(wire, id);
    }
}
