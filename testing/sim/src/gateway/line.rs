//! One line of a gateway, from its hello to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_gateway::{Closed, Received, ack, hello};
use nightdesk_judge::{Event, OutResult};
use nightdesk_protocol::frame::ToGateway;
use nightdesk_protocol::outcome::Outcome;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};
use turmoil::net::TcpStream;

use super::habit::Habit;
use crate::cast::Agent;
use crate::chance::Chance;
use crate::notes::Notes;

pub(super) type Socket = nightdesk_gateway::Line<TcpStream>;

/// Time without a frame from the desk after which a line counts as dead.
const SILENT_FOR: Duration = Duration::from_mins(1);

/// Time limit of a write.
const SAY_WAIT: Duration = Duration::from_secs(15);

/// Time that a gateway that goes idle waits for the desk's response.
const GOODBYE_WAIT: Duration = Duration::from_secs(1);

/// Sends per thousand without a result that are requested again on the next line.
const AGAIN_PER_MILLE: u64 = 500;

/// A requested send. Its text is its nonce.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) chat: String,
    /// True if it was requested before and got no result.
    pub(super) repeated: bool,
}

/// A scheduled action.
enum Due {
    Ack(String),
    Ask(Request),
}

/// The end of a line.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: u16,
    pub(super) unanswered: Vec<Request>,
}

/// A line.
pub(super) struct Line {
    socket: Socket,
    conn: String,
    agent: Arc<Agent>,
    notes: Notes,
    habit: Habit,
    chance: Chance,
    due: BTreeMap<(Instant, u64), Due>,
    dues: u64,
    asked: BTreeMap<String, Request>,
    heard_at: Instant,
}

impl Line {
    pub(super) fn new(
        socket: Socket,
        conn: String,
        (agent, notes): (Arc<Agent>, Notes),
        habit: Habit,
        chance: Chance,
    ) -> Self {
        let (due, asked, heard_at) = (BTreeMap::new(), BTreeMap::new(), Instant::now());
        Self { socket, conn, agent, notes, habit, chance, due, dues: 0, asked, heard_at }
    }

    /// Sends a hello, and possibly repeats requests without a result.
    pub(super) async fn greet(&mut self, unanswered: &mut Vec<Request>) {
        let mut hello = hello("relay", "");
        if self.habit.boots_slowly
            && let Some(fields) = hello.as_object_mut()
        {
            fields.remove("command_manifest");
        }
        // If the line has ended, the next read reports it.
        drop(self.say(&hello).await);
        for request in unanswered.drain(..) {
            if self.chance.happens(AGAIN_PER_MILLE) {
                let again = Request { repeated: true, ..request };
                self.later(Duration::from_secs(1), Due::Ask(again));
            }
        }
    }

    /// Runs until a moment. Returns the end of the line if it ended before.
    pub(super) async fn run(&mut self, until: Instant) -> Option<Ended> {
        loop {
            let next = self.due.first_key_value().map_or(until, |((at, _), _)| *at);
            let broken = tokio::select! {
                received = self.socket.receive() => self.received_message(received),
                () = sleep_until(next.min(until)) => {
                    if next >= until {
                        return None;
                    }
                    self.act().await
                }
                () = sleep_until(self.heard_at + SILENT_FOR) => {
                    Err(Closed { code: 0, reason: "silent".to_owned() })
                }
            };
            if let Err(Closed { code, reason }) = broken {
                return Some(self.end(code, &reason));
            }
        }
    }

    /// Runs until a moment, and leaves.
    pub(super) async fn run_out(mut self, until: Instant) -> Ended {
        match self.run(until).await {
            Some(ended) => ended,
            None => self.close().await,
        }
    }

    /// Announces that it goes idle, and leaves after the desk's response.
    pub(super) async fn say_goodbye(&mut self) -> Ended {
        drop(self.say(&json!({ "type": "going_idle" })).await);
        match self.run(Instant::now() + GOODBYE_WAIT).await {
            Some(ended) => ended,
            None => self.close().await,
        }
    }

    pub(super) async fn close(&mut self) -> Ended {
        let ended = self.end(1000, "left");
        drop(timeout(SAY_WAIT, self.socket.close()).await);
        ended
    }

    pub(super) fn end(&mut self, code: u16, reason: &str) -> Ended {
        let unanswered: Vec<Request> = std::mem::take(&mut self.asked).into_values().collect();
        for Request { id, .. } in &unanswered {
            self.note_result(id, OutResult::Nothing);
        }
        let (conn, reason) = (self.conn.clone(), reason.to_owned());
        self.notes.note(Event::GwClose { conn, code, reason });
        Ended { code, unanswered }
    }

    fn received_message(&mut self, received: Received) -> Result<(), Closed> {
        self.heard_at = Instant::now();
        match received {
            Received::Text(text) => self.understand(text.as_bytes()),
            Received::Other => {}
            Received::Closed(closed) => return Err(closed),
        }
        Ok(())
    }

    fn understand(&mut self, text: &[u8]) {
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        match ToGateway::decode(text.trim_ascii_end()) {
            ToGateway::Inbound { event, buffer_id: Some(buffer_id) } => {
                let chat = event.source.chat_id.clone();
                self.received(buffer_id, (event.message.text.clone(), bytes), chat);
            }
            ToGateway::OutboundResult { request_id, result } => {
                if let Some(request) = self.asked.remove(request_id.as_str()) {
                    self.note_result(&request.id, told(&result, &request));
                }
            }
            ToGateway::InterruptInbound { session_key, chat_id, stop_id: _ } => {
                let (conn, agent) = (self.conn.clone(), self.agent.name.clone());
                let session = session_key.as_str().to_owned();
                self.notes.note(Event::StopRecv { conn, agent, session, chat: chat_id });
            }
            ToGateway::Inbound { buffer_id: None, .. }
            | ToGateway::Descriptor(_)
            | ToGateway::PassthroughForward { .. }
            | ToGateway::GoingIdleAck
            | ToGateway::Unknown { .. }
            | ToGateway::Malformed(_) => {}
        }
    }

    fn received(&mut self, buffer_id: String, (nonce, bytes): (String, u32), chat: String) {
        let (conn, agent) = (self.conn.clone(), self.agent.name.clone());
        let answer = Request { id: format!("{conn}-{nonce}"), chat, repeated: false };
        let id = buffer_id.clone();
        let passthrough = false;
        self.notes.note(Event::GwRecv { conn, agent, buffer_id: id, nonce, bytes, passthrough });
        let acks_after = self.habit.acks_after(&mut self.chance);
        self.later(acks_after, Due::Ack(buffer_id));
        if let Some(answers_after) = self.habit.answers_after(&mut self.chance) {
            self.later(answers_after, Due::Ask(answer));
        }
    }

    fn later(&mut self, span: Duration, due: Due) {
        self.dues += 1;
        self.due.insert((Instant::now() + span, self.dues), due);
    }

    /// Executes the next action that is due.
    async fn act(&mut self) -> Result<(), Closed> {
        let Some((_, due)) = self.due.pop_first() else { return Ok(()) };
        let (conn, agent) = (self.conn.clone(), self.agent.name.clone());
        let frame = match due {
            Due::Ack(buffer_id) => {
                let frame = ack(&buffer_id);
                self.notes.note(Event::GwAck { conn, agent, buffer_id });
                frame
            }
            Due::Ask(request) => {
                let (id, chat) = (request.id.clone(), request.chat.clone());
                let frame = ask(&request);
                self.notes.note(Event::OutReq {
                    conn,
                    agent,
                    nonce: id.clone(),
                    request: id.clone(),
                    chat,
                });
                self.asked.insert(id, request);
                frame
            }
        };
        self.say(&frame).await
    }

    async fn say(&mut self, frame: &Value) -> Result<(), Closed> {
        let sent = timeout(SAY_WAIT, self.socket.send_frame(frame)).await;
        sent.unwrap_or_else(|_| Err(Closed::broken()))
    }

    fn note_result(&self, request: &str, result: OutResult) {
        let (conn, request) = (self.conn.clone(), request.to_owned());
        self.notes.note(Event::OutRes { conn, request, result });
    }
}

fn ask(Request { id, chat, .. }: &Request) -> Value {
    let action = json!({ "op": "send", "chat_id": chat, "content": id });
    json!({ "type": "outbound", "requestId": id, "action": action })
}

/// Interprets a result. The failure of a repeated request does not reveal the result of the first one.
pub(super) fn told(result: &Outcome, request: &Request) -> OutResult {
    if result.is_success() {
        OutResult::Done
    } else if result.is_ambiguous() || request.repeated {
        OutResult::Ambiguous
    } else {
        OutResult::Failed
    }
}
