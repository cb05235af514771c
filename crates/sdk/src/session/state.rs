//! The states of a session.

use std::mem;
use std::time::Duration;

use nightdesk_protocol::close::Close;
use nightdesk_protocol::{Frame, ToGateway};
use nightdesk_types::Moment;

use super::entries::{Entries, Flooded};
use super::ladder::Ladder;
use super::line::{Line, Why};
use super::quiet::Quiet;
use super::sends::Sends;
use super::{Content, Effect, Ended, Input, Seed, Unsaid};
use crate::status::{End, Idle, Status, Trouble};

/// The agent's side of the conversation.
#[derive(Debug)]
pub(crate) struct Session {
    hellos: Vec<Frame>,
    ladder: Ladder,
    entries: Entries,
    sends: Sends,
    quiet: Quiet,
    state: State,
}

/// Each state owns exactly its data.
#[derive(Debug)]
enum State {
    /// The time of the next dial.
    Resting { until: Moment },
    /// A dial is in progress.
    Dialling,
    /// A line is open.
    Open(Box<Line>),
    /// The session has ended.
    Over,
}

impl Session {
    /// Creates a session that dials at once, and sends these hellos on every line.
    pub(crate) fn new(now: Moment, hellos: Vec<Frame>, seed: Seed) -> Self {
        Self {
            hellos,
            ladder: Ladder::new(seed.dials),
            entries: Entries::new(),
            sends: Sends::new(seed.requests),
            quiet: Quiet::never_sleeping(now),
            state: State::Resting { until: now },
        }
    }

    /// Lets it fall asleep after this time of quiet.
    pub(crate) fn sleeping_after(mut self, quiet_for: Duration) -> Self {
        self.quiet.sleep_after(quiet_for);
        self
    }

    /// Takes an input and returns the effects.
    pub(crate) fn step(&mut self, now: Moment, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        if input.is_work() {
            self.stir(now);
        }
        match input {
            Input::Asked(ask, _) if self.is_over() => {
                effects.push(Effect::Answer(ask, Err(Unsaid::Over)));
            }
            Input::Asked(ask, wish) => self.sends.ask(now, ask, wish, &mut effects),
            Input::Taken(ticket) => self.entries.taken(ticket, &mut effects),
            Input::Handled(ticket, how) => self.entries.turned(ticket, how, &mut effects),
            Input::Dialled => self.open(now, &mut effects),
            Input::DialFailed(why) => self.dial_failed(now, why, &mut effects),
            Input::Heard(frame) => self.heard(now, frame, &mut effects),
            Input::Alive => self.alive(now),
            Input::Ended(ended) => self.ended(now, &ended, &mut effects),
            Input::Busy(held) => self.quiet.busy(held),
            Input::GoIdle => self.go_idle(now, &mut effects),
            Input::Disconnect => self.hang_up(End::Disconnected, &mut effects),
            Input::Tick => self.tick(now, &mut effects),
        }
        self.go_on(now, &mut effects);
        effects
    }

    /// Returns the time at which the session needs a tick, if no input arrives before.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        let own = match &self.state {
            State::Resting { until } => Some(*until),
            State::Open(line) => Some(line.deadline()),
            State::Dialling | State::Over => None,
        };
        [own, self.sends.deadline(), self.sleep_at()].into_iter().flatten().min()
    }

    /// Returns true if the session has ended.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Performs steps that became possible: begins turns, writes sends, falls asleep, ends an idle line.
    fn go_on(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.is_over() {
            return;
        }
        self.entries.begin(effects);
        let live = matches!(&self.state, State::Open(line) if line.is_live());
        if live {
            self.sends.say(now, effects);
        }
        self.sends.give_up(now, if live { Unsaid::Busy } else { Unsaid::NoLine }, effects);
        // A caller that gets an answer may send another request.
        if effects.iter().any(|effect| matches!(effect, Effect::Answer(..))) {
            self.stir(now);
        }
        self.sleep_if_quiet(now, effects);
        self.hang_up_if_idle(now, effects);
    }

    /// Records work.
    fn stir(&mut self, now: Moment) {
        self.quiet.stirred(now);
        if let State::Open(line) = &mut self.state {
            line.stir();
        }
    }

    /// Returns the time to fall asleep if no input arrives. Never without a line: the entry that the agent was woken
    /// for may not have arrived yet. Never with work in hand.
    fn sleep_at(&self) -> Option<Moment> {
        let State::Open(line) = &self.state else { return None };
        let awake = line.is_live() && line.going_idle().is_none();
        let settled = self.entries.is_settled() && self.sends.is_settled();
        let at = self.quiet.sleep_at();
        at.filter(|_| awake && settled && !self.entries.is_unacked())
    }

    fn sleep_if_quiet(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.sleep_at().is_some_and(|at| now >= at) {
            self.say_idle(now, Why::Quiet, effects);
        }
    }

    fn say_idle(&mut self, now: Moment, why: Why, effects: &mut Vec<Effect>) {
        if let State::Open(line) = &mut self.state
            && line.go_idle(now, why)
        {
            effects.push(Effect::Say(Frame::going_idle()));
        }
    }

    fn open(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if matches!(self.state, State::Dialling) {
            effects.extend(self.hellos.iter().cloned().map(Effect::Say));
            self.state = State::Open(Box::new(Line::opened(now, self.hellos.len())));
        }
    }

    fn dial_failed(&mut self, now: Moment, why: Trouble, effects: &mut Vec<Effect>) {
        if matches!(self.state, State::Dialling) {
            let rest_for = self.ladder.rest();
            self.rest(now, why, rest_for, effects);
        }
    }

    fn alive(&mut self, now: Moment) {
        if let State::Open(line) = &mut self.state {
            line.alive(now);
        }
    }

    fn heard(&mut self, now: Moment, frame: ToGateway, effects: &mut Vec<Effect>) {
        let State::Open(line) = &mut self.state else { return };
        line.alive(now);
        let come = match frame {
            ToGateway::Descriptor(descriptor) => {
                if let Some(all) = line.described(*descriptor) {
                    effects.extend([Effect::Greeted(all), Effect::Show(Status::Live)]);
                }
                Ok(())
            }
            ToGateway::Inbound { event, buffer_id } => {
                self.entries.come(Content::Message(event), buffer_id, effects)
            }
            ToGateway::PassthroughForward { forward, buffer_id } => {
                self.entries.come(Content::Forward(forward), buffer_id, effects)
            }
            ToGateway::OutboundResult { request_id, result } => {
                self.sends.answered(&request_id, *result, effects);
                Ok(())
            }
            ToGateway::InterruptInbound { session_key, chat_id: _ } => {
                effects.extend(self.entries.turn_of(&session_key).map(Effect::Stop));
                Ok(())
            }
            ToGateway::GoingIdleAck => {
                line.idle_acked();
                Ok(())
            }
            // A frame of a newer contract, or noise.
            ToGateway::Unknown { .. } | ToGateway::Malformed(_) => Ok(()),
        };
        if let Err(Flooded) = come {
            self.give_up_line(now, Trouble::Flooded, effects);
        }
    }

    fn ended(&mut self, now: Moment, ended: &Ended, effects: &mut Vec<Effect>) {
        /// The desk's close reason for an expired token; the next token is new.
        const EXPIRED: &str = "expired";
        let Some(line) = self.lose_line(now, effects) else { return };
        let revoked = ended.code == Close::Revoked.code() && ended.reason != EXPIRED;
        // A line that was only quiet is dialled again: the desk may not know of the intended sleep.
        if line.going_idle() == Some(Why::Told) {
            let settled = line.is_idle_acked() && self.entries.is_settled();
            return self.over(End::Idle(Idle::of(settled)), effects);
        }
        let rest_for = if revoked && self.ladder.revoked() {
            return self.over(End::Revoked, effects);
        } else if revoked {
            // One revocation may be a mistake, such as during a rotation of the secret. The dial is repeated at once,
            // because nothing else helps.
            Duration::ZERO
        } else if ended.code == Close::Restarting.code() {
            self.ladder.rest_after_restart()
        } else {
            self.ladder.rest()
        };
        self.rest(now, Trouble::Ended { code: ended.code }, rest_for, effects);
    }

    fn go_idle(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        match &self.state {
            State::Open(_) => self.say_idle(now, Why::Told, effects),
            // Without a line the desk already knows; but turns may still run.
            State::Resting { .. } | State::Dialling => {
                let settled = self.entries.is_settled();
                self.hang_up(End::Idle(Idle::of(settled)), effects);
            }
            State::Over => {}
        }
    }

    /// Closes an idle line once the desk confirmed it and every turn ended, or the timeout is reached.
    fn hang_up_if_idle(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let State::Open(line) = &self.state else { return };
        let settled = line.is_idle_acked() && self.entries.is_settled();
        if !settled && !line.is_idle_late(now) {
            return;
        }
        match line.going_idle() {
            Some(Why::Told) => self.hang_up(End::Idle(Idle::of(settled)), effects),
            // A desk that does not answer gets the close, or detects the missing line soon.
            Some(Why::Quiet) => self.hang_up(End::Asleep, effects),
            None => {}
        }
    }

    fn tick(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        match &mut self.state {
            State::Resting { until } if now >= *until => {
                self.state = State::Dialling;
                effects.extend([Effect::Show(Status::Dialling), Effect::Dial]);
            }
            State::Open(line) => match line.trouble(now) {
                Some(why) => self.give_up_line(now, why, effects),
                None => line.ping(now, effects),
            },
            State::Resting { .. } | State::Dialling | State::Over => {}
        }
    }

    /// Ends a line that is not usable any more.
    fn give_up_line(&mut self, now: Moment, why: Trouble, effects: &mut Vec<Effect>) {
        effects.push(Effect::Close(Close::GoingAway));
        if self.lose_line(now, effects).is_some() {
            let rest_for = self.ladder.rest();
            self.rest(now, why, rest_for, effects);
        }
    }

    /// Handles the loss of a line. Returns the line, for its state.
    fn lose_line(&mut self, now: Moment, effects: &mut Vec<Effect>) -> Option<Line> {
        let line = match mem::replace(&mut self.state, State::Over) {
            State::Open(line) => line,
            other @ (State::Resting { .. } | State::Dialling | State::Over) => {
                self.state = other;
                return None;
            }
        };
        self.ladder.lived(line.open_for(now));
        self.entries.line_ended();
        self.sends.line_ended(effects);
        Some(*line)
    }

    fn rest(&mut self, now: Moment, why: Trouble, rest_for: Duration, effects: &mut Vec<Effect>) {
        self.state = State::Resting { until: now + rest_for };
        effects.push(Effect::Show(Status::Resting { why, rest_for }));
    }

    fn hang_up(&mut self, end: End, effects: &mut Vec<Effect>) {
        if !self.is_over() {
            effects.push(Effect::Close(Close::Done));
            self.over(end, effects);
        }
    }

    fn over(&mut self, end: End, effects: &mut Vec<Effect>) {
        self.state = State::Over;
        self.sends.over(effects);
        effects.push(Effect::Show(Status::Over(end)));
    }
}
