//! One line of an agent that polls, from its first take to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_judge::{Event, OutResult};
use nightdesk_protocol::frame::ToGateway;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::habit::{Habit, LONG_TURN};
use super::line::{Ended, Request, told};
use super::requests::{Caller, Reply};
use super::{BROKEN_CODE, ENDED_CODE, REVOKED_CODE};
use crate::cast::Agent;
use crate::chance::Chance;
use crate::notes::Notes;

/// Time that a take waits for a frame.
const TAKE_SECS: u64 = 5;

/// Sends per thousand without a result that are requested again on the next line.
const AGAIN_PER_MILLE: u64 = 500;

/// A scheduled action.
enum Due {
    Ack(String),
    Ask(Request),
    Take,
}

/// A request under way.
enum Asked {
    Take,
    Ack,
    Send(String),
}

/// The agent and its records.
pub(super) struct PollingAgent {
    pub(super) agent: Arc<Agent>,
    pub(super) notes: Notes,
    pub(super) habit: Habit,
    pub(super) conn: String,
}

/// An open line.
pub(super) struct PolledLine {
    of: PollingAgent,
    caller: Caller,
    chance: Chance,
    /// The line after the newest frames.
    name: String,
    due: BTreeMap<(Instant, u64), Due>,
    dues: u64,
    asked: BTreeMap<String, Request>,
    requests: FuturesUnordered<LocalBoxFuture<'static, (Asked, Reply)>>,
    /// True if the agent's next turn takes long.
    has_long_turn: bool,
}

impl PolledLine {
    /// Opens a line, and possibly repeats requests without a result. The error is the code of a line that did not open.
    pub(super) async fn open(
        of: PollingAgent,
        mut caller: Caller,
        unanswered: &mut Vec<Request>,
    ) -> Result<Self, u16> {
        let open = json!({ "wait_seconds": 0, "client": { "name": "sim", "version": "1" } });
        let taken = match caller.ask("/v1/line/take", &open).await {
            Reply::Done(taken) => taken,
            Reply::Revoked => return Err(REVOKED_CODE),
            Reply::Gone | Reply::Unclear => return Err(BROKEN_CODE),
        };
        let mut line = Self {
            has_long_turn: of.habit.has_long_turn,
            of,
            chance: caller.chance.fork(),
            caller,
            name: String::new(),
            due: BTreeMap::new(),
            dues: 0,
            asked: BTreeMap::new(),
            requests: FuturesUnordered::new(),
        };
        for request in unanswered.drain(..) {
            if line.chance.happens(AGAIN_PER_MILLE) {
                let again = Request { repeated: true, ..request };
                line.later(Duration::from_secs(1), Due::Ask(again));
            }
        }
        line.taken(&taken);
        Ok(line)
    }

    /// Runs until a moment. Returns the end of the line if it ended before.
    pub(super) async fn run(&mut self, until: Instant) -> Option<Ended> {
        loop {
            let next = self.due.first_key_value().map_or(until, |((at, _), _)| *at);
            tokio::select! {
                Some((asked, reply)) = self.requests.next(), if !self.requests.is_empty() => {
                    if let Some(code) = self.handle_reply(asked, reply) {
                        return Some(self.end(code, "ended by the desk"));
                    }
                }
                () = sleep_until(next.min(until)) => {
                    if next >= until {
                        return None;
                    }
                    self.act();
                }
            }
        }
    }

    /// Ends the line by the request for that.
    pub(super) async fn go_idle(&mut self) -> Ended {
        let body = json!({ "line": self.name });
        self.caller.until_clear("/v1/line/idle", &body).await;
        self.end(ENDED_CODE, "idle")
    }

    pub(super) fn end(&mut self, code: u16, reason: &str) -> Ended {
        let unanswered: Vec<Request> = std::mem::take(&mut self.asked).into_values().collect();
        for Request { id, .. } in &unanswered {
            self.note_result(id, OutResult::Nothing);
        }
        let (conn, reason) = (self.of.conn.clone(), reason.to_owned());
        self.of.notes.note(Event::GwClose { conn, code, reason });
        Ended { code, unanswered }
    }

    /// Handles the outcome of a request. Returns the close code if the line is over.
    fn handle_reply(&mut self, asked: Asked, reply: Reply) -> Option<u16> {
        match (asked, reply) {
            (_, Reply::Gone) => return Some(ENDED_CODE),
            (_, Reply::Revoked) => return Some(REVOKED_CODE),
            (Asked::Take, Reply::Done(taken)) => self.taken(&taken),
            (Asked::Take, Reply::Unclear) => self.take(),
            (Asked::Send(request), Reply::Done(result)) => self.record_result(&request, &result),
            (Asked::Ack | Asked::Send(_), Reply::Done(_) | Reply::Unclear) => {}
        }
        None
    }

    fn record_result(&mut self, request: &str, result: &Value) {
        let frame = json!({ "type": "outbound_result", "requestId": request, "result": result });
        let frame = ToGateway::decode(frame.to_string().as_bytes());
        if let ToGateway::OutboundResult { result, .. } = &frame
            && let Some(request) = self.asked.remove(request)
        {
            self.note_result(&request.id, told(result, &request));
        }
    }

    /// Handles the frames of a take, and makes the next one: after a long turn, if one begins.
    fn taken(&mut self, taken: &Value) {
        taken["line"].as_str().unwrap_or_default().clone_into(&mut self.name);
        let frames = taken["frames"].as_array().cloned().unwrap_or_default();
        let turn = (self.has_long_turn && !frames.is_empty()).then_some(LONG_TURN);
        for frame in frames {
            self.hear(&frame.to_string(), turn);
        }
        match turn {
            Some(turn) => {
                self.has_long_turn = false;
                self.later(turn, Due::Take);
            }
            None => self.take(),
        }
    }

    fn hear(&mut self, text: &str, turn: Option<Duration>) {
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let (conn, agent) = (self.of.conn.clone(), self.of.agent.name.clone());
        match ToGateway::decode(text.as_bytes()) {
            ToGateway::Inbound { event, buffer_id: Some(buffer_id) } => {
                let (nonce, chat) = (event.message.text.clone(), event.source.chat_id.clone());
                let answer = Request { id: format!("{conn}-{nonce}"), chat, repeated: false };
                let id = buffer_id.clone();
                let passthrough = false;
                self.of.notes.note(Event::GwRecv {
                    conn,
                    agent,
                    buffer_id: id,
                    nonce,
                    bytes,
                    passthrough,
                });
                let acks_after = self.of.habit.acks_after(&mut self.chance);
                self.later(turn.unwrap_or(acks_after), Due::Ack(buffer_id));
                if let Some(answers_after) = self.of.habit.answers_after(&mut self.chance) {
                    self.later(turn.unwrap_or(answers_after), Due::Ask(answer));
                }
            }
            ToGateway::InterruptInbound { session_key, chat_id, stop_id: _ } => {
                let session = session_key.as_str().to_owned();
                self.of.notes.note(Event::StopRecv { conn, agent, session, chat: chat_id });
            }
            ToGateway::Inbound { buffer_id: None, .. }
            | ToGateway::OutboundResult { .. }
            | ToGateway::Descriptor(_)
            | ToGateway::PassthroughForward { .. }
            | ToGateway::GoingIdleAck
            | ToGateway::Unknown { .. }
            | ToGateway::Malformed(_) => {}
        }
    }

    fn later(&mut self, span: Duration, due: Due) {
        self.dues += 1;
        self.due.insert((Instant::now() + span, self.dues), due);
    }

    /// Executes the next action that is due.
    fn act(&mut self) {
        let Some((_, due)) = self.due.pop_first() else { return };
        let (conn, agent) = (self.of.conn.clone(), self.of.agent.name.clone());
        match due {
            Due::Ack(buffer_id) => {
                let body = json!({ "line": self.name, "buffer_ids": [buffer_id] });
                self.of.notes.note(Event::GwAck { conn, agent, buffer_id });
                self.ask(Asked::Ack, "/v1/line/ack", body);
            }
            Due::Ask(request) => {
                let (nonce, chat) = (request.id.clone(), request.chat.clone());
                let body = json!({
                    "line": self.name, "request_id": nonce,
                    "action": { "op": "send", "chat_id": chat, "content": nonce },
                });
                let request_id = nonce.clone();
                self.of.notes.note(Event::OutReq { conn, agent, request: request_id, chat, nonce });
                self.ask(Asked::Send(request.id.clone()), "/v1/line/send", body);
                self.asked.insert(request.id.clone(), request);
            }
            Due::Take => self.take(),
        }
    }

    fn take(&mut self) {
        let body = json!({ "line": self.name, "wait_seconds": TAKE_SECS });
        self.ask(Asked::Take, "/v1/line/take", body);
    }

    /// Begins a request. Only a take is not repeated as it is: the next one may name a later position.
    fn ask(&mut self, asked: Asked, path: &'static str, body: Value) {
        let mut caller = self.caller.fork();
        let is_repeated = !matches!(asked, Asked::Take);
        self.requests.push(Box::pin(async move {
            if is_repeated {
                return (asked, caller.until_clear(path, &body).await);
            }
            let reply = caller.ask(path, &body).await;
            if reply == Reply::Unclear {
                caller.rest().await;
            }
            (asked, reply)
        }));
    }

    fn note_result(&self, request: &str, result: OutResult) {
        let (conn, request) = (self.of.conn.clone(), request.to_owned());
        self.of.notes.note(Event::OutRes { conn, request, result });
    }
}
