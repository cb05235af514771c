//! The agent: a program that takes a desk's entries.

use std::error::Error;
use std::sync::Arc;

use aws_lc_rs::rand;
use futures_util::TryFutureExt;
use nightdesk_protocol::descriptor::Descriptor;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::desk::{Desk, DriverCommand};
use crate::dial::LineDialler;
use crate::driver::{AgentDriver, AgentState, DriverParts, TurnHandler};
use crate::event::Event;
use crate::limits::{COMMANDS_MAX, HANDSHAKE_WAIT};
use crate::session::Seed;
use crate::settings::{BadSettings, Settings};
use crate::status::{AgentEnd, Idle, Status, Trouble};

/// An agent that takes a desk's entries and maintains its line.
///
/// Dropping it ends the line and every running turn at once. Entries that those turns had not acked are delivered
/// again. [`Agent::go_idle`] and [`Agent::disconnect`] end it in order.
#[derive(Debug)]
#[must_use = "an agent that is dropped hangs up"]
pub struct Agent {
    desk: Desk,
    commands: mpsc::Sender<DriverCommand>,
    shown: watch::Receiver<AgentState>,
    /// Owns the driver's task.
    _driver: JoinSet<()>,
}

/// The reason that there is no line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The gateway was revoked, and a second dial proved it. Get a new secret from the desk.
    #[error("the desk revoked this gateway; get a new secret and connect again")]
    Revoked,
    /// No line opened in time. The agent continues to dial.
    #[error("no line within {} s; the agent keeps dialling", HANDSHAKE_WAIT.as_secs())]
    NoLine(#[source] Option<Trouble>),
    /// The agent hung up, went idle or fell asleep, or its runtime stopped. Connect again.
    #[error("the agent has hung up; connect again")]
    Over,
}

impl Agent {
    /// Begins to dial the desk, and gives every event a turn with `take` from then on.
    ///
    /// `take` runs in its own task for each event: one at a time for each session, in order, and for up to twelve
    /// sessions at once. An event is acked after `take` returned `Ok`.
    ///
    /// # Errors
    ///
    /// The settings are invalid. An unreachable desk is no error here: the agent dials until it is reachable.
    /// [`Agent::handshake`] reports the progress.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub fn connect<F, T, E>(settings: Settings, take: F) -> Result<Self, BadSettings>
    where
        F: Fn(Event) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        let settings = settings.check()?;
        let (commands, wanted) = mpsc::channel(COMMANDS_MAX);
        let (show, seen) = watch::channel(initial_state());
        let desk = Desk::new(commands.clone(), settings.bots);
        let take: TurnHandler = Arc::new(move |event| Box::pin(take(event).map_err(Into::into)));
        let driver = AgentDriver::new(DriverParts {
            dialler: LineDialler::new(
                settings.url,
                settings.gateway,
                settings.secret,
                settings.roots,
            ),
            hellos: settings.hellos,
            seed: seed(),
            sleep_after: settings.sleep_after,
            desk: desk.clone(),
            commands: wanted,
            shown: show,
            take,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.run());
        Ok(Self { desk, commands, shown: seen, _driver: tasks })
    }

    /// Waits for a line, and returns the desk's descriptors of the platforms: one for each bot of the settings, in
    /// order.
    ///
    /// # Errors
    ///
    /// After half a minute without a line, the reason. The agent continues to dial.
    pub async fn handshake(&self) -> Result<Vec<Descriptor>, AgentError> {
        let reached = |status: &Status| matches!(status, Status::Live | Status::Over(_));
        match timeout(HANDSHAKE_WAIT, self.wait_until(reached)).await {
            Ok(Status::Live) => Ok(self.shown.borrow().descriptors.clone()),
            Ok(Status::Over(AgentEnd::Revoked)) => Err(AgentError::Revoked),
            Ok(_) => Err(AgentError::Over),
            Err(_) => Err(AgentError::NoLine(self.shown.borrow().trouble.clone())),
        }
    }

    /// Returns the desk, for sending.
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Returns the state of the line.
    pub fn status(&self) -> Status {
        self.shown.borrow().status.clone()
    }

    /// Waits until the status matches or the agent is over. A short-lived status may be missed.
    pub async fn wait_until(&self, mut reached: impl FnMut(&Status) -> bool) -> Status {
        let mut shown = self.shown.clone();
        let seen = shown
            .wait_for(|shown| matches!(shown.status, Status::Over(_)) || reached(&shown.status));
        match seen.await {
            Ok(shown) => shown.status.clone(),
            // The driver ended without a status: its runtime stopped.
            Err(_) => Status::Over(AgentEnd::Disconnected),
        }
    }

    /// Waits until a newer line of the same agent has ended one of this agent's, or the agent is over. It dials again
    /// by itself: two that share an agent end each other's lines until one of them leaves.
    pub async fn wait_until_replaced(&self) {
        let mut shown = self.shown.clone();
        let is_replaced = |shown: &AgentState| {
            matches!(shown.status, Status::Over(_))
                || shown.trouble.as_ref().is_some_and(Trouble::is_replacement)
        };
        // A driver that ended without a status has no line either.
        drop(shown.wait_for(is_replaced).await);
    }

    /// Waits until the agent is over, and returns the end.
    ///
    /// # Errors
    ///
    /// The gateway was revoked.
    pub async fn ended(&self) -> Result<AgentEnd, AgentError> {
        match self.wait_until(|_| false).await {
            Status::Over(AgentEnd::Revoked) => Err(AgentError::Revoked),
            Status::Over(end) => Ok(end),
            Status::Dialling | Status::Live | Status::Resting { .. } => Ok(AgentEnd::Disconnected),
        }
    }

    /// Announces to the desk that the agent goes to sleep, waits until the desk confirmed it and every turn ended, and
    /// hangs up. Takes ten seconds at most. Later entries wait in the inbox.
    pub async fn go_idle(self) -> Idle {
        self.send_command(DriverCommand::GoIdle).await;
        match self.status() {
            Status::Over(AgentEnd::Idle(how)) => how,
            Status::Over(_) | Status::Dialling | Status::Live | Status::Resting { .. } => {
                Idle::CutShort
            }
        }
    }

    /// Hangs up. Running turns are dropped; entries that they had not acked are delivered again.
    pub async fn disconnect(self) {
        self.send_command(DriverCommand::Disconnect).await;
    }

    async fn send_command(&self, command: DriverCommand) {
        // A driver that is gone has already left.
        drop(self.commands.send(command).await);
        drop(self.ended().await);
    }
}

fn initial_state() -> AgentState {
    AgentState { status: Status::Dialling, descriptors: Vec::new(), trouble: None }
}

#[expect(clippy::expect_used, reason = "without random bytes there is no TLS either")]
fn seed() -> Seed {
    let (mut requests, mut dials) = ([0; 16], [0; 8]);
    rand::fill(&mut requests).expect("the system gives random bytes");
    rand::fill(&mut dials).expect("the system gives random bytes");
    Seed { requests, dials: u64::from_be_bytes(dials) }
}
