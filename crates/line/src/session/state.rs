//! The states of a session.

use std::mem;

use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{HELLO_WAIT, HELLOS_MAX, WINDOW_ENTRIES_MAX};
use nightdesk_types::{ClientRules, Moment, Transport};

use super::live::LiveLine;
use super::{LineClient, LineEffect, LineInput, SessionTime};
use crate::store::{CloseRecord, ClosingSide};

/// The protocol state of a line.
#[derive(Debug)]
pub struct LineSession {
    client: LineClient,
    /// The bots that the line sent a hello for.
    hellos: Vec<Hello>,
    /// The rules that the client's frames call for.
    shown: Option<ClientRules>,
    /// The rules in the store, once the line is the agent's newest.
    kept: Option<ClientRules>,
    sessions: LiveSessions,
    state: LineState,
}

/// The live sessions of the agent. A line begins without any in the store.
#[derive(Debug, Default)]
struct LiveSessions {
    /// Those that the agent named last.
    named: SessionNames,
    /// Those in the store.
    stored: SessionNames,
}

/// The states, each with exactly its own data.
#[derive(Debug)]
enum LineState {
    /// Waiting for the first hello, and for its lookup.
    Greeting { until: Moment },
    /// The line is becoming the agent's newest. `described`: the time of its first descriptor.
    Taking { until: Moment, described: Moment },
    /// Entries go out, acks and sends come back.
    Live(Box<LiveLine>),
    /// The session is over.
    Closed,
}

impl LineSession {
    /// Creates the session of a newly opened line.
    pub fn new(now: SessionTime, client: LineClient) -> Self {
        let until = now.moment + HELLO_WAIT;
        Self {
            client,
            hellos: Vec::new(),
            shown: None,
            kept: None,
            sessions: LiveSessions::default(),
            state: LineState::Greeting { until },
        }
    }

    /// Handles an input and returns the effects. After its end, a session has none: a lookup or a read that was still
    /// running must not put a frame behind the close.
    pub fn step(&mut self, now: SessionTime, input: LineInput) -> Vec<LineEffect> {
        let mut effects = Vec::new();
        if self.is_closed() {
            return effects;
        }
        self.learn_from(&input);
        if let LineInput::Heard(FromGateway::Hello(hello)) = input {
            self.accept_hello(hello, &mut effects);
        } else if let LineInput::Greeted(greeted) = input {
            effects.push(LineEffect::Say(Frame::descriptor(&greeted.descriptor)));
            self.begin_taking(now, &mut effects);
        } else {
            self.state_step(now, input, &mut effects);
        }
        self.follow_rules(&mut effects);
        self.tell_sessions(&mut effects);
        debug_assert!(
            self.unacked_entries() <= WINDOW_ENTRIES_MAX,
            "a line never holds more than its window"
        );
        effects
    }

    /// Returns the time of the next `Tick`, if no other input comes before.
    pub fn deadline(&self) -> Option<Moment> {
        match &self.state {
            LineState::Greeting { until } | LineState::Taking { until, .. } => Some(*until),
            LineState::Live(live) => live.deadline(),
            LineState::Closed => None,
        }
    }

    /// Returns true if the session is over.
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, LineState::Closed)
    }

    /// Returns the hellos of the line.
    pub fn hellos(&self) -> &[Hello] {
        &self.hellos
    }

    /// Returns the number of delivered and unacknowledged entries.
    pub fn unacked_entries(&self) -> usize {
        match &self.state {
            LineState::Live(live) => live.unacked_entries(),
            LineState::Greeting { .. } | LineState::Taking { .. } | LineState::Closed => 0,
        }
    }

    /// Learns from the client's frames which rules it must be served by, and which sessions live.
    fn learn_from(&mut self, input: &LineInput) {
        if let LineInput::Heard(FromGateway::Hello(hello)) = input {
            self.shown = hello.client_rules().or(self.shown);
        } else if let LineInput::Heard(FromGateway::Outbound(outbound)) = input {
            let is_newer = matches!(&outbound.action, Action::Send(send) if send.op.is_newer());
            if is_newer && self.shown != Some(ClientRules::Sdk) {
                self.shown = Some(ClientRules::Hermes020);
            }
        } else if let LineInput::Heard(FromGateway::Sessions(sessions)) = input {
            self.sessions.named = sessions.clone();
        } else if let LineInput::Taken(taken) = input {
            self.kept = Some(taken.rules);
        }
    }

    /// Stores the sessions that the agent named, once the line is the agent's newest.
    fn tell_sessions(&mut self, effects: &mut Vec<LineEffect>) {
        if self.kept.is_none() || self.is_closed() {
            return;
        }
        let LiveSessions { named, stored } = &mut self.sessions;
        if named == stored {
            return;
        }
        stored.clone_from(named);
        effects.push(LineEffect::TellSessions(stored.clone()));
    }

    fn follow_rules(&mut self, effects: &mut Vec<LineEffect>) {
        let (Some(shown), Some(kept)) = (self.shown, self.kept) else { return };
        if shown != kept && !self.is_closed() {
            self.kept = Some(shown);
            effects.push(LineEffect::FollowRules(shown));
        }
    }

    /// Handles a hello. Each hello is answered with a descriptor, in order.
    fn accept_hello(&mut self, hello: Hello, effects: &mut Vec<LineEffect>) {
        if self.hellos.len() == HELLOS_MAX || self.is_closed() {
            return;
        }
        let (platform, bot_handle) = (hello.platform.clone(), hello.bot_handle.clone());
        self.hellos.push(Hello { platform, bot_handle, commands: None, client: None });
        effects.push(LineEffect::Greet(Box::new(hello)));
    }

    /// Takes the line after the first descriptor. A line whose first lookup failed ends untaken: the store must not
    /// call it open.
    fn begin_taking(&mut self, now: SessionTime, effects: &mut Vec<LineEffect>) {
        if let LineState::Greeting { until } = self.state {
            self.state = LineState::Taking { until, described: now.moment };
            effects.push(LineEffect::Take(self.shown));
        }
    }

    fn state_step(&mut self, now: SessionTime, input: LineInput, effects: &mut Vec<LineEffect>) {
        let state = mem::replace(&mut self.state, LineState::Closed);
        self.state = match state {
            LineState::Greeting { until } => {
                step_before_live(LineState::Greeting { until }, until, now, input, effects)
            }
            LineState::Taking { until, described } => {
                if let LineInput::Taken(taken) = input {
                    // A client without a socket reads nothing while it boots.
                    let is_sdk = self.shown == Some(ClientRules::Sdk)
                        || self.client.transport != Transport::WebSocket;
                    let live = LiveLine::new(self.client, taken, described, is_sdk);
                    step_live(live, now, LineInput::Rung(None), effects)
                } else {
                    step_before_live(
                        LineState::Taking { until, described },
                        until,
                        now,
                        input,
                        effects,
                    )
                }
            }
            LineState::Live(live) => step_live(*live, now, input, effects),
            LineState::Closed => LineState::Closed,
        };
    }
}

fn step_live(
    mut live: LiveLine,
    now: SessionTime,
    input: LineInput,
    effects: &mut Vec<LineEffect>,
) -> LineState {
    match live.step(now, input, effects) {
        Some(end) => {
            effects.push(LineEffect::End(end));
            LineState::Closed
        }
        None => LineState::Live(Box::new(live)),
    }
}

/// Handles an input before the line has its number. Most inputs have no effect yet.
fn step_before_live(
    state: LineState,
    until: Moment,
    now: SessionTime,
    input: LineInput,
    effects: &mut Vec<LineEffect>,
) -> LineState {
    let close = match input {
        LineInput::Heard(FromGateway::Outbound(outbound)) => {
            let outcome = Outcome::failed("send a hello first");
            effects.push(LineEffect::Say(Frame::outbound_result(&outbound.request_id, &outcome)));
            return state;
        }
        LineInput::Heard(FromGateway::GoingIdle) => {
            effects.push(LineEffect::Say(Frame::going_idle_ack()));
            return state;
        }
        LineInput::Tick if now.moment >= until => Close::Policy,
        LineInput::StoreLost | LineInput::ReadFailed => Close::TryLater,
        LineInput::Replaced => Close::Replaced,
        LineInput::Revoked => Close::Revoked,
        LineInput::Drain | LineInput::HistoryChanged => Close::Restarting,
        LineInput::Misbehaved(close) => close,
        LineInput::Ended { code } => {
            effects.push(LineEffect::End(CloseRecord {
                code,
                tried: None,
                closed_by: ClosingSide::Client,
            }));
            return LineState::Closed;
        }
        LineInput::Heard(_)
        | LineInput::Pong
        | LineInput::Pinged
        | LineInput::Greeted(_)
        | LineInput::Taken(_)
        | LineInput::Rung(_)
        | LineInput::Read(_)
        | LineInput::SuspectFailed
        | LineInput::Undelivered(_)
        | LineInput::Sent(..)
        | LineInput::Stop { .. }
        | LineInput::StopFailed(_)
        | LineInput::Tick => return state,
    };
    effects.push(LineEffect::Close(close));
    effects.push(LineEffect::End(CloseRecord {
        code: close.code(),
        tried: None,
        closed_by: ClosingSide::Desk,
    }));
    LineState::Closed
}
