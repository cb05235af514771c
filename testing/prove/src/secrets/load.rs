//! Makes requests while keys are replaced. A request with a wrong result counts as failed.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nightdesk_gateway::{Received, ack};
use nightdesk_protocol::Frame;
use nightdesk_types::SystemClock;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::canary::CAPABILITY;
use crate::gateway::socket::hello;
use crate::platform::Connection;
use crate::setup::{self, Cast, Member, PLATFORM, SharedBot};

/// Kind of every lent capability.
pub const KIND: &str = "discord.interaction_token";

type Line = nightdesk_gateway::Line<TcpStream>;

/// Pause between two requests of one client.
const REST: Duration = Duration::from_millis(10);

/// Timeout of any request.
const PATIENCE: Duration = Duration::from_secs(30);

/// State that all requests share.
#[derive(Debug)]
pub struct Load {
    desk: SocketAddr,
    /// The bot with the platform's current signing key.
    pub bot: RwLock<SharedBot>,
    /// The members with their current gateway secrets.
    pub members: RwLock<Vec<Member>>,
    done: AtomicU64,
    failed: AtomicU64,
    first_failure: Mutex<Option<String>>,
    events: AtomicU64,
    stop: AtomicBool,
}

/// Running requests. Dropping them ends them.
#[derive(Debug)]
pub struct Requests {
    /// The shared state.
    pub load: Arc<Load>,
    tasks: JoinSet<()>,
}

impl Load {
    /// Returns a load on this desk.
    pub fn on(desk: SocketAddr, cast: &Cast) -> Arc<Self> {
        Arc::new(Self {
            desk,
            bot: RwLock::new(cast.bots[0].clone()),
            members: RwLock::new(cast.members.clone()),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            first_failure: Mutex::default(),
            events: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        })
    }

    /// Returns the number of requests, and the number of failed ones.
    pub fn counts(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Returns the current gateway secrets.
    pub fn secrets(&self) -> Vec<String> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.iter().map(|member| member.secret.clone()).collect()
    }

    /// Returns the first failure.
    pub fn first_failure(&self) -> Option<String> {
        self.first_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn member(&self, number: usize) -> Member {
        self.members.read().unwrap_or_else(PoisonError::into_inner)[number].clone()
    }

    fn note(&self, request: Result<()>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = request {
            self.failed.fetch_add(1, Ordering::Relaxed);
            let mut first = self.first_failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| format!("{error:#}"));
        }
    }

    /// Posts an event of a member's author, with an optional capability.
    pub(crate) async fn post(&self, member: usize, lent: Option<&Value>) -> Result<()> {
        self.post_in(&setup::chat(member), member, lent).await
    }

    /// Posts an event in any chat.
    pub(crate) async fn post_in(
        &self,
        chat: &str,
        member: usize,
        lent: Option<&Value>,
    ) -> Result<()> {
        let number = self.events.fetch_add(1, Ordering::Relaxed);
        let author = setup::author(member);
        let source = json!({ "chat_id": chat, "chat_type": "dm", "user_id": author });
        let event = json!({ "text": super::canary::TEXT, "source": source });
        let body = json!({ "id": format!("s{number}"), "event": event, "capability": lent });
        let bot = self.bot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut connection = Connection::open(self.desk).await?;
        let status = connection.post(&bot, body.to_string().as_bytes()).await?;
        ensure!(status == 200, "an event was answered {status}");
        Ok(())
    }

    /// Dials in for a member.
    pub(crate) async fn dial(&self, member: usize) -> Result<Line> {
        let token = self.member(member).token(&SystemClock::start());
        let dialled = open(self.desk, token.expose()).await;
        dialled.with_context(|| format!("gateway {member} got no line"))
    }
}

impl Requests {
    /// Begins the requests: two clients post, two dial, one follows up, each for its own members.
    pub fn begin(load: Arc<Load>) -> Self {
        let mut tasks = JoinSet::new();
        for member in 0..2 {
            let load = Arc::clone(&load);
            tasks.spawn(async move {
                while !load.stop.load(Ordering::Relaxed) {
                    load.note(load.post(member, None).await);
                    tokio::time::sleep(REST).await;
                }
            });
        }
        for member in 2..4 {
            let load = Arc::clone(&load);
            tasks.spawn(async move {
                while !load.stop.load(Ordering::Relaxed) {
                    load.note(load.dial(member).await.map(drop));
                    tokio::time::sleep(REST * 5).await;
                }
            });
        }
        let follows = Arc::clone(&load);
        tasks.spawn(async move { follow_ups(&follows, 4).await });
        Self { load, tasks }
    }

    /// Ends all requests.
    pub async fn end(mut self) -> Arc<Load> {
        self.load.stop.store(true, Ordering::Relaxed);
        while self.tasks.join_next().await.is_some() {}
        self.load
    }
}

/// Opens a line. Returns when the desk has answered its hello.
async fn open(desk: SocketAddr, token: &str) -> Result<Line> {
    let stream = TcpStream::connect(desk).await.context("could not connect")?;
    stream.set_nodelay(true).context("could not send at once")?;
    let mut line = Line::open(stream, &desk.to_string(), token).await?;
    let hello = Frame::hello(&hello(PLATFORM)).context("could not write a hello")?;
    line.send(Message::text(hello.into_string())).await?;
    hear(&mut line, "descriptor").await?;
    Ok(line)
}

/// Holds a line, and follows up with a lent capability again and again.
async fn follow_ups(load: &Load, member: usize) {
    let mut line = None;
    while !load.stop.load(Ordering::Relaxed) {
        let done = timeout(PATIENCE, follow_up_once(load, member, &mut line)).await;
        let done = done.unwrap_or_else(|_| bail_late());
        if done.is_err() {
            line = None;
        }
        load.note(done);
        tokio::time::sleep(REST * 5).await;
    }
}

fn bail_late() -> Result<()> {
    bail!("a follow-up took more than {PATIENCE:?}")
}

async fn follow_up_once(load: &Load, member: usize, held: &mut Option<Line>) -> Result<()> {
    let mut line = match held.take() {
        Some(line) => line,
        None => load.dial(member).await?,
    };
    load.post(member, Some(&json!({ "kind": KIND, "value": CAPABILITY }))).await?;
    let result = follow_up(&mut line, &session(member), "inbound").await?;
    ensure!(result["success"] == true, "a follow-up failed: {result}");
    *held = Some(line);
    Ok(())
}

/// Returns the session key by which a client knows a member's author.
pub fn session(member: usize) -> String {
    format!("agent:main:{PLATFORM}:dm:{}", setup::chat(member))
}

/// Follows up in a session after a frame of type `first`, and returns the result.
pub(crate) async fn follow_up(line: &mut Line, session: &str, first: &str) -> Result<Value> {
    if !first.is_empty() {
        hear(line, first).await?;
    }
    let action = json!({ "op": "follow_up", "session_key": session, "kind": KIND,
        "content": "done" });
    // Each request has a unique id: a repeat would get the first one's result.
    let id = nightdesk_register::new_secret().with(|secret| secret[..32].to_owned());
    let frame = json!({ "type": "outbound", "requestId": id, "action": action });
    line.send_frame(&frame).await?;
    Ok(hear(line, "outbound_result").await?["result"].clone())
}

/// Returns the next frame of a type. Entries are acked, and pings answered.
async fn hear(line: &mut Line, kind: &str) -> Result<Value> {
    loop {
        let text = match line.receive().await {
            Received::Text(text) => text,
            Received::Other => continue,
            Received::Closed(closed) => return Err(closed.into()),
        };
        let frame: Value = serde_json::from_str(&text).context("a frame is no JSON")?;
        if let Some(id) = frame["bufferId"].as_str() {
            ensure!(!frame.to_string().contains(CAPABILITY), "an agent was told a capability");
            line.send_frame(&ack(id)).await?;
        }
        if frame["type"] == kind {
            return Ok(frame);
        }
    }
}
