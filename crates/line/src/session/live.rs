//! The live state: entries go out, acks and sends come back.

use std::collections::VecDeque;

use nightdesk_inbox::{AckRange, Entry, ParkReason, Waiting};
use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::{EntryJson, Frame, FromGateway};
use nightdesk_types::limits::{
    DEAD_LINE, LEAVE_WAIT, PING_EVERY, SAME_PROCESS, SENDS_IN_FLIGHT_MAX, SUSPECT_ACK,
    SUSPECT_PONG, UNREAD_FRAMES_MAX, WINDOW_BYTES_MAX,
};
use nightdesk_types::{EntryId, Moment, RequestId, Seq, Timestamp};

use super::boot::Boot;
use super::window::Window;
use super::{Client, Effect, IDLE_REST, Input, Now, READ_AGAIN, SUSPECT_AGAIN, sooner};
use crate::store::{End, Parting, Taken};

/// The state of a line that is its agent's newest.
#[derive(Debug)]
pub(super) struct Live {
    client: Client,
    /// The SDK loses nothing while it boots, and reads while it handles an entry. Stock clients do neither.
    is_sdk: bool,
    window: Window,
    since: Timestamp,
    taken_at: Seq,
    /// The highest number that the inbox is known to have.
    known: Seq,
    reading: Option<Reading>,
    /// True if the limits cut off the last read, or no read was made yet.
    maybe_more: bool,
    /// Set while the client boots; no entries go out in this time.
    boot: Option<Boot>,
    /// No entries go out before this time: the client goes idle, or the store failed.
    held_back: Option<Moment>,
    sends_in_flight: usize,
    /// Fleeting requests in flight.
    fleeting: Vec<RequestId>,
    /// Responses to fleeting requests that wait until the client has read earlier frames.
    withheld: VecDeque<Frame>,
    /// Set when the node stops: the line takes no more entries and closes by this time.
    leave_by: Option<Moment>,
    alive_at: Moment,
    ping_at: Moment,
    /// The time of a ping without any later frame.
    unanswered: Option<Moment>,
    /// The oldest entry, if the agent was called because this line did not answer for it.
    suspected: Option<Seq>,
    /// The line is not suspected before this time, because the store failed.
    suspects_after: Option<Moment>,
    /// Until this time, an end counts as that of a client that goes idle.
    idle_until: Option<Moment>,
}

/// A running read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    entries_max: usize,
    known: Seq,
}

impl Live {
    pub(super) fn taken(client: Client, taken: Taken, described: Moment, is_sdk: bool) -> Self {
        let same_process = taken.restarted_ago.is_some_and(|ago| ago < SAME_PROCESS);
        let boots = !same_process && !is_sdk;
        Self {
            client,
            is_sdk,
            window: Window::after(taken.acked),
            since: taken.since,
            taken_at: taken.head,
            known: taken.head,
            reading: None,
            maybe_more: true,
            boot: boots.then(|| Boot::begun(described)),
            held_back: None,
            sends_in_flight: 0,
            fleeting: Vec::new(),
            withheld: VecDeque::new(),
            leave_by: None,
            alive_at: described,
            ping_at: described + PING_EVERY,
            unanswered: None,
            suspected: None,
            suspects_after: None,
            idle_until: None,
        }
    }

    pub(super) fn unacked_entries(&self) -> usize {
        self.window.len()
    }

    pub(super) fn deadline(&self) -> Option<Moment> {
        let unacked = self.window.head().map(|(_, said_at)| said_at + DEAD_LINE);
        let dead = sooner(Some(self.alive_at + DEAD_LINE), sooner(unacked, self.leave_by));
        // A leaving line reads no more and a booting client gets no entries, so the hold-back sets no deadline.
        let reads_later = self.leave_by.is_none() && self.boot.is_none() && self.wants_to_read();
        let held_back = if reads_later { self.held_back } else { None };
        let suspect = if self.is_suspected() { None } else { self.suspect_at() };
        let boot = self.boot.as_ref().map(Boot::deadline);
        sooner(sooner(Some(self.ping_at), dead), sooner(held_back, sooner(suspect, boot)))
    }

    /// Handles an input. Returns the end of the line, if it ends.
    pub(super) fn step(
        &mut self,
        now: Now,
        input: Input,
        effects: &mut Vec<Effect>,
    ) -> Option<End> {
        match input {
            Input::Heard(frame) => self.heard(now, frame, effects),
            Input::Pong => {
                self.is_alive(now);
                if let Some(boot) = &mut self.boot {
                    boot.pong(now.moment);
                }
                effects.extend(self.window.alive(now.moment).into_iter().map(Effect::Ack));
            }
            Input::Pinged => self.is_alive(now),
            Input::Rung(seq) => self.known = self.known.max(seq.unwrap_or_default()),
            Input::Read(Waiting::Entries(entries)) => self.hand_over(now, entries, effects),
            Input::Read(Waiting::LineReplaced) | Input::Replaced => {
                return Some(self.close(now, Close::Replaced, effects));
            }
            Input::ReadFailed => {
                self.reading = None;
                self.hold_back(now.moment + READ_AGAIN);
            }
            Input::SuspectFailed => {
                self.suspected = None;
                self.suspects_after = Some(now.moment + SUSPECT_AGAIN);
            }
            Input::Sent(request, outcome) => {
                self.answer(&request, &outcome, effects);
            }
            Input::Stop { session_key, chat_id } => {
                if let Ok(frame) = Frame::interrupt_inbound(&session_key, &chat_id) {
                    self.say_another(frame, effects);
                }
            }
            Input::Revoked => return Some(self.close(now, Close::Revoked, effects)),
            Input::Drain => self.leave_by = Some(now.moment + LEAVE_WAIT),
            Input::StoreLost => return Some(self.close(now, Close::TryLater, effects)),
            Input::Misbehaved(close) => return Some(self.close(now, close, effects)),
            Input::Ended { code } => return Some(self.end(now, code, Parting::Client)),
            Input::Tick => {
                if self.is_dead(now) {
                    effects.push(Effect::Close(Close::Internal));
                    return Some(self.end(now, Close::Internal.code(), Parting::Client));
                }
                self.ping(now, effects);
            }
            Input::Greeted(_) | Input::Taken(_) => {}
        }
        if self.may_leave(now) {
            return Some(self.close(now, Close::Restarting, effects));
        }
        self.give_withheld(effects);
        self.boot(now, effects);
        self.read(now, effects);
        self.suspect(now, effects);
        None
    }

    /// Sends a frame that is not an entry.
    fn say_another(&mut self, frame: Frame, effects: &mut Vec<Effect>) {
        self.window.said_another();
        effects.push(Effect::Say(frame));
    }

    /// Answers a request. The client does not wait for a typing's response, so this must not fill the queue of a client
    /// that does not read: it is withheld until the client acks. A client that gave up repeats the request.
    fn answer(&mut self, request: &RequestId, outcome: &Outcome, effects: &mut Vec<Effect>) {
        let frame = Frame::outbound_result(request, outcome);
        let fleeting = self.fleeting.iter().position(|one| one == request);
        let is_fleeting = fleeting.map(|index| self.fleeting.swap_remove(index)).is_some();
        if !is_fleeting {
            self.sends_in_flight = self.sends_in_flight.saturating_sub(1);
        } else if self.may_be_full() {
            if self.withheld.len() == SENDS_IN_FLIGHT_MAX {
                self.withheld.pop_front();
            }
            self.withheld.push_back(frame);
            return;
        }
        self.say_another(frame, effects);
    }

    fn give_withheld(&mut self, effects: &mut Vec<Effect>) {
        while !self.may_be_full()
            && let Some(frame) = self.withheld.pop_front()
        {
            self.say_another(frame, effects);
        }
    }

    /// Returns the number of frames that the client may not have read yet.
    fn unread(&self) -> usize {
        if self.is_sdk { 0 } else { self.window.unread() }
    }

    /// Returns true if the client may have as many unread frames as it can take.
    fn may_be_full(&self) -> bool {
        self.unread() >= UNREAD_FRAMES_MAX
    }

    fn is_alive(&mut self, now: Now) {
        self.alive_at = now.moment;
        self.unanswered = None;
    }

    /// Returns the time when the line counts as suspect, or `None` while no entry waits.
    fn suspect_at(&self) -> Option<Moment> {
        let (_, said_at) = self.window.head()?;
        let silent = self.unanswered.map(|pinged_at| pinged_at + SUSPECT_PONG);
        let suspect = sooner(Some(said_at + SUSPECT_ACK), silent)?;
        Some(self.suspects_after.map_or(suspect, |after| suspect.max(after)))
    }

    /// Returns true if the agent was called for the entry that is the oldest now.
    fn is_suspected(&self) -> bool {
        self.suspected.is_some() && self.suspected == self.window.head().map(|(seq, _)| seq)
    }

    /// Requests a call of the agent, once per suspicion. The line stays open.
    fn suspect(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.suspect_at().is_none_or(|at| now.moment < at) {
            self.suspected = None;
        } else if !self.is_suspected() {
            self.suspected = self.window.head().map(|(seq, _)| seq);
            effects.push(Effect::Suspect);
        }
    }

    /// Returns true if a leaving line may close: it first waits a short time for its acks and the results of its sends.
    fn may_leave(&self, now: Now) -> bool {
        let settled = self.window.len() == 0 && self.sends_in_flight == 0;
        self.leave_by.is_some_and(|by| settled || now.moment >= by)
    }

    fn heard(&mut self, now: Now, frame: FromGateway, effects: &mut Vec<Effect>) {
        self.is_alive(now);
        match frame {
            FromGateway::InboundAck { buffer_id } => {
                effects.extend(self.acked(now, &buffer_id).into_iter().map(Effect::Ack));
            }
            FromGateway::Outbound(outbound) => self.outbound(now, outbound, effects),
            FromGateway::Interrupt(interrupt) => effects.push(Effect::Stop(interrupt)),
            FromGateway::GoingIdle => {
                self.hold_back(now.moment + IDLE_REST);
                self.idle_until = Some(now.moment + IDLE_REST);
                self.say_another(Frame::going_idle_ack(), effects);
            }
            // The session answers hellos; other frames belong to a newer contract or are noise.
            FromGateway::Hello(_) | FromGateway::Unknown { .. } | FromGateway::Malformed(_) => {}
        }
    }

    /// Settles an acked entry. Only an entry in flight on this line can be acked.
    fn acked(&mut self, now: Now, buffer_id: &str) -> Vec<AckRange> {
        match buffer_id.parse::<EntryId>() {
            Ok(entry) if entry.agent == self.client.agent => {
                self.window.acked(entry.seq, now.moment)
            }
            _ => Vec::new(),
        }
    }

    fn outbound(&mut self, now: Now, outbound: Box<Outbound>, effects: &mut Vec<Effect>) {
        if let Action::Send(send) = &outbound.action {
            let answered = self.window.answered_in(&send.chat_id, now.moment);
            effects.extend(answered.into_iter().map(Effect::Ack));
        }
        if matches!(&outbound.action, Action::Send(send) if send.op.is_fleeting()) {
            // An agent types in many chats at once. Typings must not delay its responses, so excess ones are dropped.
            self.fleeting.push(outbound.request_id.clone());
            if self.fleeting.len() > SENDS_IN_FLIGHT_MAX {
                self.answer(&outbound.request_id, &Outcome::delivered(None), effects);
                return;
            }
        } else {
            self.sends_in_flight += 1;
            if self.sends_in_flight > SENDS_IN_FLIGHT_MAX {
                // No call was made: this text makes the client retry by itself.
                let outcome = Outcome::failed("network error: too many sends at once");
                self.answer(&outbound.request_id, &outcome, effects);
                return;
            }
        }
        effects.push(Effect::Send(outbound));
    }

    fn hand_over(&mut self, now: Now, entries: Vec<Entry>, effects: &mut Vec<Effect>) {
        let Some(reading) = self.reading.take() else { return };
        if self.is_held_back(now) {
            // The client went idle during the read. The entries are read again.
            self.maybe_more = true;
            return;
        }
        let bytes: usize = entries.iter().map(entry_bytes).sum();
        self.maybe_more = entries.len() == reading.entries_max || bytes >= WINDOW_BYTES_MAX;
        if entries.is_empty() {
            self.window.skip_to(reading.known);
        }
        for entry in entries {
            self.say(now, &entry, effects);
        }
    }

    fn say(&mut self, now: Now, entry: &Entry, effects: &mut Vec<Effect>) {
        let Some(json) = &entry.json else {
            effects.push(Effect::Park(entry.seq, ParkReason::Unsendable));
            self.window.skip_to(entry.seq);
            return;
        };
        self.window.hold(entry, json.kind(), entry_bytes(entry), now);
        effects.push(Effect::Say(Frame::entry(entry.id(self.client.agent), json)));
        if !self.client.acks {
            effects.extend(self.window.settle_newest().map(Effect::Ack));
        }
    }

    fn wants_to_read(&self) -> bool {
        let more = self.maybe_more || self.known > self.window.read();
        more && self.reading.is_none() && self.room() > 0
    }

    /// Returns the number of entries that may still go out.
    fn room(&self) -> usize {
        self.window.room().min(UNREAD_FRAMES_MAX.saturating_sub(self.unread()))
    }

    fn read(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if !self.wants_to_read() || self.is_held_back(now) {
            return;
        }
        self.held_back = None;
        let entries_max = self.room();
        self.reading = Some(Reading { entries_max, known: self.known });
        effects.push(Effect::Read {
            after: self.window.read(),
            since: self.since,
            entries_max,
            taken_at: self.taken_at,
        });
    }

    fn boot(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.boot.take_if(|boot| boot.is_over(now.moment));
        if self.boot.as_mut().is_some_and(|boot| boot.wants_ping(now.moment)) {
            effects.push(Effect::Ping);
        }
    }

    fn is_held_back(&self, now: Now) -> bool {
        let is_off = self.leave_by.is_some() || self.boot.is_some();
        is_off || self.held_back.is_some_and(|until| now.moment < until)
    }

    fn hold_back(&mut self, until: Moment) {
        self.held_back = self.held_back.max(Some(until));
    }

    fn ping(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if now.moment >= self.ping_at {
            self.ping_at = now.moment + PING_EVERY;
            self.unanswered.get_or_insert(now.moment);
            effects.push(Effect::Ping);
        }
    }

    fn is_dead(&self, now: Now) -> bool {
        let silent = now.moment.since(self.alive_at) >= DEAD_LINE;
        let unacked = self.window.head();
        silent || unacked.is_some_and(|(_, said_at)| now.moment.since(said_at) >= DEAD_LINE)
    }

    fn close(&self, now: Now, close: Close, effects: &mut Vec<Effect>) -> End {
        effects.push(Effect::Close(close));
        self.end(now, close.code(), Parting::Desk)
    }

    /// Returns the end of the line. A try of the oldest entry counts only if the line had enough time, or if the
    /// client's close code or its second dial shows that a frame broke it.
    fn end(&self, now: Now, code: u16, parting: Parting) -> End {
        let choked = code == Close::TooBig.code() || code == Close::Replaced.code();
        let tried = self
            .window
            .head()
            .filter(|(_, said_at)| choked || now.moment.since(*said_at) >= SUSPECT_ACK)
            .map(|(seq, _)| seq);
        let goes_idle = self.idle_until.is_some_and(|until| now.moment <= until);
        let parting = if goes_idle { Parting::Idle } else { parting };
        End { code, tried, parting }
    }
}

fn entry_bytes(entry: &Entry) -> usize {
    entry.json.as_deref().map_or(0, EntryJson::frame_len_bytes)
}
