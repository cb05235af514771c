//! Lines of agents that poll over HTTP.
//!
//! A take opens a line, or continues one: the line's session, window and number are those of every line. Frames wait in
//! memory until a take fetches them; entries that were not acknowledged are in the inbox.

mod held_frames;
mod line_name;
mod poll_transport;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::rand;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::hello::{ClientVersion, Hello, RELAY_PLATFORM};
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{HELLOS_MAX, SEND_ANSWER_WAIT, TAKE_OPEN_WAIT};
use nightdesk_types::{AgentId, Transport};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::context::LineContext;
use crate::driver::LineDriver;
use crate::store::AuthenticatedGateway;
use crate::transport::TransportEvent;

pub use line_name::LineName;
use poll_transport::{PollTransport, PolledLine};

/// The polled lines of a node.
pub struct PolledLines {
    context: Arc<LineContext>,
    tasks: TaskTracker,
    lines: Arc<PolledLineMap>,
}

type PolledLineMap = Mutex<HashMap<LineKey, Arc<PolledLine>>>;

/// The random part of a line's name.
type LineKey = [u8; 16];

/// The name of a client that does not give one.
const UNNAMED_CLIENT: &str = "http";

nightdesk_types::opaque_debug!(PolledLines);

/// A request for a new line.
#[derive(Debug)]
pub struct LineOpening {
    /// The gateway.
    pub caller: AuthenticatedGateway,
    /// Polling, or the MCP tools.
    pub transport: Transport,
    /// The bots for which the agent sends. Empty: all its bots.
    pub hellos: Vec<Hello>,
    /// The client.
    pub client: Option<ClientVersion>,
}

/// The frames of a take.
#[derive(Debug)]
pub struct TakenFrames {
    /// The line's name after these frames, for the next request.
    pub line: LineName,
    /// The frames, in order.
    pub frames: Vec<Frame>,
}

/// The reason why a request to a line fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PollError {
    /// The line ended, or this node does not hold it.
    #[error("the line is gone")]
    Gone(Option<Close>),
    /// The line could not be opened now.
    #[error("the line could not be opened now")]
    Unavailable,
    /// More requests wait for the line than it takes.
    #[error("too many requests wait for the line")]
    Busy,
    /// The send did not end in time.
    #[error("the result of the send did not come in time")]
    TimedOut,
}

impl PolledLines {
    /// Creates the registry. Every line runs as a task of `tasks`.
    pub fn new(context: Arc<LineContext>, tasks: TaskTracker) -> Self {
        Self { context, tasks, lines: Arc::default() }
    }

    /// Opens a line, which becomes the agent's newest, and returns the descriptors of its hellos.
    pub async fn open(&self, opening: LineOpening) -> Result<TakenFrames, PollError> {
        let LineContext { clock, dials, .. } = &*self.context;
        if !dials.wait_for_place(clock.moment(), &**clock).await {
            return Err(PollError::Unavailable);
        }
        let LineOpening { caller, transport, hellos, client } = opening;
        let hellos =
            hellos_of_line(hellos, &client.unwrap_or_else(|| named_client(UNNAMED_CLIENT)));
        let (line, transport) = PollTransport::new(caller.agent, transport);
        let key = random_key();
        self.lock().insert(key, Arc::clone(&line));
        self.drive(key, LineDriver::new(Arc::clone(&self.context), caller, transport));
        let count = hellos.len();
        for hello in hellos {
            line.push(TransportEvent::Frame(Box::new(FromGateway::Hello(hello))))?;
        }
        let opened = timeout(TAKE_OPEN_WAIT, line.wait_for_descriptors(count)).await;
        let descriptors = opened.map_err(|_| PollError::Unavailable)??;
        let name = LineName { key, position: 0, node: self.context.node.name.clone() };
        Ok(TakenFrames { line: name, frames: descriptors })
    }

    /// Returns the frames of a line after a position, as soon as there are any, or none after `wait`.
    pub async fn take(
        &self,
        agent: AgentId,
        line: &LineName,
        wait: Duration,
    ) -> Result<TakenFrames, PollError> {
        let polled = self.find(agent, line)?;
        let (position, frames) = polled.take(line.position, wait).await?;
        Ok(TakenFrames { line: LineName { position, ..line.clone() }, frames })
    }

    /// Acknowledges entries.
    pub fn ack(
        &self,
        agent: AgentId,
        line: &LineName,
        buffer_ids: Vec<String>,
    ) -> Result<(), PollError> {
        let polled = self.find(agent, line)?;
        for buffer_id in buffer_ids {
            polled.ack(buffer_id)?;
        }
        Ok(())
    }

    /// Performs an action of the agent and returns the frame with its result.
    pub async fn send(
        &self,
        agent: AgentId,
        line: &LineName,
        outbound: Outbound,
    ) -> Result<Frame, PollError> {
        let polled = self.find(agent, line)?;
        let answered = timeout(SEND_ANSWER_WAIT, polled.send(outbound)).await;
        answered.map_err(|_| PollError::TimedOut)?
    }

    /// Passes another frame of the agent to its line.
    pub fn tell(
        &self,
        agent: AgentId,
        line: &LineName,
        frame: FromGateway,
    ) -> Result<(), PollError> {
        self.find(agent, line)?.push(TransportEvent::Frame(Box::new(frame)))
    }

    /// Ends a line whose agent goes idle.
    pub fn end(&self, agent: AgentId, line: &LineName) -> Result<(), PollError> {
        let polled = self.find(agent, line)?;
        polled.push(TransportEvent::Frame(Box::new(FromGateway::GoingIdle)))?;
        polled.push(TransportEvent::Ended(Close::Done.code()))
    }

    /// Finds a line of the agent on this node, and marks the agent as present.
    fn find(&self, agent: AgentId, line: &LineName) -> Result<Arc<PolledLine>, PollError> {
        let found = self.lock().get(&line.key).cloned();
        let found = found.filter(|polled| polled.agent() == agent).ok_or(PollError::Gone(None))?;
        found.push(TransportEvent::Called)?;
        Ok(found)
    }

    /// Runs a line to its end, in the background.
    fn drive(&self, key: LineKey, driver: LineDriver<PollTransport>) {
        let lines = Arc::clone(&self.lines);
        self.tasks.spawn(async move {
            Box::pin(driver.run()).await;
            lock(&lines).remove(&key);
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LineKey, Arc<PolledLine>>> {
        lock(&self.lines)
    }
}

fn lock(lines: &PolledLineMap) -> MutexGuard<'_, HashMap<LineKey, Arc<PolledLine>>> {
    // The map is consistent at every step, also if a holder of the lock panicked.
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the hellos with which a line opens. An agent that names no bot sends as any of its bots, and every client of
/// these transports reads while it works, as the SDK does.
pub(crate) fn hellos_of_line(hellos: Vec<Hello>, client: &ClientVersion) -> Vec<Hello> {
    let every = || Hello {
        platform: RELAY_PLATFORM.to_owned(),
        bot_handle: String::new(),
        commands: None,
        client: None,
    };
    let hellos = if hellos.is_empty() { vec![every()] } else { hellos };
    let named = hellos.into_iter().map(|hello| Hello { client: Some(client.clone()), ..hello });
    named.take(HELLOS_MAX).collect()
}

/// Returns a client of which only the name is known.
pub(crate) fn named_client(name: &str) -> ClientVersion {
    ClientVersion { name: name.to_owned(), version: String::new() }
}

#[expect(clippy::expect_used, reason = "two lines of one name would take each other's frames")]
fn random_key() -> LineKey {
    let mut key = LineKey::default();
    rand::fill(&mut key).expect("the system gives random bytes");
    key
}
