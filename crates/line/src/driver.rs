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
use nightdesk_bus::{Ear, Heard as Rung, Order};
use nightdesk_inbox::{Ack, Ask, Inbox, LineClaim, Waiting};
use nightdesk_protocol::FromGateway;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::lines::Lines;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::limits::{
    CONTROL_FRAMES_MAX, CONTROL_WINDOW, LAST_ACKS_WAIT, LINE_END_AGAIN, REPLACED_WAIT,
};
use nightdesk_types::pace::{Bucket, Rate};
use nightdesk_types::{Clock, Moment, RequestId, StoreError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};

use crate::acks::Acks;
use crate::ending::note_again;
use crate::room::Room;
use crate::session::{Client, Effect, Input, Now, Session, sooner};
use crate::socket::{Broken, Heard, Socket};
use crate::store::Caller;

type Sends = FuturesUnordered<BoxFuture<'static, (RequestId, Outcome)>>;

/// The rate of pings, pongs and closes.
const CONTROLS: Rate = Rate::per(CONTROL_WINDOW, CONTROL_FRAMES_MAX);

/// One line, from its upgrade to its end.
pub(crate) struct Driver<S> {
    room: Arc<Room>,
    caller: Caller,
    socket: Socket<S>,
    session: Session,
    lines: Lines,
    /// The line's ear and claim, once the line is the agent's newest.
    taken: Option<(Arc<Ear>, LineClaim)>,
    reading: Option<BoxFuture<'static, Result<Waiting, StoreError>>>,
    acks: Acks,
    sends: Sends,
    controls: Bucket,
    /// The rate of frames other than acks. Acks are bounded by the number of delivered entries.
    said: Bucket,
    leave: Leave,
}

/// The line's state while its node stops.
#[derive(Clone, Copy)]
enum Leave {
    Staying,
    At(Moment),
    Told,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    pub(crate) fn new(room: Arc<Room>, caller: Caller, socket: Socket<S>) -> Self {
        let client = Client { agent: caller.agent, acks: caller.acks };
        let session = Session::opened(now(&*room.clock), client);
        Self {
            room,
            caller,
            socket,
            session,
            lines: Lines::new(),
            taken: None,
            reading: None,
            acks: Acks::default(),
            sends: Sends::new(),
            controls: Bucket::default(),
            said: Bucket::default(),
            leave: Leave::Staying,
        }
    }

    /// Runs the line to its end.
    pub(crate) async fn run(mut self) {
        self.room.metrics.opened();
        while !self.session.is_closed() {
            match self.happened().await {
                Happened::Heard(heard) => self.heard(heard).await,
                Happened::Rung(rung) => self.rung(rung).await,
                Happened::Written(Some(Ack::LineReplaced)) => self.settle(Input::Replaced).await,
                Happened::Written(_) => {
                    fail_point!("line::ack_written");
                    self.begin_acks();
                }
                Happened::Other(input) => self.settle(input).await,
            }
        }
        self.socket.linger().await;
    }

    /// Waits for the first event.
    async fn happened(&mut self) -> Happened {
        let now = self.room.clock.moment();
        // A gateway over its frame rate is read later, so only its own socket backs up.
        let rest = self.said.wait(self.room.frames, now);
        let deadline = sooner(self.deadline(), (!rest.is_zero()).then(|| now + rest));
        tokio::select! {
            heard = self.socket.hear(), if rest.is_zero() => Happened::Heard(heard),
            rung = rung(self.taken.as_ref()) => Happened::Rung(rung),
            read = read(&mut self.reading) => {
                self.reading = None;
                fail_point!("line::entries_read");
                Happened::Other(read.map_or(Input::ReadFailed, Input::Read))
            }
            written = self.acks.written() => Happened::Written(written),
            Some((request, outcome)) = self.sends.next(), if !self.sends.is_empty() => {
                Happened::Other(Input::Sent(request, Box::new(outcome)))
            }
            () = self.room.drain.cancelled(), if matches!(self.leave, Leave::Staying) => {
                let stays = self.room.leaving.next(self.room.ears.count());
                self.leave = Leave::At(self.room.clock.moment() + stays);
                Happened::Other(Input::Tick)
            }
            () = until(deadline, &*self.room.clock) => Happened::Other(self.due()),
        }
    }

    fn deadline(&self) -> Option<Moment> {
        let leave = match self.leave {
            Leave::At(moment) => Some(moment),
            Leave::Staying | Leave::Told => None,
        };
        sooner(self.session.deadline(), leave)
    }

    /// Returns the input that is due now.
    fn due(&mut self) -> Input {
        match self.leave {
            Leave::At(moment) if moment <= self.room.clock.moment() => {
                self.leave = Leave::Told;
                Input::Drain
            }
            Leave::At(_) | Leave::Staying | Leave::Told => Input::Tick,
        }
    }

    async fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Text(text) => self.heard_text(&text).await,
            Heard::Ping => self.control(Input::Pinged).await,
            Heard::Pong => self.control(Input::Pong).await,
            Heard::Ended(code) => self.settle(Input::Ended { code }).await,
            Heard::Misbehaved(close) => self.settle(Input::Misbehaved(close)).await,
        }
    }

    async fn heard_text(&mut self, text: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        match lines.push(text) {
            Ok(whole) => {
                for line in whole {
                    let frame = FromGateway::decode(&line);
                    if !matches!(frame, FromGateway::InboundAck { .. }) {
                        self.said.take(self.room.frames, self.room.clock.moment());
                    }
                    self.settle(Input::Heard(frame)).await;
                }
            }
            Err(_) => self.settle(Input::Misbehaved(Close::TooBig)).await,
        }
        self.lines = lines;
    }

    async fn control(&mut self, input: Input) {
        let now = self.room.clock.moment();
        let is_within = self.controls.wait(CONTROLS, now).is_zero();
        self.controls.take(CONTROLS, now);
        self.settle(if is_within { input } else { Input::Misbehaved(Close::Policy) }).await;
    }

    async fn rung(&mut self, rung: Rung) {
        if let Some(seq) = rung.seq {
            self.settle(Input::Rung(Some(seq))).await;
        }
        for order in rung.orders {
            let input = match order {
                Order::Replaced => Input::Replaced,
                Order::Revoked => Input::Revoked,
                Order::Stop { session_key, chat_id } => match SessionKey::new(session_key) {
                    Some(session_key) => Input::Stop { session_key, chat_id },
                    None => continue,
                },
            };
            self.settle(input).await;
        }
    }

    /// Passes an input to the session and executes the effects. Results of effects go back to the session at once.
    async fn settle(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let effects = self.session.step(now(&*self.room.clock), input);
            if effects.is_empty() {
                continue;
            }
            for effect in effects {
                match self.obey(effect).await {
                    // The first hello is looked up and takes the line: both results go to the session, in order.
                    Ok(Some(answer)) => Box::pin(self.settle(answer)).await,
                    Ok(None) => {}
                    Err(Broken) => inputs.push(Input::Ended { code: BROKEN_CODE }),
                }
            }
            if self.socket.flush().await.is_err() {
                inputs.push(Input::Ended { code: BROKEN_CODE });
            } else if self.session.unacked_entries() > 0 {
                fail_point!("line::entries_flushed");
            }
        }
        self.begin_acks();
    }

    async fn obey(&mut self, effect: Effect) -> Result<Option<Input>, Broken> {
        match effect {
            Effect::Greet(hello) => {
                let Room { desk, dials, .. } = &*self.room;
                let greeted = dials.in_turn(desk.greet(&self.caller, &hello)).await;
                let greeted = self.or_lost("look up a hello", greeted);
                return Ok(Some(
                    greeted.map_or(Input::StoreLost, |greeted| Input::Greeted(Box::new(greeted))),
                ));
            }
            Effect::Take => return Ok(Some(self.take().await)),
            Effect::Say(frame) => self.socket.say(frame).await?,
            Effect::Ping => self.socket.ping().await?,
            Effect::Read { after, since, entries_max, taken_at } => {
                let Some((_, line)) = self.taken else { return Ok(None) };
                let inbox = Arc::clone(&self.room.inbox);
                if after < taken_at {
                    fail_point!("line::backlog_page");
                } else {
                    fail_point!("line::backlog_read");
                }
                let ask = Ask { line, after, since, entries_max, taken_at };
                self.reading = Some(Box::pin(waiting(inbox, ask)));
            }
            Effect::Ack(range) => {
                fail_point!("line::ack_received");
                self.acks.add(range);
            }
            Effect::Park(seq, reason) => {
                if let Some((_, line)) = &self.taken {
                    let parked = self.room.inbox.store().park(line, seq, reason).await;
                    self.or_lost("park an entry", parked);
                }
            }
            Effect::Send(outbound) => self.send(*outbound),
            Effect::Stop(interrupt) => self.room.desk.stop(&self.caller, interrupt).await,
            Effect::Suspect => {
                if let Some((_, line)) = &self.taken {
                    let suspected = self.room.desk.suspect(line).await;
                    let suspected = self.or_lost("request a call to its agent", suspected);
                    return Ok(suspected.is_none().then_some(Input::SuspectFailed));
                }
            }
            Effect::FollowRules(rules) => {
                let followed = self.room.desk.follow_rules(&self.caller, rules).await;
                self.or_lost("store the rules of a client", followed);
            }
            Effect::Close(close) => drop(self.socket.close(close).await),
            Effect::End(end) => self.end(end).await,
        }
        Ok(None)
    }

    fn send(&mut self, outbound: nightdesk_protocol::frame::Outbound) {
        let request = outbound.request_id.clone();
        let hellos = self.session.hellos().to_vec();
        let sent = self.room.desk.send(self.caller, hellos, outbound);
        self.sends.push(Box::pin(async move { (request, sent.await) }));
    }

    /// Makes the line the agent's newest. An older line on this node ends first, so that its results for its entries
    /// are known.
    async fn take(&mut self) -> Input {
        let Caller { scope, agent, gateway, acks: _ } = self.caller;
        drop(timeout(REPLACED_WAIT, self.room.ears.replace(agent)).await);
        let Room { store, dials, node, .. } = &*self.room;
        let taken = dials.in_turn(store.take(&self.caller, node)).await;
        let Some(taken) = self.or_lost("take a line", taken) else { return Input::StoreLost };
        if let Some(seq) = taken.parked {
            tracing::warn!(agent.id = %agent, entry.seq = %seq, "parked entry {seq} of agent {agent} after its last try");
        }
        let line = LineClaim { scope, agent, generation: taken.generation };
        // Open the ear before the first read, so that the bell rings for every later entry.
        let ear = self.room.ears.open(scope, agent, gateway, taken.generation);
        self.taken = Some((ear, line));
        Input::Taken(taken)
    }

    async fn end(&mut self, end: crate::store::End) {
        self.room.metrics.ended(end.code);
        let Some((ear, line)) = self.taken.take() else { return };
        self.acks.flush(&self.room.inbox, line, LAST_ACKS_WAIT).await;
        let closed = self.room.store.close(&line, end).await;
        // From here on, a newer line need not wait for this one.
        self.room.ears.close(&ear);
        if self.or_lost("store the end of a line", closed).is_none() {
            note_again(&*self.room.store, &line, end, LINE_END_AGAIN, &self.room.drain).await;
        }
    }

    fn begin_acks(&mut self) {
        if let Some((_, line)) = &self.taken {
            self.acks.begin(&self.room.inbox, *line);
        }
    }

    fn or_lost<T>(&self, what: &'static str, answer: Result<T, StoreError>) -> Option<T> {
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
enum Happened {
    Heard(Heard),
    Rung(Rung),
    /// A write of acks ended.
    Written(Option<Ack>),
    Other(Input),
}

/// The code of a socket that cannot be written to any more.
const BROKEN_CODE: u16 = 1006;

pub(crate) fn now(clock: &dyn Clock) -> Now {
    Now { moment: clock.moment(), wall: clock.now() }
}

/// Waits until the bell rings. While the line is not taken, it never returns.
async fn rung(taken: Option<&(Arc<Ear>, LineClaim)>) -> Rung {
    match taken {
        Some((ear, _)) => {
            ear.rung().await;
            ear.listen()
        }
        None => std::future::pending().await,
    }
}

async fn waiting(inbox: Arc<Inbox>, ask: Ask) -> Result<Waiting, StoreError> {
    inbox.waiting(ask).await
}

async fn read(
    reading: &mut Option<BoxFuture<'static, Result<Waiting, StoreError>>>,
) -> Result<Waiting, StoreError> {
    match reading {
        Some(reading) => reading.await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Moment>, clock: &dyn Clock) {
    match deadline {
        Some(deadline) => sleep(deadline.since(clock.moment())).await,
        None => sleep(Duration::MAX).await,
    }
}
