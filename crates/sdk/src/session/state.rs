//! The states of a session.

use std::mem;
use std::time::Duration;

use nightdesk_protocol::close::Close;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{Frame, ToGateway};
use nightdesk_types::Moment;

use super::backoff::DialBackoff;
use super::entries::{Entries, TooManyEntries};
use super::idle_timer::IdleTimer;
use super::line::{AgentLine, IdleReason};
use super::sends::Sends;
use super::{Content, Input, RequestFailure, Seed, SessionEffect, SocketClose};
use crate::status::{AgentEnd, Idle, Status, Trouble};

/// The agent's side of the conversation.
#[derive(Debug)]
pub(crate) struct AgentSession {
    hellos: Vec<Frame>,
    ladder: DialBackoff,
    entries: Entries,
    sends: Sends,
    quiet: IdleTimer,
    /// The live sessions that the agent named last, for every line.
    named: Option<SessionNames>,
    state: SessionState,
}

/// Each state owns exactly its data.
#[derive(Debug)]
enum SessionState {
    /// The time of the next dial.
    Resting { until: Moment },
    /// A dial is in progress.
    Dialling,
    /// A line is open.
    Open(Box<AgentLine>),
    /// The session has ended.
    Over,
}

impl AgentSession {
    /// Creates a session that dials at once, and sends these hellos on every line.
    pub(crate) fn new(now: Moment, hellos: Vec<Frame>, seed: Seed) -> Self {
        Self {
            hellos,
            ladder: DialBackoff::new(seed.dials),
            entries: Entries::new(),
            sends: Sends::new(seed.requests),
            quiet: IdleTimer::never_sleeping(now),
            named: None,
            state: SessionState::Resting { until: now },
        }
    }

    /// Lets it fall asleep after this time of quiet.
    pub(crate) fn sleeping_after(mut self, quiet_for: Duration) -> Self {
        self.quiet.sleep_after(quiet_for);
        self
    }

    /// Takes an input and returns the effects.
    pub(crate) fn step(&mut self, now: Moment, input: Input) -> Vec<SessionEffect> {
        let mut effects = Vec::new();
        if input.is_work() {
            self.record_work(now);
        }
        match input {
            Input::Asked(ask, _) if self.is_over() => {
                effects.push(SessionEffect::Answer(ask, Err(RequestFailure::Over)));
            }
            Input::Asked(ask, wish) => self.sends.enqueue(now, ask, wish, &mut effects),
            Input::Taken(ticket) => self.entries.mark_taken(ticket, &mut effects),
            Input::Handled(ticket, how) => self.entries.end_turn(ticket, how, &mut effects),
            Input::Dialled => self.open(now, &mut effects),
            Input::DialFailed(why) => self.dial_failed(now, why, &mut effects),
            Input::Heard(frame) => self.take_frame(now, frame, &mut effects),
            Input::Alive => self.record_alive(now),
            Input::Ended(ended) => self.end_line(now, &ended, &mut effects),
            Input::Busy(held) => self.quiet.set_busy(held),
            Input::Sessions(sessions) => self.name_sessions(sessions, &mut effects),
            Input::GoIdle => self.go_idle(now, &mut effects),
            Input::Disconnect => self.hang_up(AgentEnd::Disconnected, &mut effects),
            Input::Tick => self.tick(now, &mut effects),
        }
        self.go_on(now, &mut effects);
        effects
    }

    /// Returns the time at which the session needs a tick, if no input arrives before.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        let own = match &self.state {
            SessionState::Resting { until } => Some(*until),
            SessionState::Open(line) => Some(line.deadline()),
            SessionState::Dialling | SessionState::Over => None,
        };
        [own, self.sends.deadline(), self.sleep_at()].into_iter().flatten().min()
    }

    /// Returns true if the session has ended.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, SessionState::Over)
    }

    /// Returns true if a line is open and every hello is answered.
    fn is_live(&self) -> bool {
        matches!(&self.state, SessionState::Open(line) if line.is_live())
    }

    fn name_sessions(&mut self, sessions: SessionNames, effects: &mut Vec<SessionEffect>) {
        self.named = Some(sessions);
        if self.is_live() {
            self.say_sessions(effects);
        }
    }

    /// The desk forgets sessions with their line, so every line names them.
    fn say_sessions(&self, effects: &mut Vec<SessionEffect>) {
        let frame = self.named.as_ref().map(Frame::sessions);
        effects.extend(frame.and_then(Result::ok).map(SessionEffect::Say));
    }

    /// Performs steps that became possible: begins turns, writes sends, falls asleep, ends an idle line.
    fn go_on(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        if self.is_over() {
            return;
        }
        self.entries.begin(effects);
        let live = self.is_live();
        if live {
            self.sends.write_queued(now, effects);
        }
        self.sends.give_up(
            now,
            if live { RequestFailure::Busy } else { RequestFailure::NoLine },
            effects,
        );
        // A caller that gets an answer may send another request.
        if effects.iter().any(|effect| matches!(effect, SessionEffect::Answer(..))) {
            self.record_work(now);
        }
        self.sleep_if_quiet(now, effects);
        self.hang_up_if_idle(now, effects);
    }

    /// Records work.
    fn record_work(&mut self, now: Moment) {
        self.quiet.record_work(now);
        if let SessionState::Open(line) = &mut self.state {
            line.cancel_quiet_idle();
        }
    }

    /// Returns the time to fall asleep if no input arrives. Never without a line: the entry that the agent was woken
    /// for may not have arrived yet. Never with work in hand.
    fn sleep_at(&self) -> Option<Moment> {
        let SessionState::Open(line) = &self.state else { return None };
        let awake = line.is_live() && line.going_idle().is_none();
        let settled = self.entries.is_settled() && self.sends.is_settled();
        let at = self.quiet.sleep_at();
        at.filter(|_| awake && settled && !self.entries.is_unacked())
    }

    fn sleep_if_quiet(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        if self.sleep_at().is_some_and(|at| now >= at) {
            self.say_idle(now, IdleReason::Quiet, effects);
        }
    }

    fn say_idle(&mut self, now: Moment, why: IdleReason, effects: &mut Vec<SessionEffect>) {
        if let SessionState::Open(line) = &mut self.state
            && line.go_idle(now, why)
        {
            effects.push(SessionEffect::Say(Frame::going_idle()));
        }
    }

    fn open(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        if matches!(self.state, SessionState::Dialling) {
            effects.extend(self.hellos.iter().cloned().map(SessionEffect::Say));
            self.state = SessionState::Open(Box::new(AgentLine::new(now, self.hellos.len())));
        }
    }

    fn dial_failed(&mut self, now: Moment, why: Trouble, effects: &mut Vec<SessionEffect>) {
        if matches!(self.state, SessionState::Dialling) {
            let rest_for = self.ladder.next_delay();
            self.begin_rest(now, why, rest_for, effects);
        }
    }

    fn record_alive(&mut self, now: Moment) {
        if let SessionState::Open(line) = &mut self.state {
            line.record_alive(now);
        }
    }

    fn take_frame(&mut self, now: Moment, frame: ToGateway, effects: &mut Vec<SessionEffect>) {
        let SessionState::Open(line) = &mut self.state else { return };
        line.record_alive(now);
        let come = match frame {
            ToGateway::Descriptor(descriptor) => {
                if let Some(all) = line.take_descriptor(*descriptor) {
                    effects
                        .extend([SessionEffect::Greeted(all), SessionEffect::Show(Status::Live)]);
                    self.say_sessions(effects);
                }
                Ok(())
            }
            ToGateway::Inbound { event, buffer_id } => {
                self.entries.accept(Content::Message(event), buffer_id, effects)
            }
            ToGateway::PassthroughForward { forward, buffer_id } => {
                self.entries.accept(Content::Forward(forward), buffer_id, effects)
            }
            ToGateway::OutboundResult { request_id, result } => {
                self.sends.take_outcome(&request_id, *result, effects);
                Ok(())
            }
            ToGateway::InterruptInbound { session_key, chat_id: _ } => {
                effects.extend(self.entries.turn_of(&session_key).map(SessionEffect::Stop));
                Ok(())
            }
            ToGateway::GoingIdleAck => {
                line.record_idle_ack();
                Ok(())
            }
            // A frame of a newer contract, or noise.
            ToGateway::Unknown { .. } | ToGateway::Malformed(_) => Ok(()),
        };
        if let Err(TooManyEntries) = come {
            self.give_up_line(now, Trouble::Flooded, effects);
        }
    }

    fn end_line(&mut self, now: Moment, ended: &SocketClose, effects: &mut Vec<SessionEffect>) {
        /// The desk's close reason for an expired token; the next token is new.
        const EXPIRED: &str = "expired";
        let Some(line) = self.lose_line(now, effects) else { return };
        let revoked = ended.code == Close::Revoked.code() && ended.reason != EXPIRED;
        // A line that was only quiet is dialled again: the desk may not know of the intended sleep.
        if line.going_idle() == Some(IdleReason::Told) {
            let settled = line.is_idle_acked() && self.entries.is_settled();
            return self.finish(AgentEnd::Idle(Idle::from_settled(settled)), effects);
        }
        let rest_for = if revoked && self.ladder.count_revocation() {
            return self.finish(AgentEnd::Revoked, effects);
        } else if revoked {
            // One revocation may be a mistake, such as during a rotation of the secret. The dial is repeated at once,
            // because nothing else helps.
            Duration::ZERO
        } else if ended.code == Close::Restarting.code() {
            self.ladder.rest_after_restart()
        } else {
            self.ladder.next_delay()
        };
        self.begin_rest(now, Trouble::Ended { code: ended.code }, rest_for, effects);
    }

    fn go_idle(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        match &self.state {
            SessionState::Open(_) => self.say_idle(now, IdleReason::Told, effects),
            // Without a line the desk already knows; but turns may still run.
            SessionState::Resting { .. } | SessionState::Dialling => {
                let settled = self.entries.is_settled();
                self.hang_up(AgentEnd::Idle(Idle::from_settled(settled)), effects);
            }
            SessionState::Over => {}
        }
    }

    /// Closes an idle line once the desk confirmed it and every turn ended, or the timeout is reached.
    fn hang_up_if_idle(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        let SessionState::Open(line) = &self.state else { return };
        let settled = line.is_idle_acked() && self.entries.is_settled();
        if !settled && !line.is_idle_late(now) {
            return;
        }
        match line.going_idle() {
            Some(IdleReason::Told) => {
                self.hang_up(AgentEnd::Idle(Idle::from_settled(settled)), effects);
            }
            // A desk that does not answer gets the close, or detects the missing line soon.
            Some(IdleReason::Quiet) => self.hang_up(AgentEnd::Asleep, effects),
            None => {}
        }
    }

    fn tick(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        match &mut self.state {
            SessionState::Resting { until } if now >= *until => {
                self.state = SessionState::Dialling;
                effects.extend([SessionEffect::Show(Status::Dialling), SessionEffect::Dial]);
            }
            SessionState::Open(line) => match line.trouble(now) {
                Some(why) => self.give_up_line(now, why, effects),
                None => line.ping(now, effects),
            },
            SessionState::Resting { .. } | SessionState::Dialling | SessionState::Over => {}
        }
    }

    /// Ends a line that is not usable any more.
    fn give_up_line(&mut self, now: Moment, why: Trouble, effects: &mut Vec<SessionEffect>) {
        effects.push(SessionEffect::Close(Close::GoingAway));
        if self.lose_line(now, effects).is_some() {
            let rest_for = self.ladder.next_delay();
            self.begin_rest(now, why, rest_for, effects);
        }
    }

    /// Handles the loss of a line. Returns the line, for its state.
    fn lose_line(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) -> Option<AgentLine> {
        let line = match mem::replace(&mut self.state, SessionState::Over) {
            SessionState::Open(line) => line,
            other
            @ (SessionState::Resting { .. } | SessionState::Dialling | SessionState::Over) => {
                self.state = other;
                return None;
            }
        };
        self.ladder.record_line(line.open_for(now));
        self.entries.line_ended();
        self.sends.line_ended(effects);
        Some(*line)
    }

    fn begin_rest(
        &mut self,
        now: Moment,
        why: Trouble,
        rest_for: Duration,
        effects: &mut Vec<SessionEffect>,
    ) {
        self.state = SessionState::Resting { until: now + rest_for };
        effects.push(SessionEffect::Show(Status::Resting { why, rest_for }));
    }

    fn hang_up(&mut self, end: AgentEnd, effects: &mut Vec<SessionEffect>) {
        if !self.is_over() {
            effects.push(SessionEffect::Close(Close::Done));
            self.finish(end, effects);
        }
    }

    fn finish(&mut self, end: AgentEnd, effects: &mut Vec<SessionEffect>) {
        self.state = SessionState::Over;
        self.sends.fail_all(effects);
        effects.push(SessionEffect::Show(Status::Over(end)));
    }
}
