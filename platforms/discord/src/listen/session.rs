//! State machine of one socket, from the hello to the end: it takes frames and returns effects.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::cursor::SessionCursor;

/// Time limit of the hello.
const HELLO_WAIT: Duration = Duration::from_secs(10);

/// Time limit of the response to identify or resume.
const READY_WAIT: Duration = Duration::from_secs(30);

/// The limits of an accepted heartbeat interval.
const BEAT_MAX: Duration = Duration::from_mins(2);
const BEAT_MIN: Duration = Duration::from_millis(50);

/// Phases of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionPhase {
    /// No hello has arrived.
    Greeting,
    /// Identify or resume was sent.
    Introducing,
    Live,
}

/// A dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DispatchEvent {
    /// The event's type.
    pub(super) kind: String,
    /// The event's data, in JSON.
    pub(super) data: String,
    /// The position after the event.
    pub(super) cursor: SessionCursor,
    /// True if events before this one may be missing.
    pub(super) is_after_gap: bool,
}

/// Effects that the driver executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GatewayEffect {
    /// Send heartbeats at this interval from now on.
    BeatEvery(Duration),
    /// Send a heartbeat now.
    Beat,
    /// Resume the session.
    Resume,
    /// Begin a new session.
    Identify,
    Tell(DispatchEvent),
    Over(ConnectionEnd),
}

/// Ends of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
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
struct GatewayFrame<'f> {
    op: u8,
    s: Option<u64>,
    #[serde(borrow)]
    t: Option<Cow<'f, str>>,
    #[serde(borrow)]
    d: Option<&'f RawValue>,
}

#[derive(Deserialize)]
struct GatewayHello {
    heartbeat_interval: u64,
}

#[derive(Deserialize)]
struct ReadyEvent {
    session_id: String,
    resume_gateway_url: String,
}

/// The conversation on one socket.
#[derive(Debug)]
pub(super) struct GatewaySession {
    phase: SessionPhase,
    session: Option<SessionCursor>,
    /// True if there was an earlier session.
    is_after_another: bool,
    /// The number after which an event is missing for good, because Discord did not replay it once.
    lost_after: Option<u64>,
    is_acked: bool,
}

impl GatewaySession {
    /// Creates a conversation that resumes a session, or begins one.
    pub(super) const fn new(
        session: Option<SessionCursor>,
        is_after_another: bool,
        lost_after: Option<u64>,
    ) -> Self {
        Self {
            phase: SessionPhase::Greeting,
            session,
            is_after_another,
            lost_after,
            is_acked: true,
        }
    }

    /// Returns the session with the position of its last event.
    pub(super) const fn cursor(&self) -> Option<&SessionCursor> {
        self.session.as_ref()
    }

    /// Returns true if Discord has accepted the session.
    pub(super) fn is_live(&self) -> bool {
        self.phase == SessionPhase::Live
    }

    /// Returns the time limit of the current phase, and the end when it expires.
    pub(super) const fn phase_deadline(&self) -> Option<(Duration, ConnectionEnd)> {
        match self.phase {
            SessionPhase::Greeting => Some((HELLO_WAIT, ConnectionEnd::NotReached)),
            SessionPhase::Introducing => Some((READY_WAIT, ConnectionEnd::Unanswered)),
            SessionPhase::Live => None,
        }
    }

    /// Handles a heartbeat tick. A missing acknowledgement counts only if it could have been read.
    pub(super) const fn tick_heartbeat(&mut self, could_hear: bool) -> GatewayEffect {
        if !self.is_acked && could_hear {
            return GatewayEffect::Over(ConnectionEnd::Zombie);
        }
        self.is_acked = false;
        GatewayEffect::Beat
    }

    /// Handles a frame. Invalid frames and unknown ops have no effect.
    pub(super) fn handle_frame(&mut self, text: &str) -> Vec<GatewayEffect> {
        let Ok(frame) = serde_json::from_str::<GatewayFrame<'_>>(text) else { return Vec::new() };
        let data = frame.d.map_or("null", RawValue::get);
        match frame.op {
            0 => self.handle_dispatch(frame.t.as_deref().unwrap_or_default(), frame.s, data),
            1 => vec![GatewayEffect::Beat],
            7 => vec![GatewayEffect::Over(ConnectionEnd::Reconnect)],
            9 => vec![GatewayEffect::Over(ConnectionEnd::Invalid { is_resumable: data == "true" })],
            10 => self.handle_hello(data),
            11 => {
                self.is_acked = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn handle_hello(&mut self, data: &str) -> Vec<GatewayEffect> {
        let Ok(GatewayHello { heartbeat_interval }) = serde_json::from_str(data) else {
            return vec![GatewayEffect::Over(ConnectionEnd::NotReached)];
        };
        let every = Duration::from_millis(heartbeat_interval).clamp(BEAT_MIN, BEAT_MAX);
        self.phase = SessionPhase::Introducing;
        let next =
            if self.session.is_some() { GatewayEffect::Resume } else { GatewayEffect::Identify };
        vec![GatewayEffect::BeatEvery(every), next]
    }

    fn handle_dispatch(&mut self, kind: &str, seq: Option<u64>, data: &str) -> Vec<GatewayEffect> {
        let Some(seq) = seq else { return Vec::new() };
        if kind == "READY" {
            return self.handle_ready(seq, data);
        }
        // Events before `RESUMED` are replayed ones.
        if kind == "RESUMED" {
            self.phase = SessionPhase::Live;
        }
        let Some(session) = &mut self.session else { return Vec::new() };
        if seq <= session.seq {
            return Vec::new();
        }
        let is_missing = seq > session.seq + 1;
        if is_missing && self.lost_after != Some(session.seq) {
            return vec![GatewayEffect::Over(ConnectionEnd::Gap)];
        }
        session.seq = seq;
        vec![GatewayEffect::Tell(DispatchEvent {
            kind: kind.to_owned(),
            data: data.to_owned(),
            cursor: session.clone(),
            is_after_gap: is_missing,
        })]
    }

    fn handle_ready(&mut self, seq: u64, data: &str) -> Vec<GatewayEffect> {
        let Ok(ReadyEvent { session_id, resume_gateway_url }) = serde_json::from_str(data) else {
            return vec![GatewayEffect::Over(ConnectionEnd::Unanswered)];
        };
        self.phase = SessionPhase::Live;
        let cursor = SessionCursor { session: session_id, url: resume_gateway_url, seq };
        self.session = Some(cursor.clone());
        let is_after_gap = std::mem::replace(&mut self.is_after_another, true);
        vec![GatewayEffect::Tell(DispatchEvent {
            kind: "READY".to_owned(),
            data: data.to_owned(),
            cursor,
            is_after_gap,
        })]
    }
}

#[cfg(test)]
mod tests;
