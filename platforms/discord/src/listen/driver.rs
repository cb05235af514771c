//! Executes a bot's conversations with Discord. It dials, reads and writes, and decides nothing.

use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use nightdesk_port::{Bot, Budget};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, interval_at, sleep_until, timeout};

use super::course::{Course, Fatal, SPENT};
use super::cursor::Cursor;
use super::dial::Dialler;
use super::ear::Ends;
use super::socket::{Came, Socket};
use super::talk::{Effect, Ended, Talk, Told};
use super::turns::Turns;

/// Interval at which the driver checks if the desk still listens.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time limit to take a new session from the budget.
const BUDGET_WAIT: Duration = Duration::from_secs(10);

/// Gateway intents: guilds and members, which decide visibility, and messages with their text.
const INTENTS: u64 = 1 | 1 << 1 | 1 << 9 | 1 << 12 | 1 << 15;

/// Dependencies of all drivers.
#[derive(Clone)]
pub(crate) struct Hands {
    pub(crate) dialler: Arc<Dialler>,
    pub(crate) budget: Arc<dyn Budget>,
    pub(crate) turns: Arc<Turns>,
}

/// The index of a socket and the number of the bot's sockets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shard {
    pub(super) at: usize,
    pub(super) of: usize,
}

/// The driver of one socket of a bot.
pub(super) struct Driver {
    bot: Bot,
    shard: Shard,
    course: Course,
    ends: Ends,
    hands: Hands,
    /// An event that waits for space in the ear's queue. It outlives its socket: Discord does not repeat it.
    held: Option<Arc<Told>>,
    /// Position of the session's first event, if the session began here.
    first: Option<Cursor>,
}

/// Reasons for the end of a conversation.
enum Over {
    Ended(Ended),
    /// The desk no longer listens.
    Left,
    /// The budget of new sessions is used up.
    Spent,
}

/// One open conversation.
struct Line {
    socket: Socket,
    talk: Talk,
    beat: Option<Interval>,
    since: Instant,
}

impl Driver {
    pub(super) fn new(bot: Bot, shard: Shard, course: Course, ends: Ends, hands: Hands) -> Self {
        Self { bot, shard, course, ends, hands, held: None, first: None }
    }

    /// Runs conversations until the desk stops listening or Discord refuses the bot.
    pub(super) async fn run(mut self) {
        loop {
            if self.is_left_within(self.wait()).await || !self.has_place().await {
                return;
            }
            let mut talk = self.course.talk();
            let over = match self.hands.dialler.dial(self.course.url()).await {
                Ok(socket) => self.hold(&mut talk, socket).await,
                Err(_) => Over::Ended(Ended::NotReached),
            };
            match over {
                Over::Left => return,
                Over::Spent => return self.ends.shared.end(SPENT),
                Over::Ended(ended) => {
                    if let Some(fatal) = self.course.ended(&talk, ended) {
                        return self.give_up(fatal);
                    }
                }
            }
        }
    }

    /// Returns the delay before the next conversation. The sockets of a bot begin their sessions one after the other.
    fn wait(&self) -> Duration {
        let wait = self.course.wait();
        if self.course.begins_anew() { wait.max(self.hands.turns.next(self.bot.id)) } else { wait }
    }

    fn give_up(&self, fatal: Fatal) {
        tracing::warn!(bot.id = %self.bot.id, "Discord closed the socket of bot {} for good", self.bot.id);
        self.ends.shared.end(fatal);
    }

    /// Waits up to `span` and returns true if the desk no longer listens.
    async fn is_left_within(&mut self, span: Duration) -> bool {
        let is_told = timeout(span, told_to_leave(&mut self.ends.leave)).await.is_ok();
        is_told || self.ends.shared.is_left()
    }

    /// Queues the held event before more events are read. Returns false if the desk no longer listens.
    async fn has_place(&mut self) -> bool {
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
    async fn hold(&mut self, talk: &mut Talk, socket: Socket) -> Over {
        let fresh = self.course.talk();
        let mut line = Line {
            socket,
            talk: std::mem::replace(talk, fresh),
            beat: None,
            since: Instant::now(),
        };
        let over = self.go_on(&mut line).await;
        let Line { socket, talk: held, .. } = line;
        *talk = held;
        socket.hang_up().await;
        over
    }

    async fn go_on(&mut self, line: &mut Line) -> Over {
        let mut look = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
        loop {
            let effects = tokio::select! {
                () = told_to_leave(&mut self.ends.leave) => return Over::Left,
                _ = look.tick() => {
                    if self.ends.shared.is_left() {
                        return Over::Left;
                    }
                    vec![]
                }
                () = tick(line.beat.as_mut()) => vec![line.talk.beat(self.held.is_none())],
                ended = run_out(line.talk.patience(), line.since), if self.held.is_none() => {
                    return Over::Ended(ended);
                }
                place = self.ends.tx.reserve(), if self.held.is_some() => {
                    let Ok(place) = place else { return Over::Left };
                    if let Some(told) = self.held.take() {
                        place.send(told);
                    }
                    // The socket was not read during the wait for space, so the deadline restarts.
                    line.since = Instant::now();
                    vec![]
                }
                came = line.socket.hear(), if self.held.is_none() => match came {
                    Came::Text(text) => line.talk.hear(&text),
                    Came::Nothing => vec![],
                    Came::End(code) => return Over::Ended(Ended::Closed(code)),
                },
            };
            for effect in effects {
                if let Some(over) = self.obey(line, effect).await {
                    return over;
                }
            }
        }
    }

    async fn obey(&mut self, line: &mut Line, effect: Effect) -> Option<Over> {
        let frame = match effect {
            Effect::Over(ended) => return Some(Over::Ended(ended)),
            Effect::Tell(told) => {
                self.told(told);
                return None;
            }
            Effect::BeatEvery(every) => {
                line.since = Instant::now();
                line.beat = Some(interval_at(Instant::now() + self.first_beat(every), every));
                return None;
            }
            Effect::Beat => json!({ "op": 1, "d": self.stored(line) }),
            Effect::Resume => {
                let session = line.talk.session()?;
                let seq = self.stored(line);
                self.shown(6, json!({ "session_id": session.session, "seq": seq }))
            }
            Effect::Identify => {
                match timeout(BUDGET_WAIT, self.hands.budget.spend(&self.bot)).await {
                    Ok(Ok(true)) => {}
                    Ok(Ok(false)) => return Some(Over::Spent),
                    // The budget's state is unknown, so this attempt ends and a later one may succeed.
                    Ok(Err(_)) | Err(_) => return Some(Over::Ended(Ended::Unanswered)),
                }
                self.course.identified();
                self.shown(2, json!({
                    "intents": INTENTS,
                    "shard": [self.shard.at, self.shard.of],
                    "properties": { "os": "linux", "browser": "nightdesk", "device": "nightdesk" },
                }))
            }
        };
        let is_said = line.socket.say(frame.to_string()).await;
        (!is_said).then_some(Over::Ended(Ended::Closed(None)))
    }

    fn told(&mut self, told: Told) {
        if told.kind == "READY" {
            fail_point!("discord::session_begun_before_store");
            self.first = Some(told.cursor.clone());
        }
        self.held = Some(Arc::new(told));
    }

    /// Builds a frame that contains the bot's key.
    fn shown(&self, op: u8, mut data: Value) -> Value {
        let key = self.bot.key.as_ref().map(|key| key.with(str::to_owned)).unwrap_or_default();
        data["token"] = Value::String(key);
        json!({ "op": op, "d": data })
    }

    /// Returns the sequence number to confirm: that of the last stored event and no later one.
    fn stored(&self, line: &Line) -> Option<u64> {
        let session = line.talk.session()?;
        let stored = self.ends.shared.stored().filter(|stored| stored.session == session.session);
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
async fn told_to_leave(leave: &mut watch::Receiver<bool>) {
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
async fn run_out(patience: Option<(Duration, Ended)>, since: Instant) -> Ended {
    let Some((span, ended)) = patience else { return std::future::pending().await };
    sleep_until(since + span).await;
    ended
}
