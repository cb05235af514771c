//! Executes a bot's conversations with Discord. It dials, reads and writes, and decides nothing.

use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use nightdesk_kit::socket::{PlatformSocket, SocketDialler, SocketRead};
use nightdesk_port::{Bot, SessionBudget};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, interval_at, sleep_until, timeout};

use super::cursor::SessionCursor;
use super::listener::DriverEnds;
use super::reconnect::{FatalClose, ReconnectState, SPENT};
use super::session::{ConnectionEnd, DispatchEvent, GatewayEffect, GatewaySession};
use super::turns::IdentifyTurns;

/// Interval at which the driver checks if the desk still listens.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time limit to take a new session from the budget.
const BUDGET_WAIT: Duration = Duration::from_secs(10);

/// API version and encoding.
const DIALECT: &str = "/?v=10&encoding=json";

/// Close code that keeps the session resumable. With any other code Discord ends the session.
const GOES_ON: u16 = 4000;

/// Gateway intents: guilds and members, which decide visibility, and messages with their text.
const INTENTS: u64 = 1 | 1 << 1 | 1 << 9 | 1 << 12 | 1 << 15;

/// Dependencies of all drivers.
#[derive(Clone)]
pub(crate) struct DriverContext {
    pub(crate) dialler: SocketDialler,
    /// The address of the gateway.
    pub(crate) main_url: String,
    pub(crate) budget: Arc<dyn SessionBudget>,
    pub(crate) turns: Arc<IdentifyTurns>,
}

/// The index of a socket and the number of the bot's sockets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shard {
    pub(super) at: usize,
    pub(super) of: usize,
}

/// The driver of one socket of a bot.
pub(super) struct ShardDriver {
    bot: Bot,
    shard: Shard,
    reconnect: ReconnectState,
    ends: DriverEnds,
    context: DriverContext,
    /// An event that waits for space in the ear's queue. It outlives its socket: Discord does not repeat it.
    held: Option<Arc<DispatchEvent>>,
    /// Position of the session's first event, if the session began here.
    first: Option<SessionCursor>,
}

/// Reasons for the end of a conversation.
enum ConnectionOutcome {
    Ended(ConnectionEnd),
    /// The desk no longer listens.
    Left,
    /// The budget of new sessions is used up.
    Spent,
}

/// One open conversation.
struct GatewayConnection {
    socket: PlatformSocket,
    session: GatewaySession,
    beat: Option<Interval>,
    since: Instant,
}

fn dialect_url(url: &str) -> String {
    format!("{}{DIALECT}", url.trim_end_matches('/'))
}

impl ShardDriver {
    pub(super) fn new(
        bot: Bot,
        shard: Shard,
        course: ReconnectState,
        ends: DriverEnds,
        hands: DriverContext,
    ) -> Self {
        Self { bot, shard, reconnect: course, ends, context: hands, held: None, first: None }
    }

    /// Runs conversations until the desk stops listening or Discord refuses the bot.
    pub(super) async fn run(mut self) {
        loop {
            if self.is_left_within(self.next_delay()).await || !self.queue_held().await {
                return;
            }
            let mut talk = self.reconnect.next_session();
            let over = match self.context.dialler.dial(&dialect_url(self.reconnect.url())).await {
                Ok(socket) => self.run_connection(&mut talk, socket).await,
                Err(_) => ConnectionOutcome::Ended(ConnectionEnd::NotReached),
            };
            match over {
                ConnectionOutcome::Left => return,
                ConnectionOutcome::Spent => return self.ends.shared.set_end(SPENT),
                ConnectionOutcome::Ended(ended) => {
                    if let Some(fatal) = self.reconnect.record_end(&talk, ended) {
                        return self.give_up(fatal);
                    }
                }
            }
        }
    }

    /// Returns the delay before the next conversation. The sockets of a bot begin their sessions one after the other.
    fn next_delay(&self) -> Duration {
        let wait = self.reconnect.reconnect_delay();
        if self.reconnect.begins_anew() {
            wait.max(self.context.turns.reserve_next(self.bot.id))
        } else {
            wait
        }
    }

    fn give_up(&self, fatal: FatalClose) {
        tracing::warn!(bot.id = %self.bot.id, "Discord closed the socket of bot {} for good", self.bot.id);
        self.ends.shared.set_end(fatal);
    }

    /// Waits up to `span` and returns true if the desk no longer listens.
    async fn is_left_within(&mut self, span: Duration) -> bool {
        let is_told = timeout(span, wait_for_leave(&mut self.ends.leave)).await.is_ok();
        is_told || self.ends.shared.is_left()
    }

    /// Queues the held event before more events are read. Returns false if the desk no longer listens.
    async fn queue_held(&mut self) -> bool {
        while let Some(told) = &self.held {
            match timeout(LOOK_EVERY, self.ends.tx.send(Arc::clone(told))).await {
                Ok(Ok(())) => self.held = None,
                Ok(Err(_)) => return false,
                Err(_) => {
                    if self.is_left_within(Duration::ZERO).await {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Runs one conversation to its end. The session can be resumed after every kind of end.
    async fn run_connection(
        &mut self,
        talk: &mut GatewaySession,
        socket: PlatformSocket,
    ) -> ConnectionOutcome {
        let fresh = self.reconnect.next_session();
        let mut line = GatewayConnection {
            socket,
            session: std::mem::replace(talk, fresh),
            beat: None,
            since: Instant::now(),
        };
        let over = self.run_loop(&mut line).await;
        let GatewayConnection { socket, session: held, .. } = line;
        *talk = held;
        socket.hang_up(GOES_ON).await;
        over
    }

    async fn run_loop(&mut self, line: &mut GatewayConnection) -> ConnectionOutcome {
        let mut look = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
        loop {
            let effects = tokio::select! {
                () = wait_for_leave(&mut self.ends.leave) => return ConnectionOutcome::Left,
                _ = look.tick() => {
                    if self.ends.shared.is_left() {
                        return ConnectionOutcome::Left;
                    }
                    vec![]
                }
                () = tick(line.beat.as_mut()) => vec![line.session.tick_heartbeat(self.held.is_none())],
                ended = wait_for_deadline(line.session.phase_deadline(), line.since), if self.held.is_none() => {
                    return ConnectionOutcome::Ended(ended);
                }
                place = self.ends.tx.reserve(), if self.held.is_some() => {
                    let Ok(place) = place else { return ConnectionOutcome::Left };
                    if let Some(told) = self.held.take() {
                        place.send(told);
                    }
                    // The socket was not read during the wait for space, so the deadline restarts.
                    line.since = Instant::now();
                    vec![]
                }
                came = line.socket.read_message(), if self.held.is_none() => match came {
                    SocketRead::Text(text) => line.session.handle_frame(&text),
                    SocketRead::Nothing => vec![],
                    SocketRead::End(code) => return ConnectionOutcome::Ended(ConnectionEnd::Closed(code)),
                },
            };
            for effect in effects {
                if let Some(over) = self.execute_effect(line, effect).await {
                    return over;
                }
            }
        }
    }

    async fn execute_effect(
        &mut self,
        line: &mut GatewayConnection,
        effect: GatewayEffect,
    ) -> Option<ConnectionOutcome> {
        let frame = match effect {
            GatewayEffect::Over(ended) => return Some(ConnectionOutcome::Ended(ended)),
            GatewayEffect::Tell(told) => {
                self.hold_event(told);
                return None;
            }
            GatewayEffect::BeatEvery(every) => {
                line.since = Instant::now();
                line.beat = Some(interval_at(Instant::now() + self.first_beat(every), every));
                return None;
            }
            GatewayEffect::Beat => json!({ "op": 1, "d": self.stored_seq(line) }),
            GatewayEffect::Resume => {
                let session = line.session.cursor()?;
                let seq = self.stored_seq(line);
                self.frame_with_key(6, json!({ "session_id": session.session, "seq": seq }))
            }
            GatewayEffect::Identify => {
                match timeout(BUDGET_WAIT, self.context.budget.spend(&self.bot)).await {
                    Ok(Ok(true)) => {}
                    Ok(Ok(false)) => return Some(ConnectionOutcome::Spent),
                    // The budget's state is unknown, so this attempt ends and a later one may succeed.
                    Ok(Err(_)) | Err(_) => {
                        return Some(ConnectionOutcome::Ended(ConnectionEnd::Unanswered));
                    }
                }
                self.reconnect.record_identify();
                self.frame_with_key(2, json!({
                    "intents": INTENTS,
                    "shard": [self.shard.at, self.shard.of],
                    "properties": { "os": "linux", "browser": "nightdesk", "device": "nightdesk" },
                }))
            }
        };
        let is_said = line.socket.send_text(frame.to_string()).await;
        (!is_said).then_some(ConnectionOutcome::Ended(ConnectionEnd::Closed(None)))
    }

    fn hold_event(&mut self, told: DispatchEvent) {
        if told.kind == "READY" {
            fail_point!("discord::session_begun_before_store");
            self.first = Some(told.cursor.clone());
        }
        self.held = Some(Arc::new(told));
    }

    /// Builds a frame that contains the bot's key.
    fn frame_with_key(&self, op: u8, mut data: Value) -> Value {
        let key = self.bot.key.as_ref().map(|key| key.with(str::to_owned)).unwrap_or_default();
        data["token"] = Value::String(key);
        json!({ "op": op, "d": data })
    }

    /// Returns the sequence number to confirm: that of the last stored event and no later one.
    fn stored_seq(&self, line: &GatewayConnection) -> Option<u64> {
        let session = line.session.cursor()?;
        let stored =
            self.ends.shared.stored_cursor().filter(|stored| stored.session == session.session);
        let first = self.first.as_ref().filter(|first| first.session == session.session);
        Some(stored.as_ref().or(first).unwrap_or(session).seq)
    }

    /// Returns the delay of the first heartbeat, which differs per bot so that they do not coincide.
    fn first_beat(&self, every: Duration) -> Duration {
        let share = u32::from(self.bot.id.uuid().as_bytes()[15]) + 1;
        every * share / 256
    }
}

/// Waits until the ear requests the end or is dropped.
async fn wait_for_leave(leave: &mut watch::Receiver<bool>) {
    let told = leave.wait_for(|is_left| *is_left).await;
    drop(told);
}

/// Waits for the next heartbeat, or forever if no interval is known.
async fn tick(beat: Option<&mut Interval>) {
    match beat {
        Some(beat) => drop(beat.tick().await),
        None => std::future::pending().await,
    }
}

/// Waits until the conversation's deadline, and returns the end that follows.
async fn wait_for_deadline(
    patience: Option<(Duration, ConnectionEnd)>,
    since: Instant,
) -> ConnectionEnd {
    let Some((span, ended)) = patience else { return std::future::pending().await };
    sleep_until(since + span).await;
    ended
}
