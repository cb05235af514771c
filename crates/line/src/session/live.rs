//! The live state: entries go out, acks and sends come back.

use std::collections::VecDeque;

use nightdesk_inbox::{AckRange, Entry, ReadResponse};
use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{
    LEAVE_WAIT, PING_EVERY, SAME_PROCESS, SENDS_IN_FLIGHT_MAX, SUSPECT_ACK, UNREAD_FRAMES_MAX,
    WINDOW_BYTES_MAX,
};
use nightdesk_types::{
    EntryId, Moment, RequestId, Seq, StopOutcome, StopReceiver, Timestamp, Transport,
};

use super::boot::BootRounds;
use super::open_stops::OpenStops;
use super::timers::SignsOfLife;
use super::window::DeliveryWindow;
use super::{
    IDLE_REST, LineClient, LineEffect, LineInput, READ_AGAIN, SUSPECT_AGAIN, SessionTime, sooner,
};
use crate::store::{CloseRecord, ClosingSide, LineStart};

/// The state of a line that is its agent's newest.
#[derive(Debug)]
pub(super) struct LiveLine {
    client: LineClient,
    /// The SDK loses nothing while it boots, reads while it handles an entry, and answers stops. Stock clients do none of
    /// it.
    is_sdk: bool,
    window: DeliveryWindow,
    since: Timestamp,
    taken_at: Seq,
    /// The highest number that the inbox is known to have.
    known: Seq,
    reading: Option<Reading>,
    /// True if the limits cut off the last read, or no read was made yet.
    maybe_more: bool,
    /// Set while the client boots; no entries go out in this time.
    boot: Option<BootRounds>,
    /// No entries go out before this time: the client goes idle, or the store failed.
    held_back: Option<Moment>,
    sends_in_flight: usize,
    /// Fleeting requests in flight.
    fleeting: Vec<RequestId>,
    /// Responses to fleeting requests that wait until the client has read earlier frames.
    withheld: VecDeque<Frame>,
    stops: OpenStops,
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

impl LiveLine {
    pub(super) fn new(
        client: LineClient,
        taken: LineStart,
        described: Moment,
        is_sdk: bool,
    ) -> Self {
        let same_process = taken.restarted_ago.is_some_and(|ago| ago < SAME_PROCESS);
        let boots = !same_process && !is_sdk;
        let mut window = DeliveryWindow::starting_after(taken.acked);
        // No stock client uses another transport. Its frames may wait for a take or a post while the agent is at work.
        if client.transport != Transport::WebSocket {
            window.expect_passthrough_acks();
        }
        Self {
            client,
            is_sdk,
            window,
            since: taken.since,
            taken_at: taken.head,
            known: taken.head,
            reading: None,
            maybe_more: true,
            boot: boots.then(|| BootRounds::new(described)),
            held_back: None,
            sends_in_flight: 0,
            fleeting: Vec::new(),
            withheld: VecDeque::new(),
            stops: OpenStops::default(),
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
        let dead = sooner(Some(self.signs().dead_at(self.client.transport)), self.leave_by);
        // A leaving line reads no more and a booting client gets no entries, so the hold-back sets no deadline.
        let reads_later = self.leave_by.is_none() && self.boot.is_none() && self.wants_to_read();
        let held_back = if reads_later { self.held_back } else { None };
        let suspect = if self.is_suspected() { None } else { self.suspect_at() };
        let boot = self.boot.as_ref().map(BootRounds::deadline);
        sooner(sooner(Some(self.ping_at), dead), sooner(held_back, sooner(suspect, boot)))
    }

    /// Handles an input. Returns the end of the line, if it ends.
    pub(super) fn step(
        &mut self,
        now: SessionTime,
        input: LineInput,
        effects: &mut Vec<LineEffect>,
    ) -> Option<CloseRecord> {
        match input {
            LineInput::Heard(frame) => self.handle_frame(now, frame, effects),
            LineInput::Pong => {
                self.mark_alive(now);
                if let Some(boot) = &mut self.boot {
                    boot.record_pong(now.moment);
                }
                effects.extend(
                    self.window
                        .settle_old_passthroughs(now.moment)
                        .into_iter()
                        .map(LineEffect::Ack),
                );
            }
            LineInput::Pinged => self.mark_alive(now),
            LineInput::Rung(seq) => self.known = self.known.max(seq.unwrap_or_default()),
            LineInput::Read(ReadResponse::Entries(entries)) => {
                self.hand_over(now, entries, effects);
            }
            LineInput::Read(ReadResponse::LineReplaced) | LineInput::Replaced => {
                return Some(self.close(now, Close::Replaced, effects));
            }
            // The client is the same process when it dials again, as after a restart of the desk.
            LineInput::Read(ReadResponse::HistoryChanged) | LineInput::HistoryChanged => {
                return Some(self.close(now, Close::Restarting, effects));
            }
            LineInput::ReadFailed => {
                self.reading = None;
                self.hold_back(now.moment + READ_AGAIN);
            }
            LineInput::SuspectFailed => {
                self.suspected = None;
                self.suspects_after = Some(now.moment + SUSPECT_AGAIN);
            }
            LineInput::Sent(request, outcome) => {
                self.send_response(&request, &outcome, effects);
            }
            LineInput::Stop { session_key, chat_id, report_to } => {
                self.send_stop(&session_key, &chat_id, report_to, effects);
            }
            LineInput::StopFailed(stop_id) => {
                effects.extend(self.stops.settle(&stop_id, StopOutcome::Undelivered));
            }
            LineInput::Revoked => return Some(self.close(now, Close::Revoked, effects)),
            LineInput::Drain => self.leave_by = Some(now.moment + LEAVE_WAIT),
            LineInput::StoreLost => return Some(self.close(now, Close::TryLater, effects)),
            LineInput::Misbehaved(close) => return Some(self.close(now, close, effects)),
            LineInput::Ended { code } => return Some(self.end(now, code, ClosingSide::Client)),
            LineInput::Undelivered(tried) => return Some(self.give_back(&tried, effects)),
            LineInput::Tick => {
                if now.moment >= self.signs().dead_at(self.client.transport) {
                    return Some(self.bury(now, effects));
                }
                self.ping(now, effects);
            }
            LineInput::Greeted(_) | LineInput::Taken(_) => {}
        }
        if self.may_leave(now) {
            return Some(self.close(now, Close::Restarting, effects));
        }
        self.give_withheld(effects);
        self.advance_boot(now, effects);
        self.begin_read(now, effects);
        self.suspect(now, effects);
        None
    }

    /// Sends a stop. Its result is the client's answer, or that it was delivered to a client that does not answer.
    fn send_stop(
        &mut self,
        session_key: &SessionKey,
        chat_id: &str,
        report_to: Option<StopReceiver>,
        effects: &mut Vec<LineEffect>,
    ) {
        let stop_id = report_to.as_ref().filter(|_| self.is_sdk).map(|to| &to.stop_id);
        let Ok(frame) = Frame::interrupt_inbound(session_key, chat_id, stop_id) else { return };
        self.send_other_frame(frame, effects);
        match report_to {
            Some(receiver) if self.is_sdk => self.stops.add(receiver),
            Some(receiver) => {
                effects.push(LineEffect::ReportStop(receiver, StopOutcome::Delivered));
            }
            None => {}
        }
    }

    /// Sends a frame that is not an entry.
    fn send_other_frame(&mut self, frame: Frame, effects: &mut Vec<LineEffect>) {
        self.window.count_other_frame();
        effects.push(LineEffect::Say(frame));
    }

    /// Answers a request. The client does not wait for a typing's response, so this must not fill the queue of a client
    /// that does not read: it is withheld until the client acks. A client that gave up repeats the request.
    fn send_response(
        &mut self,
        request: &RequestId,
        outcome: &Outcome,
        effects: &mut Vec<LineEffect>,
    ) {
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
        self.send_other_frame(frame, effects);
    }

    fn give_withheld(&mut self, effects: &mut Vec<LineEffect>) {
        while !self.may_be_full()
            && let Some(frame) = self.withheld.pop_front()
        {
            self.send_other_frame(frame, effects);
        }
    }

    /// Returns the number of frames that the client may not have read yet.
    fn unread_frames(&self) -> usize {
        if self.is_sdk { 0 } else { self.window.unread_frames() }
    }

    /// Returns true if the client may have as many unread frames as it can take.
    fn may_be_full(&self) -> bool {
        self.unread_frames() >= UNREAD_FRAMES_MAX
    }

    fn mark_alive(&mut self, now: SessionTime) {
        self.alive_at = now.moment;
        self.unanswered = None;
    }

    /// Returns the time when the line counts as suspect, or `None` while no entry waits.
    fn suspect_at(&self) -> Option<Moment> {
        let suspect = self.signs().suspect_at(self.client.transport)?;
        Some(self.suspects_after.map_or(suspect, |after| suspect.max(after)))
    }

    fn signs(&self) -> SignsOfLife {
        SignsOfLife {
            alive_at: self.alive_at,
            unanswered: self.unanswered,
            head_since: self.window.head().map(|(_, said_at)| said_at),
        }
    }

    /// Returns true if the agent was called for the entry that is the oldest now.
    fn is_suspected(&self) -> bool {
        self.suspected.is_some() && self.suspected == self.window.head().map(|(seq, _)| seq)
    }

    /// Requests a call of the agent, once per suspicion. The line stays open.
    fn suspect(&mut self, now: SessionTime, effects: &mut Vec<LineEffect>) {
        if self.suspect_at().is_none_or(|at| now.moment < at) {
            self.suspected = None;
        } else if !self.is_suspected() {
            self.suspected = self.window.head().map(|(seq, _)| seq);
            effects.push(LineEffect::Suspect);
        }
    }

    /// Returns true if a leaving line may close: it first waits a short time for its acks and the results of its sends.
    fn may_leave(&self, now: SessionTime) -> bool {
        let settled = self.window.len() == 0 && self.sends_in_flight == 0;
        self.leave_by.is_some_and(|by| settled || now.moment >= by)
    }

    fn handle_frame(
        &mut self,
        now: SessionTime,
        frame: FromGateway,
        effects: &mut Vec<LineEffect>,
    ) {
        self.mark_alive(now);
        match frame {
            FromGateway::InboundAck { buffer_id } => {
                effects.extend(self.ack_entry(now, &buffer_id).into_iter().map(LineEffect::Ack));
            }
            FromGateway::Outbound(outbound) => self.accept_outbound(now, outbound, effects),
            FromGateway::Interrupt(interrupt) => effects.push(LineEffect::Stop(interrupt)),
            FromGateway::InterruptResult(answer) => effects.extend(self.stops.answer(&answer)),
            FromGateway::GoingIdle => {
                self.hold_back(now.moment + IDLE_REST);
                self.idle_until = Some(now.moment + IDLE_REST);
                self.send_other_frame(Frame::going_idle_ack(), effects);
            }
            // The session answers hellos and learns sessions; other frames belong to a newer contract or are noise.
            FromGateway::Hello(_)
            | FromGateway::Sessions(_)
            | FromGateway::Unknown { .. }
            | FromGateway::Malformed(_) => {}
        }
    }

    /// Settles an acked entry. Only an entry in flight on this line can be acked.
    fn ack_entry(&mut self, now: SessionTime, buffer_id: &str) -> Vec<AckRange> {
        match buffer_id.parse::<EntryId>() {
            Ok(entry) if entry.agent == self.client.agent => {
                self.window.settle_acked(entry, now.moment)
            }
            _ => Vec::new(),
        }
    }

    fn accept_outbound(
        &mut self,
        now: SessionTime,
        outbound: Box<Outbound>,
        effects: &mut Vec<LineEffect>,
    ) {
        if let Action::Send(send) = &outbound.action {
            let answered = self.window.settle_chat(&send.chat_id, now.moment);
            effects.extend(answered.into_iter().map(LineEffect::Ack));
        }
        if matches!(&outbound.action, Action::Send(send) if send.op.is_fleeting()) {
            // An agent types in many chats at once. Typings must not delay its responses, so excess ones are dropped.
            self.fleeting.push(outbound.request_id.clone());
            if self.fleeting.len() > SENDS_IN_FLIGHT_MAX {
                self.send_response(&outbound.request_id, &Outcome::delivered(None), effects);
                return;
            }
        } else {
            self.sends_in_flight += 1;
            if self.sends_in_flight > SENDS_IN_FLIGHT_MAX {
                let outcome = Outcome::unrecorded("too many sends at once");
                self.send_response(&outbound.request_id, &outcome, effects);
                return;
            }
        }
        effects.push(LineEffect::Send(outbound));
    }

    fn hand_over(&mut self, now: SessionTime, entries: Vec<Entry>, effects: &mut Vec<LineEffect>) {
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
            self.deliver_entry(now, &entry, effects);
        }
    }

    fn deliver_entry(&mut self, now: SessionTime, entry: &Entry, effects: &mut Vec<LineEffect>) {
        let json = match &entry.json {
            Ok(json) => json,
            Err(reason) => {
                effects.push(LineEffect::Park(entry.seq, *reason));
                self.window.skip_to(entry.seq);
                return;
            }
        };
        self.window.add_entry(entry, json.kind(), entry_bytes(entry), now);
        effects.push(LineEffect::Say(Frame::entry(entry.id(self.client.agent), json)));
        if !self.client.acks {
            effects.extend(self.window.settle_newest().map(LineEffect::Ack));
        }
    }

    fn wants_to_read(&self) -> bool {
        let more = self.maybe_more || self.known > self.window.last_read();
        more && self.reading.is_none() && self.free_entries() > 0
    }

    /// Returns the number of entries that may still go out.
    fn free_entries(&self) -> usize {
        self.window.free_entries().min(UNREAD_FRAMES_MAX.saturating_sub(self.unread_frames()))
    }

    fn begin_read(&mut self, now: SessionTime, effects: &mut Vec<LineEffect>) {
        if !self.wants_to_read() || self.is_held_back(now) {
            return;
        }
        self.held_back = None;
        let entries_max = self.free_entries();
        self.reading = Some(Reading { entries_max, known: self.known });
        effects.push(LineEffect::Read {
            after: self.window.last_read(),
            since: self.since,
            entries_max,
            taken_at: self.taken_at,
        });
    }

    fn advance_boot(&mut self, now: SessionTime, effects: &mut Vec<LineEffect>) {
        self.boot.take_if(|boot| boot.is_over(now.moment));
        if self.boot.as_mut().is_some_and(|boot| boot.wants_ping(now.moment)) {
            effects.push(LineEffect::Ping);
        }
    }

    fn is_held_back(&self, now: SessionTime) -> bool {
        let is_off = self.leave_by.is_some() || self.boot.is_some();
        is_off || self.held_back.is_some_and(|until| now.moment < until)
    }

    fn hold_back(&mut self, until: Moment) {
        self.held_back = self.held_back.max(Some(until));
    }

    fn ping(&mut self, now: SessionTime, effects: &mut Vec<LineEffect>) {
        if now.moment >= self.ping_at {
            self.ping_at = now.moment + PING_EVERY;
            self.unanswered.get_or_insert(now.moment);
            effects.push(LineEffect::Ping);
        }
    }

    /// Ends a line whose client gave no sign of life. A client without a connection that holds no entry has gone idle.
    fn bury(&self, now: SessionTime, effects: &mut Vec<LineEffect>) -> CloseRecord {
        if self.client.transport != Transport::WebSocket && self.window.len() == 0 {
            effects.push(LineEffect::Close(Close::Done));
            return self.end(now, Close::Done.code(), ClosingSide::Idle);
        }
        effects.push(LineEffect::Close(Close::Internal));
        self.end(now, Close::Internal.code(), ClosingSide::Client)
    }

    /// Ends a line whose transport delivered some entries in vain. A try of the oldest entry counts if it is among them.
    fn give_back(&self, tried: &[EntryId], effects: &mut Vec<LineEffect>) -> CloseRecord {
        effects.push(LineEffect::Close(Close::Internal));
        let head = self.window.head().map(|(seq, _)| seq);
        let tried = head.filter(|head| tried.iter().any(|entry| entry.seq == *head));
        CloseRecord { code: Close::Internal.code(), tried, closed_by: ClosingSide::Undelivered }
    }

    fn close(&self, now: SessionTime, close: Close, effects: &mut Vec<LineEffect>) -> CloseRecord {
        effects.push(LineEffect::Close(close));
        self.end(now, close.code(), ClosingSide::Desk)
    }

    /// Returns the end of the line. A try of the oldest entry counts only if the line had enough time, or if the
    /// client's close code or its second dial shows that a frame broke it.
    fn end(&self, now: SessionTime, code: u16, parting: ClosingSide) -> CloseRecord {
        let choked = code == Close::TooBig.code() || code == Close::Replaced.code();
        let tried = self
            .window
            .head()
            .filter(|(_, said_at)| choked || now.moment.since(*said_at) >= SUSPECT_ACK)
            .map(|(seq, _)| seq);
        // No client comes back to a webhook's line: another node is to post as soon as if the agent went idle.
        let is_given_up =
            self.client.transport == Transport::Webhook && parting == ClosingSide::Desk;
        let goes_idle = is_given_up || self.idle_until.is_some_and(|until| now.moment <= until);
        let parting = if goes_idle { ClosingSide::Idle } else { parting };
        CloseRecord { code, tried, closed_by: parting }
    }
}

fn entry_bytes(entry: &Entry) -> usize {
    entry.json.as_ref().map_or(0, |json| json.frame_len_bytes())
}
