//! An agent to which the desk posts entries: it answers in the response, or acks by a request, and may fail once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::rc::Rc;

use nightdesk_judge::{Event, GatewayState};
use nightdesk_protocol::frame::ToGateway;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;
use tokio::time::sleep;
use turmoil::net::{TcpListener, TcpStream};

use super::habit::LONG_TURN;
use super::polled::PollingAgent;
use super::requests::{Caller, Reply};
use super::{BROKEN_CODE, Gateway};
use crate::chance::Chance;
use crate::http::{header, read_post, respond};
use crate::world::PORT;

/// Longest turn, but for a long one. The entries of a chat are posted one after the other.
const TURN_MS_MAX: u64 = 500;

/// Entries per thousand that the agent acks by a request.
const LATER_PER_MILLE: u64 = 300;

/// The name of a posted agent's lines, and its state.
struct PostedAgent {
    of: PollingAgent,
    caller: Caller,
    state: RefCell<PostedState>,
}

/// The posts so far. The desk does not tell which posts belong to one line: one begins with the first post, with the
/// first after a failure, and with an entry that comes again.
#[derive(Default)]
struct PostedState {
    lines: u64,
    /// The current line.
    conn: Option<String>,
    /// The entries of the current line.
    seen: BTreeSet<String>,
    /// The entry that the agent failed.
    failed: Option<String>,
    /// True from the failure until that entry comes again.
    is_failing: bool,
    has_long_turn: bool,
}

/// A post.
struct Post {
    conn: String,
    id: String,
    chat: String,
    nonce: String,
}

/// Serves the agent's URL.
pub(super) async fn serve(gateway: Gateway) -> turmoil::Result {
    let mut chance = gateway.chance.clone();
    let login = gateway.agent.gateways.last().cloned().ok_or("an agent has a gateway")?;
    let has_long_turn = gateway.habit.has_long_turn;
    let caller = Caller { world: gateway.world, login, chance: chance.fork() };
    let of = PollingAgent {
        agent: gateway.agent,
        notes: gateway.notes,
        habit: gateway.habit,
        conn: String::new(),
    };
    let state = RefCell::new(PostedState { has_long_turn, ..PostedState::default() });
    let agent = Rc::new(PostedAgent { of, caller, state });
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
    let mut turns = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        while turns.try_join_next().is_some() {}
        turns.spawn_local(Rc::clone(&agent).take(stream, chance.fork()));
    }
}

impl PostedAgent {
    async fn take(self: Rc<Self>, mut stream: TcpStream, mut chance: Chance) {
        // A node that dies before it has sent the post has posted nothing.
        let Some((head, body)) = read_post(&mut stream).await else { return };
        let Some(id) = header(&head, "webhook-id") else { return };
        let ToGateway::Inbound { event, buffer_id } = ToGateway::decode(&body) else {
            return respond(stream, 200, "").await;
        };
        debug_assert_eq!(buffer_id.as_deref(), Some(id), "the entry names its post");
        let conn = self.begin(id);
        let (chat, nonce) = (event.source.chat_id.clone(), event.message.text.clone());
        let id = id.to_owned();
        self.of.notes.note(Event::GwRecv {
            conn: conn.clone(),
            agent: self.of.agent.name.clone(),
            buffer_id: id.clone(),
            nonce: nonce.clone(),
            bytes: u32::try_from(body.len()).unwrap_or(u32::MAX),
            passthrough: false,
        });
        self.turn(stream, Post { conn, id, chat, nonce }, &mut chance).await;
    }

    /// Returns the line of a post.
    fn begin(&self, id: &str) -> String {
        let mut state = self.state.borrow_mut();
        if state.is_failing && state.failed.as_deref() == Some(id) {
            state.is_failing = false;
            self.note_state(GatewayState::Thawed);
        }
        if !state.seen.insert(id.to_owned())
            && let Some(conn) = state.conn.take()
        {
            self.close(conn, "an entry comes again");
        }
        if let Some(conn) = &state.conn {
            return conn.clone();
        }
        state.lines += 1;
        state.seen = BTreeSet::from([id.to_owned()]);
        let conn = format!("{}-{}", self.of.agent.name, state.lines);
        self.of.notes.note(Event::GwOpen {
            conn: conn.clone(),
            gateway: self.caller.login.name.clone(),
            agent: self.of.agent.name.clone(),
        });
        state.conn = Some(conn.clone());
        conn
    }

    /// Ends a line, if it is the current one.
    fn end(&self, conn: &str, reason: &str) {
        let ended = self.state.borrow_mut().conn.take_if(|current| current == conn);
        if let Some(ended) = ended {
            self.close(ended, reason);
        }
    }

    fn close(&self, conn: String, reason: &str) {
        let reason = reason.to_owned();
        self.of.notes.note(Event::GwClose { conn, code: BROKEN_CODE, reason });
    }

    async fn turn(&self, mut stream: TcpStream, post: Post, chance: &mut Chance) {
        if self.fails(&post.id) {
            // Until the entry comes again, the desk posts nothing to this agent, as if it stood still.
            self.note_state(GatewayState::Frozen);
            self.end(&post.conn, "it failed");
            return respond(stream, 500, "").await;
        }
        let is_long = std::mem::take(&mut self.state.borrow_mut().has_long_turn);
        let takes = chance.millis(0, TURN_MS_MAX);
        if !is_long && chance.happens(LATER_PER_MILLE) {
            respond(stream, 202, "").await;
            sleep(takes).await;
            return self.ack_later(&post, chance).await;
        }
        // Before the response, the desk sends nothing more: it hung up if there is something to read.
        let mut byte = [0];
        tokio::select! {
            biased;
            _ = stream.read(&mut byte) => return self.end(&post.conn, "the desk hung up"),
            () = sleep(if is_long { LONG_TURN } else { takes }) => {}
        }
        let words = self.words(&post, chance);
        self.note_ack(&post);
        respond(stream, 200, &words).await;
    }

    /// Returns true if the agent fails this entry, which it does once.
    fn fails(&self, id: &str) -> bool {
        let mut state = self.state.borrow_mut();
        let fails = self.of.habit.may_park() && state.failed.is_none();
        if fails {
            state.failed = Some(id.to_owned());
            state.is_failing = true;
        }
        fails
    }

    fn note_state(&self, what: GatewayState) {
        self.of.notes.note(Event::GwState { agent: self.of.agent.name.clone(), what });
    }

    /// Acks an entry by a request to any node.
    async fn ack_later(&self, post: &Post, chance: &mut Chance) {
        self.note_ack(post);
        let mut caller = Caller { chance: chance.fork(), ..self.caller.clone() };
        let body = json!({ "buffer_ids": [post.id] });
        if !matches!(caller.ask("/v1/line/ack", &body).await, Reply::Done(_)) {
            // The line may have ended, and then the entry comes again.
            self.end(&post.conn, "an ack was not taken");
            caller.until_clear("/v1/line/ack", &body).await;
        }
    }

    fn note_ack(&self, post: &Post) {
        let (conn, agent) = (post.conn.clone(), self.of.agent.name.clone());
        self.of.notes.note(Event::GwAck { conn, agent, buffer_id: post.id.clone() });
    }

    /// Returns the answer to an entry. One that comes again gets the same, which must not be said again.
    fn words(&self, post: &Post, chance: &mut Chance) -> String {
        if self.of.habit.answers_after(chance).is_none() {
            return String::new();
        }
        let (conn, agent) = (post.conn.clone(), self.of.agent.name.clone());
        let (words, chat) = (format!("{agent}-{}", post.nonce), post.chat.clone());
        let (request, nonce) = (words.clone(), words.clone());
        self.of.notes.note(Event::OutReq { conn, agent, request, chat, nonce });
        words
    }
}
