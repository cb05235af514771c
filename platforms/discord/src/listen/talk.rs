//! State machine of one socket, from the hello to the end: it takes frames and returns effects.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::cursor::Cursor;

/// Time limit of the hello.
const HELLO_WAIT: Duration = Duration::from_secs(10);

/// Time limit of the response to identify or resume.
const READY_WAIT: Duration = Duration::from_secs(30);

/// The limits of an accepted heartbeat interval.
const BEAT_MAX: Duration = Duration::from_mins(2);
const BEAT_MIN: Duration = Duration::from_millis(50);

/// Phases of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No hello has arrived.
    Greeting,
    /// Identify or resume was sent.
    Introducing,
    Live,
}

/// A dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The event's type.
    pub(super) kind: String,
    /// The event's data, in JSON.
    pub(super) data: String,
    /// The position after the event.
    pub(super) cursor: Cursor,
    /// True if events before this one may be missing.
    pub(super) is_after_gap: bool,
}

/// Effects that the driver executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Send heartbeats at this interval from now on.
    BeatEvery(Duration),
    /// Send a heartbeat now.
    Beat,
    /// Resume the session.
    Resume,
    /// Begin a new session.
    Identify,
    Tell(Told),
    Over(Ended),
}

/// Ends of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Discord could not be reached, or sent no hello.
    NotReached,
    /// Discord did not answer identify or resume.
    Unanswered,
    /// Discord requested a reconnect.
    Reconnect,
    /// Discord does not accept the session now.
    Invalid { is_resumable: bool },
    /// Heartbeats are not acknowledged.
    Zombie,
    /// An event is missing.
    Gap,
    /// The socket was closed.
    Closed(Option<u16>),
}

#[derive(Deserialize)]
struct Frame<'f> {
    op: u8,
    s: Option<u64>,
    #[serde(borrow)]
    t: Option<Cow<'f, str>>,
    #[serde(borrow)]
    d: Option<&'f RawValue>,
}

#[derive(Deserialize)]
struct Hello {
    heartbeat_interval: u64,
}

#[derive(Deserialize)]
struct Ready {
    session_id: String,
    resume_gateway_url: String,
}

/// The conversation on one socket.
#[derive(Debug)]
pub(super) struct Talk {
    phase: Phase,
    session: Option<Cursor>,
    /// True if there was an earlier session.
    is_after_another: bool,
    /// The number after which an event is missing for good, because Discord did not replay it once.
    lost_after: Option<u64>,
    is_acked: bool,
}

impl Talk {
    /// Creates a conversation that resumes a session, or begins one.
    pub(super) const fn new(
        session: Option<Cursor>,
        is_after_another: bool,
        lost_after: Option<u64>,
    ) -> Self {
        Self { phase: Phase::Greeting, session, is_after_another, lost_after, is_acked: true }
    }

    /// Returns the session with the position of its last event.
    pub(super) const fn session(&self) -> Option<&Cursor> {
        self.session.as_ref()
    }

    /// Returns true if Discord has accepted the session.
    pub(super) fn is_live(&self) -> bool {
        self.phase == Phase::Live
    }

    /// Returns the time limit of the current phase, and the end when it expires.
    pub(super) const fn patience(&self) -> Option<(Duration, Ended)> {
        match self.phase {
            Phase::Greeting => Some((HELLO_WAIT, Ended::NotReached)),
            Phase::Introducing => Some((READY_WAIT, Ended::Unanswered)),
            Phase::Live => None,
        }
    }

    /// Handles a heartbeat tick. A missing acknowledgement counts only if it could have been read.
    pub(super) const fn beat(&mut self, could_hear: bool) -> Effect {
        if !self.is_acked && could_hear {
            return Effect::Over(Ended::Zombie);
        }
        self.is_acked = false;
        Effect::Beat
    }

    /// Handles a frame. Invalid frames and unknown ops have no effect.
    pub(super) fn hear(&mut self, text: &str) -> Vec<Effect> {
        let Ok(frame) = serde_json::from_str::<Frame<'_>>(text) else { return Vec::new() };
        let data = frame.d.map_or("null", RawValue::get);
        match frame.op {
            0 => self.dispatched(frame.t.as_deref().unwrap_or_default(), frame.s, data),
            1 => vec![Effect::Beat],
            7 => vec![Effect::Over(Ended::Reconnect)],
            9 => vec![Effect::Over(Ended::Invalid { is_resumable: data == "true" })],
            10 => self.greeted(data),
            11 => {
                self.is_acked = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn greeted(&mut self, data: &str) -> Vec<Effect> {
        let Ok(Hello { heartbeat_interval }) = serde_json::from_str(data) else {
            return vec![Effect::Over(Ended::NotReached)];
        };
        let every = Duration::from_millis(heartbeat_interval).clamp(BEAT_MIN, BEAT_MAX);
        self.phase = Phase::Introducing;
        let next = if self.session.is_some() { Effect::Resume } else { Effect::Identify };
        vec![Effect::BeatEvery(every), next]
    }

    fn dispatched(&mut self, kind: &str, seq: Option<u64>, data: &str) -> Vec<Effect> {
        let Some(seq) = seq else { return Vec::new() };
        if kind == "READY" {
            return self.began(seq, data);
        }
        // Events before `RESUMED` are replayed ones.
        if kind == "RESUMED" {
            self.phase = Phase::Live;
        }
        let Some(session) = &mut self.session else { return Vec::new() };
        if seq <= session.seq {
            return Vec::new();
        }
        let is_missing = seq > session.seq + 1;
        if is_missing && self.lost_after != Some(session.seq) {
            return vec![Effect::Over(Ended::Gap)];
        }
        session.seq = seq;
        vec![Effect::Tell(Told {
            kind: kind.to_owned(),
            data: data.to_owned(),
            cursor: session.clone(),
            is_after_gap: is_missing,
        })]
    }

    fn began(&mut self, seq: u64, data: &str) -> Vec<Effect> {
        let Ok(Ready { session_id, resume_gateway_url }) = serde_json::from_str(data) else {
            return vec![Effect::Over(Ended::Unanswered)];
        };
        self.phase = Phase::Live;
        let cursor = Cursor { session: session_id, url: resume_gateway_url, seq };
        self.session = Some(cursor.clone());
        let is_after_gap = std::mem::replace(&mut self.is_after_another, true);
        vec![Effect::Tell(Told {
            kind: "READY".to_owned(),
            data: data.to_owned(),
            cursor,
            is_after_gap,
        })]
    }
}

#[cfg(test)]
mod tests;
