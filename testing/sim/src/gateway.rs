//! Simulated gateways with the habits of real ones.

mod habit;
mod line;
mod requests;
mod polled;
mod posted;

use std::sync::Arc;
use std::time::Duration;

use nightdesk_gateway::{DialError, token};
use nightdesk_judge::{Event, GatewayState};
use nightdesk_types::{Clock, Transport};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::TcpStream;

pub use habit::{Habit, LONG_TURN, Leave};

use crate::cast::{Agent, Login};
use crate::chance::Chance;
use crate::notes::Notes;
use crate::time::{self, SimClock};
use crate::world::{PORT, World};
use line::{Ended, Line, Request};
use polled::{PolledLine, PollingAgent};
use requests::Caller;

/// Time limit of a dial.
const DIAL_WAIT: Duration = Duration::from_secs(5);

/// Range of the delay before a gateway dials again.
const AGAIN_MS: (u64, u64) = (200, 2_000);

/// Range of the time that an old line is still used after another was dialled.
const OVERLAP_MS: (u64, u64) = (500, 5_000);

/// The close code that a stock client takes as final.
const REVOKED_CODE: u16 = 4401;

/// The codes of a line that its client or the network cut, and of one that the desk ended.
const BROKEN_CODE: u16 = 1006;
const ENDED_CODE: u16 = 1012;

/// Returns the host name of an agent's gateway.
pub fn host(agent: &Agent) -> String {
    format!("gateway-{}", agent.name)
}

/// Runs a gateway's host: it holds a line, and dials again.
pub async fn live(
    world: Arc<World>,
    agent: usize,
    notes: Notes,
    chance: Chance,
) -> turmoil::Result {
    let (habit, transport) = (world.plan.habits[agent].clone(), world.plan.transports[agent]);
    let agent = Arc::new(world.cast.agents[agent].clone());
    let mut gateway =
        Gateway { world, agent, habit, notes, chance, login: 0, dials: 0, unanswered: Vec::new() };
    match transport {
        Transport::WebSocket => gateway.hold_lines().await,
        Transport::Polling | Transport::Mcp => gateway.poll_lines().await,
        Transport::Webhook => return posted::serve(gateway).await,
    }
    // All logins of the agent are revoked.
    std::future::pending().await
}

struct Gateway {
    world: Arc<World>,
    agent: Arc<Agent>,
    habit: Habit,
    notes: Notes,
    chance: Chance,
    /// Index of the login that it uses.
    login: usize,
    dials: u64,
    /// Sends without a result on their line.
    unanswered: Vec<Request>,
}

impl Gateway {
    /// Holds lines, one after the other.
    async fn hold_lines(&mut self) {
        let mut old = JoinSet::new();
        while let Some(login) = self.agent.gateways.get(self.login).cloned() {
            if let Some(line) = self.dial(&login).await {
                self.hold(line, &mut old).await;
            }
            sleep(self.chance.millis(AGAIN_MS.0, AGAIN_MS.1)).await;
        }
    }

    /// Polls lines, one after the other.
    async fn poll_lines(&mut self) {
        while let Some(login) = self.agent.gateways.get(self.login).cloned() {
            if let Some(line) = self.open_polled(login).await {
                self.poll(line).await;
            }
            sleep(self.chance.millis(AGAIN_MS.0, AGAIN_MS.1)).await;
        }
    }

    async fn open_polled(&mut self, login: Login) -> Option<PolledLine> {
        let conn = self.note_dial(&login);
        let caller = Caller { world: Arc::clone(&self.world), login, chance: self.chance.fork() };
        let (agent, notes) = (Arc::clone(&self.agent), self.notes.clone());
        let of = PollingAgent { agent, notes, habit: self.habit.clone(), conn: conn.clone() };
        match PolledLine::open(of, caller, &mut self.unanswered).await {
            Ok(line) => {
                self.habit.has_long_turn = false;
                Some(line)
            }
            Err(code) => {
                if code == REVOKED_CODE {
                    self.login += 1;
                }
                let reason = "not let in".to_owned();
                self.notes.note(Event::GwClose { conn, code, reason });
                None
            }
        }
    }

    /// Polls a line until either side ends it. An agent that polls does not use two lines at once.
    async fn poll(&mut self, mut line: PolledLine) {
        loop {
            let (stays, leave) = self.next_leave();
            if let Some(ended) = line.run(Instant::now() + stays).await {
                return self.ended(ended);
            }
            match leave {
                Leave::Freeze => self.freeze().await,
                Leave::Drop | Leave::Overlap => return self.ended(line.end(BROKEN_CODE, "left")),
                Leave::Close | Leave::Idle => {
                    self.note_state(GatewayState::Idle);
                    let ended = line.go_idle().await;
                    self.ended(ended);
                    sleep(Habit::sleeps_for(&mut self.chance)).await;
                    return;
                }
            }
        }
    }

    /// Returns the time that the gateway stays, and the way that it leaves then. It stays after the plan's last event.
    fn next_leave(&mut self) -> (Duration, Leave) {
        if time::elapsed() > self.world.plan.last_event_at() {
            self.habit.settle();
        }
        self.habit.next(&mut self.chance)
    }

    /// Records that it is about to open a line, and returns the line's name.
    fn note_dial(&mut self, login: &Login) -> String {
        self.dials += 1;
        let conn = format!("{}-{}", self.agent.name, self.dials);
        let (gateway, agent) = (login.name.clone(), self.agent.name.clone());
        self.notes.note(Event::GwOpen { conn: conn.clone(), gateway, agent });
        conn
    }

    async fn dial(&mut self, login: &Login) -> Option<Line> {
        let conn = self.note_dial(login);
        let node = self.chance.one_of(&self.world.plan.nodes).clone();
        let dialled = timeout(DIAL_WAIT, dial(&node, login)).await.unwrap_or(Err(0));
        match dialled {
            Ok(socket) => {
                let (agent, notes) = (Arc::clone(&self.agent), self.notes.clone());
                let chance = self.chance.fork();
                let mut line = Line::new(socket, conn, (agent, notes), self.habit.clone(), chance);
                line.greet(&mut self.unanswered).await;
                Some(line)
            }
            Err(code) => {
                let reason = "not let in".to_owned();
                self.notes.note(Event::GwClose { conn, code, reason });
                None
            }
        }
    }

    /// Holds a line until either side ends it.
    async fn hold(&mut self, mut line: Line, old: &mut JoinSet<Ended>) {
        loop {
            let (stays, leave) = self.next_leave();
            if let Some(ended) = line.run(Instant::now() + stays).await {
                return self.ended(ended);
            }
            match leave {
                Leave::Freeze => self.freeze().await,
                Leave::Drop => return self.ended(line.end(1006, "dropped")),
                Leave::Close => return self.ended(line.close().await),
                Leave::Idle => return self.idle(line).await,
                Leave::Overlap => {
                    let until = Instant::now() + self.chance.millis(OVERLAP_MS.0, OVERLAP_MS.1);
                    old.spawn_local(line.run_out(until));
                    return;
                }
            }
        }
    }

    /// Stops reading and acking, like a suspended machine.
    async fn freeze(&mut self) {
        self.note_state(GatewayState::Frozen);
        sleep(Habit::sleeps_for(&mut self.chance)).await;
        self.note_state(GatewayState::Thawed);
    }

    /// Announces that it goes idle, leaves, and comes back after a while.
    async fn idle(&mut self, mut line: Line) {
        self.note_state(GatewayState::Idle);
        let ended = line.say_goodbye().await;
        self.ended(ended);
        sleep(Habit::sleeps_for(&mut self.chance)).await;
    }

    fn ended(&mut self, ended: Ended) {
        if ended.code == REVOKED_CODE {
            self.login += 1;
        }
        self.unanswered.extend(ended.unanswered);
    }

    fn note_state(&self, what: GatewayState) {
        self.notes.note(Event::GwState { agent: self.agent.name.clone(), what });
    }
}

/// Dials a node. The error is the status of the response, or 0 without one.
async fn dial(node: &str, login: &Login) -> Result<line::Socket, u16> {
    let stream = TcpStream::connect((node, PORT)).await.map_err(|_| 0_u16)?;
    let token = token(&login.name, &login.secret, SimClock::default().now());
    match line::Socket::open(stream, "desk", token.expose()).await {
        Ok(socket) => Ok(socket),
        Err(DialError::Refused(status)) => Err(status),
        Err(DialError::Broken(_)) => Err(0),
    }
}
