//! Simulated gateways with the habits of real ones.

mod habit;
mod line;

use std::sync::Arc;
use std::time::Duration;

use nightdesk_gateway::{DialError, token};
use nightdesk_judge::{Event, GatewayState};
use nightdesk_types::Clock;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::TcpStream;

pub use habit::{Habit, Leave};

use crate::cast::{Agent, Login};
use crate::chance::Chance;
use crate::notes::Notes;
use crate::time::SimClock;
use crate::world::{PORT, World};
use line::{Ended, Line, Request};

/// Time limit of a dial.
const DIAL_WAIT: Duration = Duration::from_secs(5);

/// Range of the delay before a gateway dials again.
const AGAIN_MS: (u64, u64) = (200, 2_000);

/// Range of the time that an old line is still used after another was dialled.
const OVERLAP_MS: (u64, u64) = (500, 5_000);

/// The close code that a stock client takes as final.
const REVOKED_CODE: u16 = 4401;

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
    let habit = world.plan.habits[agent].clone();
    let agent = Arc::new(world.cast.agents[agent].clone());
    let mut gateway =
        Gateway { world, agent, habit, notes, chance, login: 0, dials: 0, unanswered: Vec::new() };
    let mut old = JoinSet::new();
    while let Some(login) = gateway.agent.gateways.get(gateway.login).cloned() {
        if let Some(line) = gateway.dial(&login).await {
            gateway.hold(line, &mut old).await;
        }
        sleep(gateway.chance.millis(AGAIN_MS.0, AGAIN_MS.1)).await;
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
    async fn dial(&mut self, login: &Login) -> Option<Line> {
        self.dials += 1;
        let conn = format!("{}-{}", self.agent.name, self.dials);
        let (gateway, agent) = (login.name.clone(), self.agent.name.clone());
        self.notes.note(Event::GwOpen { conn: conn.clone(), gateway, agent });
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
            let (stays, leave) = self.habit.next(&mut self.chance);
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
