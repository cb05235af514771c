//! Holds one line of an agent that polls, from its first take to its end.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_judge::{Event, GatewayState};
use nightdesk_protocol::{Frame, ToGateway};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::agent::{CUT, Dialled};
use super::duty::{self, Duty, OutgoingFrame};
use super::line::{AWAY_MS, Parting, until};
use super::requests::{Caller, LineCall, RESPONSE_WAIT, Reply, rest};
use super::{Cut, Told};
use crate::chance::Dice;

/// Longest time that a take waits for a frame, in seconds.
const TAKE_SECS_MAX: usize = 10;

/// Percentage of takes whose response is lost, and the time until then in milliseconds.
const LOST_PERCENT: u64 = 6;
const LOST_MS: (u64, u64) = (0, 2_000);

/// Percentage of takes that name the position before the last frames, as if their response had been lost.
const REPEATED_PERCENT: u64 = 6;

/// Percentage of frames that begin a long turn, and its range in milliseconds.
const TURNS_PERCENT: u64 = 3;
const TURN_MS: (u64, u64) = (5_000, 20_000);

/// Percentage of takes before which the agent leaves.
const LEAVES_PERCENT: u64 = 2;

/// The code of a line that the desk ended, after which the gateway comes back by itself.
const ENDED: u16 = 1012;

/// A take under way.
struct Take {
    /// The line's name that it gave.
    line: String,
    began: Instant,
}

/// A request under way that is repeated until its outcome is clear.
enum PolledRequest {
    Ack(Vec<String>),
    /// The id of the request.
    Send(String),
}

/// A long turn, and the frames that it handles.
struct Turn {
    ends_at: Instant,
    frames: Vec<ToGateway>,
}

/// An open line.
pub(super) struct PolledLine<'a> {
    dialled: Dialled<'a>,
    caller: Caller<'a>,
    dice: &'a mut Dice,
    duty: Duty,
    /// The name of the line after the newest frames, and the one before.
    line: String,
    earlier: String,
    /// The entries of this line, and the time when the desk confirmed their acks.
    entries: BTreeMap<String, Option<Instant>>,
    take: Option<BoxFuture<'a, (Take, Reply)>>,
    requests: FuturesUnordered<BoxFuture<'a, (PolledRequest, Reply)>>,
    turn: Option<Turn>,
    is_settled: bool,
    leaves: bool,
}

impl<'a> PolledLine<'a> {
    /// Opens a line. Returns `None` if it did not open.
    pub(super) async fn open(
        dialled: Dialled<'a>,
        caller: Caller<'a>,
        dice: &'a mut Dice,
    ) -> Option<Self> {
        let client = json!({ "name": "nightdesk-prove", "version": "0" });
        let body = json!({ "wait_seconds": 0, "client": client });
        let began = Instant::now();
        let Reply::Done(taken) = caller.ask(LineCall::Take, &body, RESPONSE_WAIT, dice).await
        else {
            dialled.closed(CUT, "not let in");
            return None;
        };
        let is_settled = dialled.hall.told.borrow().settled;
        let mut line = Self {
            dialled,
            caller,
            dice,
            duty: Duty::default(),
            line: String::new(),
            earlier: String::new(),
            entries: BTreeMap::new(),
            take: None,
            requests: FuturesUnordered::new(),
            turn: None,
            is_settled,
            leaves: false,
        };
        line.taken(&taken, began);
        // There is no position before the first one.
        line.earlier.clone_from(&line.line);
        Some(line)
    }

    /// Holds the line until either side ends it.
    pub(super) async fn hold(mut self, told: &mut watch::Receiver<Told>) -> Parting {
        loop {
            self.begin_requests();
            if self.take.is_none() && self.turn.is_none() {
                if self.is_leaving() {
                    return self.go_idle().await;
                }
                if !self.leaves {
                    self.begin_take();
                }
            }
            let turn_ends = self.turn.as_ref().map(|turn| turn.ends_at);
            let ended = tokio::select! {
                (take, reply) = next(&mut self.take) => {
                    self.take = None;
                    self.handle_take(&take, reply)
                }
                Some((asked, reply)) = self.requests.next(), if !self.requests.is_empty() => {
                    self.handle_reply(asked, reply)
                }
                () = until(turn_ends) => {
                    self.end_turn();
                    None
                }
                () = until(self.duty.due_at()) => None,
                _ = told.changed() => {
                    let told = *told.borrow_and_update();
                    self.told(told)
                }
            };
            if let Some(LineEnd(code, reason)) = ended {
                return self.end(code, reason);
            }
        }
    }

    /// Executes the command to all gateways.
    fn told(&mut self, told: Told) -> Option<LineEnd> {
        if told.over {
            return Some(LineEnd(CUT, "by the gateway"));
        }
        if told.settled {
            self.is_settled = true;
            self.leaves = false;
            self.end_turn();
            self.duty.hurry();
        }
        match told.cuts(self.dice)? {
            Cut::Reset(_) => Some(LineEnd(CUT, "by the gateway")),
            Cut::Sleep(_) => {
                self.leaves = true;
                self.take = None;
                self.end_turn();
                None
            }
        }
    }

    /// Returns true if the agent leaves, with nothing left to do.
    fn is_leaving(&mut self) -> bool {
        let is_idle = self.requests.is_empty() && self.duty.due_at().is_none();
        self.leaves |= !self.is_settled && is_idle && self.dice.percent(LEAVES_PERCENT);
        self.leaves && is_idle
    }

    /// Ends the line by the request for that, and sleeps until a wake call.
    async fn go_idle(self) -> Parting {
        let state = Event::GwState { agent: self.dialled.agent(), what: GatewayState::Idle };
        self.dialled.hall.notes.note(state);
        let body = json!({ "line": self.line });
        let dice = fork(self.dice);
        self.caller.until_clear(LineCall::Idle, body, dice).await;
        self.dialled.closed(CUT, "it is idle");
        Parting::Asleep(self.dice.between_ms(AWAY_MS.0, AWAY_MS.1))
    }

    fn end(self, code: u16, reason: &str) -> Parting {
        self.duty.left_over(&self.dialled);
        self.dialled.closed(code, reason);
        Parting::Again(self.dice.between_ms(20, 300))
    }

    fn begin_take(&mut self) {
        let dice = &mut *self.dice;
        let is_repeated = !self.is_settled && dice.percent(REPEATED_PERCENT);
        let is_lost = !self.is_settled && dice.percent(LOST_PERCENT);
        let line = if is_repeated { &self.earlier } else { &self.line }.clone();
        let body = json!({ "line": line, "wait_seconds": dice.below(TAKE_SECS_MAX + 1) });
        let wait = if is_lost { dice.between_ms(LOST_MS.0, LOST_MS.1) } else { RESPONSE_WAIT };
        let (caller, mut dice) = (self.caller, fork(dice));
        let take = Take { line, began: Instant::now() };
        self.take = Some(Box::pin(async move {
            let reply = caller.ask(LineCall::Take, &body, wait, &mut dice).await;
            if reply == Reply::Unclear && !is_lost {
                rest(&mut dice).await;
            }
            (take, reply)
        }));
    }

    fn handle_take(&mut self, take: &Take, reply: Reply) -> Option<LineEnd> {
        match reply {
            Reply::Done(taken) => {
                self.earlier.clone_from(&take.line);
                self.taken(&taken, take.began);
                None
            }
            Reply::Gone => Some(LineEnd(ENDED, "by the desk")),
            Reply::Unclear => None,
        }
    }

    /// Records the frames of a take, and handles them: now, or after a long turn.
    fn taken(&mut self, taken: &Value, began: Instant) {
        taken["line"].as_str().unwrap_or_default().clone_into(&mut self.line);
        let texts = taken["frames"].as_array().into_iter().flatten().map(Value::to_string);
        let frames: Vec<ToGateway> =
            texts.filter_map(|text| self.new_frame(&text, began)).collect();
        let is_long = !self.is_settled && !frames.is_empty() && self.dice.percent(TURNS_PERCENT);
        if is_long {
            let ends_at = Instant::now() + self.dice.between_ms(TURN_MS.0, TURN_MS.1);
            self.turn = Some(Turn { ends_at, frames });
        } else {
            self.handle_frames(&frames);
        }
    }

    /// Records a frame, unless the agent has it from an earlier take. An entry that comes again although its ack was
    /// confirmed before the take is recorded again.
    fn new_frame(&mut self, text: &str, began: Instant) -> Option<ToGateway> {
        let frame = ToGateway::decode(text.as_bytes());
        let id = duty::entry(&frame).and_then(|entry| entry.buffer_id).map(str::to_owned);
        let known = id.as_ref().and_then(|id| self.entries.get(id).copied());
        if let Some(confirmed) = known {
            if confirmed.is_some_and(|confirmed| confirmed < began) {
                self.duty.seen(&self.dialled, &frame, text.len());
            }
            return None;
        }
        self.duty.seen(&self.dialled, &frame, text.len());
        self.entries.extend(id.map(|id| (id, None)));
        Some(frame)
    }

    fn handle_frames(&mut self, frames: &[ToGateway]) {
        let manner = self.dialled.hall.plan.manners[self.dialled.member];
        for frame in frames {
            self.duty.owed(&self.dialled, frame, manner, self.dice);
            self.duty.replies(&self.dialled, frame, self.dice);
            self.duty.answers(&self.dialled, frame);
            self.duty.follows(&self.dialled, frame, self.dice);
        }
    }

    fn end_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.handle_frames(&turn.frames);
        }
    }

    /// Begins the requests that are due: one for each send, and one for all acks.
    fn begin_requests(&mut self) {
        let manner = self.dialled.hall.plan.manners[self.dialled.member];
        self.duty.acks_due(&self.dialled, manner);
        self.duty.replies_due(&self.dialled);
        let mut acks = Vec::new();
        for outgoing in self.duty.take_outgoing() {
            match outgoing {
                OutgoingFrame::Ack(id) => acks.push(id),
                OutgoingFrame::Frame(frame) => self.begin_send(&frame),
            }
        }
        if !acks.is_empty() {
            let body = json!({ "line": self.line, "buffer_ids": acks });
            self.begin_request(PolledRequest::Ack(acks), LineCall::Ack, body);
        }
    }

    /// Sends a frame as the request that means the same.
    fn begin_send(&mut self, frame: &Frame) {
        let sent: Value = serde_json::from_str(frame.as_str()).unwrap_or_default();
        let request = sent["requestId"].as_str().unwrap_or_default().to_owned();
        let mut body =
            json!({ "line": self.line, "request_id": request, "action": sent["action"] });
        if sent["platform"].is_string() {
            body["platform"] = sent["platform"].clone();
        }
        self.begin_request(PolledRequest::Send(request), LineCall::Send, body);
    }

    fn begin_request(&mut self, asked: PolledRequest, call: LineCall, body: Value) {
        let (caller, dice) = (self.caller, fork(self.dice));
        self.requests
            .push(Box::pin(async move { (asked, caller.until_clear(call, body, dice).await) }));
    }

    fn handle_reply(&mut self, asked: PolledRequest, reply: Reply) -> Option<LineEnd> {
        match (asked, reply) {
            (_, Reply::Gone) => return Some(LineEnd(ENDED, "by the desk")),
            (PolledRequest::Ack(ids), Reply::Done(_)) => {
                let now = Instant::now();
                self.entries.extend(ids.into_iter().map(|id| (id, Some(now))));
            }
            (PolledRequest::Send(request), Reply::Done(result)) => {
                let frame =
                    json!({ "type": "outbound_result", "requestId": request, "result": result });
                let text = frame.to_string();
                self.duty.seen(&self.dialled, &ToGateway::decode(text.as_bytes()), text.len());
            }
            // The run is over.
            (PolledRequest::Ack(_) | PolledRequest::Send(_), Reply::Unclear) => {}
        }
        None
    }
}

/// Close code and reason of a line's end.
struct LineEnd(u16, &'static str);

/// Waits for the outcome of a take, or for ever without one.
async fn next(take: &mut Option<BoxFuture<'_, (Take, Reply)>>) -> (Take, Reply) {
    match take {
        Some(take) => take.await,
        None => std::future::pending().await,
    }
}

/// Returns dice whose throws do not affect those of these.
const fn fork(dice: &mut Dice) -> Dice {
    Dice::of(dice.throw(), 0)
}

const _: () = assert!(TURN_MS.1 < 60_000 && TAKE_SECS_MAX < 55, "the agent stays present");
const _: () =
    assert!(TAKE_SECS_MAX as u64 + 10 < RESPONSE_WAIT.as_secs(), "a take has its response in time");
