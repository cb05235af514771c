//! Executes the effects of a session.
//!
//! The driver receives events, passes them to the session and executes the effects. It decides nothing.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_bus::{LineHints as Rung, LineOrder, NewLine, RegisteredLine};
use nightdesk_inbox::{AckOutcome, Inbox, LineClaim, ReadRequest, ReadResponse};
use nightdesk_protocol::FromGateway;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::lines::Lines;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::limits::{
    CONTROL_FRAMES_MAX, CONTROL_WINDOW, LAST_ACKS_WAIT, LINE_END_AGAIN, REPLACED_WAIT,
};
use nightdesk_types::rate_limit::{Bucket, Rate};
use nightdesk_types::{ClientRules, Clock, Moment, RequestId, StoreError, Transport};
use tokio::time::{sleep, timeout};

use crate::acks::{Acks, WrittenAcks};
use crate::context::LineContext;
use crate::ending::{LostLine, end_lost_line, retry_recording_end};
use crate::session::{LineClient, LineEffect, LineInput, LineSession, SessionTime, sooner};
use crate::store::{AuthenticatedGateway, CloseRecord, ClosingSide, LineRequest, LineStart};
use crate::transport::{LineTransport, TransportBroken, TransportEvent};

type Sends = FuturesUnordered<BoxFuture<'static, (RequestId, Outcome)>>;

/// The rate of pings, pongs and closes.
const CONTROLS: Rate = Rate::per(CONTROL_WINDOW, CONTROL_FRAMES_MAX);

/// One line, from its upgrade to its end.
pub(crate) struct LineDriver<T> {
    context: Arc<LineContext>,
    caller: AuthenticatedGateway,
    transport: T,
    session: LineSession,
    lines: Lines,
    /// The line's ear and claim, once the line is the agent's newest.
    claimed_line: Option<(Arc<RegisteredLine>, LineClaim)>,
    reading: Option<BoxFuture<'static, Result<ReadResponse, StoreError>>>,
    acks: Acks,
    sends: Sends,
    controls: Bucket,
    /// The rate of frames other than acks. Acks are bounded by the number of delivered entries.
    frame_rate: Bucket,
    leave: DrainPhase,
    /// True if the store's answer was lost when the line was taken.
    is_lost: bool,
}

/// The line's state while its node stops.
#[derive(Clone, Copy)]
enum DrainPhase {
    Staying,
    At(Moment),
    Told,
}

impl<T: LineTransport> LineDriver<T> {
    pub(crate) fn new(room: Arc<LineContext>, caller: AuthenticatedGateway, transport: T) -> Self {
        let AuthenticatedGateway { agent, acks, .. } = caller;
        let client = LineClient { agent, acks, transport: transport.kind() };
        let session = LineSession::new(now(&*room.clock), client);
        Self {
            context: room,
            caller,
            transport,
            session,
            lines: Lines::new(),
            claimed_line: None,
            reading: None,
            acks: Acks::default(),
            sends: Sends::new(),
            controls: Bucket::default(),
            frame_rate: Bucket::default(),
            leave: DrainPhase::Staying,
            is_lost: false,
        }
    }

    /// Runs the line to its end.
    pub(crate) async fn run(mut self) {
        self.context.metrics.count_opened();
        while !self.session.is_closed() {
            match self.next_event().await {
                LineEvent::Heard(heard) => self.handle_transport_event(heard).await,
                LineEvent::Rung(rung) => self.handle_hints(rung).await,
                LineEvent::Written(written) => self.handle_written(written).await,
                LineEvent::Other(input) => self.settle(input).await,
            }
        }
        self.transport.linger().await;
        if self.is_lost {
            self.end_lost_line().await;
        }
    }

    /// Ends the line that the store may have taken, so that the desk calls its agent again.
    async fn end_lost_line(self) {
        let LineContext { store, lines, node, drain, .. } = &*self.context;
        let is_posted = self.transport.kind() == Transport::Webhook;
        let closed_by = if is_posted { ClosingSide::Idle } else { ClosingSide::Desk };
        let end = CloseRecord { code: Close::TryLater.code(), tried: None, closed_by };
        let lost = LostLine { caller: &self.caller, node, lines };
        end_lost_line(&**store, lost, end, LINE_END_AGAIN, drain).await;
    }

    /// Waits for the first event.
    async fn next_event(&mut self) -> LineEvent {
        let now = self.context.clock.moment();
        // A gateway over its frame rate is read later, so only its own socket backs up.
        let rest = self.frame_rate.wait(self.context.frames, now);
        let deadline = sooner(self.deadline(), (!rest.is_zero()).then(|| now + rest));
        tokio::select! {
            heard = self.transport.next_event(), if rest.is_zero() => LineEvent::Heard(heard),
            rung = next_hints(self.claimed_line.as_ref()) => LineEvent::Rung(rung),
            read = finish(&mut self.reading) => {
                self.reading = None;
                fail_point!("line::entries_read");
                LineEvent::Other(read.map_or(LineInput::ReadFailed, LineInput::Read))
            }
            written = self.acks.wait_for_write() => LineEvent::Written(written),
            Some((request, outcome)) = self.sends.next(), if !self.sends.is_empty() => {
                LineEvent::Other(LineInput::Sent(request, Box::new(outcome)))
            }
            () = self.context.drain.cancelled(), if matches!(self.leave, DrainPhase::Staying) => {
                let stays = self.context.leaving.next_delay(self.context.lines.count());
                self.leave = DrainPhase::At(self.context.clock.moment() + stays);
                LineEvent::Other(LineInput::Tick)
            }
            () = sleep_until_deadline(deadline, &*self.context.clock) => LineEvent::Other(self.due_input()),
        }
    }

    fn deadline(&self) -> Option<Moment> {
        let leave = match self.leave {
            DrainPhase::At(moment) => Some(moment),
            DrainPhase::Staying | DrainPhase::Told => None,
        };
        sooner(self.session.deadline(), leave)
    }

    /// Returns the input that is due now.
    fn due_input(&mut self) -> LineInput {
        match self.leave {
            DrainPhase::At(moment) if moment <= self.context.clock.moment() => {
                self.leave = DrainPhase::Told;
                LineInput::Drain
            }
            DrainPhase::At(_) | DrainPhase::Staying | DrainPhase::Told => LineInput::Tick,
        }
    }

    /// Handles the end of a write of acks. `None`: it failed, and is repeated.
    async fn handle_written(&mut self, written: Option<WrittenAcks>) {
        match written.as_ref().map(|written| written.outcome) {
            Some(AckOutcome::LineReplaced) => self.settle(LineInput::Replaced).await,
            Some(AckOutcome::HistoryChanged | AckOutcome::BeyondHead) => {
                self.settle(LineInput::HistoryChanged).await;
            }
            Some(AckOutcome::Moved(_)) | None => {
                fail_point!("line::ack_written");
                for range in written.into_iter().flat_map(|written| written.ranges) {
                    self.transport.note_stored(range);
                }
                self.begin_acks();
            }
        }
    }

    async fn handle_transport_event(&mut self, heard: TransportEvent) {
        match heard {
            TransportEvent::Text(text) => self.handle_text(&text).await,
            TransportEvent::Frame(frame) => self.handle_frame(*frame).await,
            TransportEvent::Undelivered(tried) => self.settle(LineInput::Undelivered(tried)).await,
            TransportEvent::StopFailed(stop_id) => {
                self.settle(LineInput::StopFailed(stop_id)).await;
            }
            TransportEvent::Ping => self.handle_control(LineInput::Pinged).await,
            // Requests have a rate limit of their own.
            TransportEvent::Called => self.settle(LineInput::Pinged).await,
            TransportEvent::Pong => self.handle_control(LineInput::Pong).await,
            TransportEvent::Ended(code) => self.settle(LineInput::Ended { code }).await,
            TransportEvent::Misbehaved(close) => self.settle(LineInput::Misbehaved(close)).await,
        }
    }

    async fn handle_text(&mut self, text: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        match lines.push(text) {
            Ok(whole) => {
                for line in whole {
                    self.handle_frame(FromGateway::decode(&line)).await;
                }
            }
            Err(_) => self.settle(LineInput::Misbehaved(Close::TooBig)).await,
        }
        self.lines = lines;
    }

    async fn handle_frame(&mut self, frame: FromGateway) {
        if !matches!(frame, FromGateway::InboundAck { .. }) {
            self.frame_rate.take(self.context.frames, self.context.clock.moment());
        }
        self.settle(LineInput::Heard(frame)).await;
    }

    async fn handle_control(&mut self, input: LineInput) {
        let now = self.context.clock.moment();
        let is_within = self.controls.wait(CONTROLS, now).is_zero();
        self.controls.take(CONTROLS, now);
        self.settle(if is_within { input } else { LineInput::Misbehaved(Close::Policy) }).await;
    }

    async fn handle_hints(&mut self, rung: Rung) {
        if let Some(seq) = rung.seq {
            self.settle(LineInput::Rung(Some(seq))).await;
        }
        for order in rung.orders {
            let input = match order {
                LineOrder::Replaced => LineInput::Replaced,
                LineOrder::HistoryChanged => LineInput::HistoryChanged,
                LineOrder::Revoked => LineInput::Revoked,
                LineOrder::Stop { session_key, chat_id, report_to } => {
                    let Some(session_key) = SessionKey::new(session_key) else { continue };
                    LineInput::Stop { session_key, chat_id, report_to }
                }
            };
            self.settle(input).await;
        }
    }

    /// Passes an input to the session and executes the effects. Results of effects go back to the session at once.
    async fn settle(&mut self, input: LineInput) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let effects = self.session.step(now(&*self.context.clock), input);
            if effects.is_empty() {
                continue;
            }
            for effect in effects {
                match self.execute_effect(effect).await {
                    // The first hello is looked up, and then takes the line.
                    Ok(Some(answer)) => Box::pin(self.settle(answer)).await,
                    Ok(None) => {}
                    Err(TransportBroken) => inputs.push(LineInput::Ended { code: BROKEN_CODE }),
                }
            }
            if self.transport.flush().await.is_err() {
                inputs.push(LineInput::Ended { code: BROKEN_CODE });
            } else if self.session.unacked_entries() > 0 {
                fail_point!("line::entries_flushed");
            }
        }
        self.begin_acks();
    }

    async fn execute_effect(
        &mut self,
        effect: LineEffect,
    ) -> Result<Option<LineInput>, TransportBroken> {
        match effect {
            LineEffect::Greet(hello) => {
                let LineContext { desk, dials, .. } = &*self.context;
                let greeted = dials.run_in_turn(desk.greet(&self.caller, &hello)).await;
                let greeted = self.log_store_error("look up a hello", greeted);
                return Ok(Some(greeted.map_or(LineInput::StoreLost, |greeted| {
                    LineInput::Greeted(Box::new(greeted))
                })));
            }
            LineEffect::Take(rules) => return Ok(Some(self.take(rules).await)),
            LineEffect::Say(frame) => self.transport.feed_frame(frame).await?,
            LineEffect::Ping => self.transport.feed_ping().await?,
            LineEffect::Read { after, since, entries_max, taken_at } => {
                let Some((_, line)) = self.claimed_line else { return Ok(None) };
                let inbox = Arc::clone(&self.context.inbox);
                if after < taken_at {
                    fail_point!("line::backlog_page");
                } else {
                    fail_point!("line::backlog_read");
                }
                let ask = ReadRequest { line, after, since, entries_max, taken_at };
                self.reading = Some(Box::pin(read_waiting(inbox, ask)));
            }
            LineEffect::Ack(range) => {
                fail_point!("line::ack_received");
                self.acks.add(range);
            }
            LineEffect::Park(seq, reason) => {
                if let Some((_, line)) = &self.claimed_line {
                    let parked = self.context.inbox.store().park(line, seq, reason).await;
                    self.log_store_error("park an entry", parked);
                }
            }
            LineEffect::Send(outbound) => self.send(*outbound),
            LineEffect::Stop(interrupt) => self.context.desk.stop(&self.caller, interrupt).await,
            LineEffect::ReportStop(receiver, outcome) => {
                self.context.desk.report_stop(receiver, outcome).await;
            }
            LineEffect::Suspect => {
                if let Some((_, line)) = &self.claimed_line {
                    let suspected = self.context.desk.suspect(line).await;
                    let suspected = self.log_store_error("request a call to its agent", suspected);
                    return Ok(suspected.is_none().then_some(LineInput::SuspectFailed));
                }
            }
            LineEffect::FollowRules(rules) => {
                let written = self.context.desk.follow_rules(&self.caller, rules).await;
                self.log_store_error("store the rules of a client", written);
            }
            LineEffect::TellSessions(sessions) => {
                if let Some((_, line)) = &self.claimed_line {
                    let stored = self.context.store.tell_sessions(line, &sessions).await;
                    self.log_store_error("store the live sessions of its agent", stored);
                }
            }
            LineEffect::Close(close) => drop(self.transport.close(close).await),
            LineEffect::End(end) => self.end(end).await,
        }
        Ok(None)
    }

    fn send(&mut self, outbound: nightdesk_protocol::frame::Outbound) {
        let request = outbound.request_id.clone();
        let hellos = self.session.hellos().to_vec();
        let sent = self.context.desk.send(self.caller, hellos, outbound);
        self.sends.push(Box::pin(async move { (request, sent.await) }));
    }

    /// Makes the line the agent's newest. An older line on this node ends first, so that its results for its entries
    /// are known.
    async fn take(&mut self, rules: Option<ClientRules>) -> LineInput {
        let AuthenticatedGateway { scope, agent, gateway, acks: _ } = self.caller;
        drop(timeout(REPLACED_WAIT, self.context.lines.replace_line(agent)).await);
        let LineContext { store, dials, node, .. } = &*self.context;
        let transport = self.transport.kind();
        let request = LineRequest { caller: &self.caller, node, transport, rules };
        let taken = dials.run_in_turn(store.take(request)).await;
        let Some(taken) = self.log_store_error("take a line", taken) else {
            self.is_lost = true;
            return LineInput::StoreLost;
        };
        if let Some(seq) = taken.parked {
            tracing::warn!(agent.id = %agent, entry.seq = %seq, "parked entry {seq} of agent {agent} after its last try");
        }
        let LineStart { incarnation, generation, .. } = taken;
        let line = LineClaim { scope, agent, incarnation, generation };
        // Open the ear before the first read, so that the bell rings for every later entry.
        let ear = self.context.lines.register_line(NewLine {
            scope,
            agent,
            gateway,
            incarnation,
            generation,
        });
        self.claimed_line = Some((ear, line));
        LineInput::Taken(taken)
    }

    async fn end(&mut self, end: CloseRecord) {
        self.context.metrics.count_ended(end.code);
        let Some((ear, line)) = self.claimed_line.take() else { return };
        self.acks.flush(&self.context.inbox, line, LAST_ACKS_WAIT).await;
        let closed = self.context.store.close(&line, end).await;
        // From here on, a newer line need not wait for this one.
        self.context.lines.close_line(&ear);
        if self.log_store_error("store the end of a line", closed).is_none() {
            retry_recording_end(
                &*self.context.store,
                &line,
                end,
                LINE_END_AGAIN,
                &self.context.drain,
            )
            .await;
        }
    }

    fn begin_acks(&mut self) {
        if let Some((_, line)) = &self.claimed_line {
            self.acks.begin_write(&self.context.inbox, *line);
        }
    }

    fn log_store_error<A>(&self, what: &'static str, answer: Result<A, StoreError>) -> Option<A> {
        answer
            .inspect_err(|error| {
                tracing::warn!(
                    agent.id = %self.caller.agent,
                    error = error as &dyn Error,
                    "line of agent {} could not {what}", self.caller.agent
                );
            })
            .ok()
    }
}

/// The event that came first.
enum LineEvent {
    Heard(TransportEvent),
    Rung(Rung),
    /// A write of acks ended.
    Written(Option<WrittenAcks>),
    Other(LineInput),
}

/// The code of a socket that cannot be written to any more.
const BROKEN_CODE: u16 = 1006;

pub(crate) fn now(clock: &dyn Clock) -> SessionTime {
    SessionTime { moment: clock.moment(), wall: clock.now() }
}

/// Waits until the bell rings. While the line is not taken, it never returns.
async fn next_hints(taken: Option<&(Arc<RegisteredLine>, LineClaim)>) -> Rung {
    match taken {
        Some((ear, _)) => {
            ear.wait_for_hint().await;
            ear.take_hints()
        }
        None => std::future::pending().await,
    }
}

async fn read_waiting(inbox: Arc<Inbox>, ask: ReadRequest) -> Result<ReadResponse, StoreError> {
    inbox.read_waiting(ask).await
}

/// Waits for a call that runs, if one does.
async fn finish<T>(running: &mut Option<BoxFuture<'static, T>>) -> T {
    match running {
        Some(running) => running.await,
        None => std::future::pending().await,
    }
}

async fn sleep_until_deadline(deadline: Option<Moment>, clock: &dyn Clock) {
    match deadline {
        Some(deadline) => sleep(deadline.since(clock.moment())).await,
        None => sleep(Duration::MAX).await,
    }
}
