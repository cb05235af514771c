//! Talk: what is said over one socket, from the greeting to the end. It takes in what came and says what to do.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::cursor::Cursor;

/// Without a greeting for so long, nobody is there.
const HELLO_WAIT: Duration = Duration::from_secs(10);

/// Without an answer to who we are for so long, there will be none.
const READY_WAIT: Duration = Duration::from_secs(30);

/// The slowest and the fastest heart that is believed.
const BEAT_MAX: Duration = Duration::from_mins(2);
const BEAT_MIN: Duration = Duration::from_millis(50);

/// How far a talk has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was said yet.
    Greeting,
    /// We said who we are, or where to go on.
    Introducing,
    Live,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// What kind of thing.
    pub(super) kind: String,
    /// What exactly, in JSON.
    pub(super) data: String,
    /// Where to go on after it.
    pub(super) cursor: Cursor,
    /// Whether something may be missing before it.
    pub(super) is_after_gap: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Beat from now on, every so often.
    BeatEvery(Duration),
    /// Beat now.
    Beat,
    /// Go on with the session.
    Resume,
    /// Begin a new one.
    Identify,
    Tell(Told),
    Over(Ended),
}

/// How a talk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nobody was reached, or nobody greeted.
    NotReached,
    /// Nobody answered who we are.
    Unanswered,
    /// Discord asked for it.
    Reconnect,
    /// The session is not taken. It may be later.
    Invalid { is_resumable: bool },
    /// Our heartbeats are not heard.
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

/// What is said over one socket.
#[derive(Debug)]
pub(super) struct Talk {
    phase: Phase,
    session: Option<Cursor>,
    /// Whether there was a session before this one.
    is_after_another: bool,
    /// The number after which an event is missing for good: Discord was asked for it once.
    lost_after: Option<u64>,
    is_acked: bool,
}

impl Talk {
    /// A talk that goes on with a session, or begins one.
    pub(super) const fn new(
        session: Option<Cursor>,
        is_after_another: bool,
        lost_after: Option<u64>,
    ) -> Self {
        Self { phase: Phase::Greeting, session, is_after_another, lost_after, is_acked: true }
    }

    /// The session, as far as it was heard.
    pub(super) const fn session(&self) -> Option<&Cursor> {
        self.session.as_ref()
    }

    /// Whether Discord took us in.
    pub(super) fn is_live(&self) -> bool {
        self.phase == Phase::Live
    }

    /// How long it may stay as it is, and how it ends otherwise.
    pub(super) const fn patience(&self) -> Option<(Duration, Ended)> {
        match self.phase {
            Phase::Greeting => Some((HELLO_WAIT, Ended::NotReached)),
            Phase::Introducing => Some((READY_WAIT, Ended::Unanswered)),
            Phase::Live => None,
        }
    }

    /// It is time to beat. Of answers that could not have been read, none is missed.
    pub(super) const fn beat(&mut self, could_hear: bool) -> Effect {
        if !self.is_acked && could_hear {
            return Effect::Over(Ended::Zombie);
        }
        self.is_acked = false;
        Effect::Beat
    }

    /// Takes in what came. What is no frame, and what is new to us, says nothing.
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
        // What comes before we are taken in is replayed.
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
