//! The states of a session.

use std::mem;

use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{HELLO_WAIT, HELLOS_MAX, WINDOW_ENTRIES_MAX};
use nightdesk_types::{ClientRules, Moment};

use super::live::Live;
use super::{Client, Effect, Input, Now};
use crate::store::{End, Parting};

/// The protocol state of a line.
#[derive(Debug)]
pub struct Session {
    client: Client,
    /// The bots that the line sent a hello for.
    hellos: Vec<Hello>,
    /// The rules that the client's frames call for.
    shown: Option<ClientRules>,
    /// The rules in the store, once the line is the agent's newest.
    kept: Option<ClientRules>,
    state: State,
}

/// The states, each with exactly its own data.
#[derive(Debug)]
enum State {
    /// Waiting for the first hello.
    Greeting { until: Moment },
    /// The line is becoming the agent's newest. `described`: the time of its first descriptor.
    Taking { until: Moment, described: Option<Moment> },
    /// Entries go out, acks and sends come back.
    Live(Box<Live>),
    /// The session is over.
    Closed,
}

impl Session {
    /// Creates the session of a newly opened line.
    pub fn opened(now: Now, client: Client) -> Self {
        let until = now.moment + HELLO_WAIT;
        Self {
            client,
            hellos: Vec::new(),
            shown: None,
            kept: None,
            state: State::Greeting { until },
        }
    }

    /// Handles an input and returns the effects.
    pub fn step(&mut self, now: Now, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.learn_rules(&input);
        if let Input::Heard(FromGateway::Hello(hello)) = input {
            self.hello(hello, &mut effects);
        } else if let Input::Greeted(greeted) = input {
            effects.push(Effect::Say(Frame::descriptor(&greeted.descriptor)));
            self.described(now);
        } else {
            self.state_step(now, input, &mut effects);
        }
        self.follow_rules(&mut effects);
        debug_assert!(
            self.unacked_entries() <= WINDOW_ENTRIES_MAX,
            "a line never holds more than its window"
        );
        effects
    }

    /// Returns the time of the next `Tick`, if no other input comes before.
    pub fn deadline(&self) -> Option<Moment> {
        match &self.state {
            State::Greeting { until } | State::Taking { until, .. } => Some(*until),
            State::Live(live) => live.deadline(),
            State::Closed => None,
        }
    }

    /// Returns true if the session is over.
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Returns the hellos of the line.
    pub fn hellos(&self) -> &[Hello] {
        &self.hellos
    }

    /// Returns the number of delivered and unacknowledged entries.
    pub fn unacked_entries(&self) -> usize {
        match &self.state {
            State::Live(live) => live.unacked_entries(),
            State::Greeting { .. } | State::Taking { .. } | State::Closed => 0,
        }
    }

    /// Learns from the client's frames which rules it must be served by.
    fn learn_rules(&mut self, input: &Input) {
        if let Input::Heard(FromGateway::Hello(hello)) = input {
            self.shown = hello.client_rules().or(self.shown);
        } else if let Input::Heard(FromGateway::Outbound(outbound)) = input {
            let is_newer = matches!(&outbound.action, Action::Send(send) if send.op.is_newer());
            if is_newer && self.shown != Some(ClientRules::Sdk) {
                self.shown = Some(ClientRules::Hermes020);
            }
        } else if let Input::Taken(taken) = input {
            self.kept = Some(taken.rules);
        }
    }

    fn follow_rules(&mut self, effects: &mut Vec<Effect>) {
        let (Some(shown), Some(kept)) = (self.shown, self.kept) else { return };
        if shown != kept && !self.is_closed() {
            self.kept = Some(shown);
            effects.push(Effect::FollowRules(shown));
        }
    }

    /// Handles a hello. Each hello is answered with a descriptor, in order; the first also takes the line.
    fn hello(&mut self, hello: Hello, effects: &mut Vec<Effect>) {
        if self.hellos.len() == HELLOS_MAX || self.is_closed() {
            return;
        }
        let (platform, bot_handle) = (hello.platform.clone(), hello.bot_handle.clone());
        self.hellos.push(Hello { platform, bot_handle, commands: None, client: None });
        effects.push(Effect::Greet(Box::new(hello)));
        if let State::Greeting { until } = self.state {
            self.state = State::Taking { until, described: None };
            effects.push(Effect::Take);
        }
    }

    fn described(&mut self, now: Now) {
        if let State::Taking { described, .. } = &mut self.state {
            described.get_or_insert(now.moment);
        }
    }

    fn state_step(&mut self, now: Now, input: Input, effects: &mut Vec<Effect>) {
        let state = mem::replace(&mut self.state, State::Closed);
        self.state = match state {
            State::Greeting { until } => {
                before_live(State::Greeting { until }, until, now, input, effects)
            }
            State::Taking { until, described } => {
                if let Input::Taken(taken) = input {
                    let described = described.unwrap_or(now.moment);
                    let is_sdk = self.shown == Some(ClientRules::Sdk);
                    let live = Live::taken(self.client, taken, described, is_sdk);
                    stepped(live, now, Input::Rung(None), effects)
                } else {
                    before_live(State::Taking { until, described }, until, now, input, effects)
                }
            }
            State::Live(live) => stepped(*live, now, input, effects),
            State::Closed => State::Closed,
        };
    }
}

fn stepped(mut live: Live, now: Now, input: Input, effects: &mut Vec<Effect>) -> State {
    match live.step(now, input, effects) {
        Some(end) => {
            effects.push(Effect::End(end));
            State::Closed
        }
        None => State::Live(Box::new(live)),
    }
}

/// Handles an input before the line has its number. Most inputs have no effect yet.
fn before_live(
    state: State,
    until: Moment,
    now: Now,
    input: Input,
    effects: &mut Vec<Effect>,
) -> State {
    let close = match input {
        Input::Heard(FromGateway::Outbound(outbound)) => {
            let outcome = Outcome::failed("send a hello first");
            effects.push(Effect::Say(Frame::outbound_result(&outbound.request_id, &outcome)));
            return state;
        }
        Input::Heard(FromGateway::GoingIdle) => {
            effects.push(Effect::Say(Frame::going_idle_ack()));
            return state;
        }
        Input::Tick if now.moment >= until => Close::Policy,
        Input::StoreLost | Input::ReadFailed => Close::TryLater,
        Input::Replaced => Close::Replaced,
        Input::Revoked => Close::Revoked,
        Input::Drain => Close::Restarting,
        Input::Misbehaved(close) => close,
        Input::Ended { code } => {
            effects.push(Effect::End(End { code, tried: None, parting: Parting::Client }));
            return State::Closed;
        }
        Input::Heard(_)
        | Input::Pong
        | Input::Pinged
        | Input::Greeted(_)
        | Input::Taken(_)
        | Input::Rung(_)
        | Input::Read(_)
        | Input::SuspectFailed
        | Input::Sent(..)
        | Input::Stop { .. }
        | Input::Tick => return state,
    };
    effects.push(Effect::Close(close));
    effects.push(Effect::End(End { code: close.code(), tried: None, parting: Parting::Desk }));
    State::Closed
}
