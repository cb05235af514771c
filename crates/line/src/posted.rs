//! Lines of agents that the desk calls: each entry is one HTTP request to the agent's URL.
//!
//! A node opens such a line when entries wait for the agent, and gives it up when none has come for a while. The line's
//! session, window and number are those of every line, so a post that fails ends the line, and its wake opens the next
//! one.

mod answer;
mod answer_sends;
mod post_transport;
mod stop_posts;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::SEND_ANSWER_WAIT;
use nightdesk_types::{AgentId, TenantScope, Transport};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::context::LineContext;
use crate::driver::LineDriver;
use crate::polled::{PollError, hellos_of_line, named_client};
use crate::store::AuthenticatedGateway;

pub use answer::PostAnswer;
use post_transport::{AgentRequest, PostTransport};

/// One entry, or an order to stop a turn, for an agent's URL.
#[derive(Debug)]
pub struct AgentPost {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The id by which the agent recognises a repeat: the entry's, or `stop_` and that of the stop.
    pub id: String,
    /// The frame, as JSON.
    pub body: String,
    /// True once the agent has acknowledged the entry. A post that has not begun by then is not made.
    pub withdrawn: Arc<AtomicBool>,
}

/// The result of a post.
#[derive(Debug)]
pub enum PostOutcome {
    /// The agent handled it, and may have answered.
    Handled(PostAnswer),
    /// The agent has it and acknowledges it later.
    Later,
    /// The agent did not handle it.
    Failed(String),
    /// Nothing reached the agent.
    Unreachable(String),
}

/// Posts to agents.
#[async_trait]
pub trait AgentPoster: Send + Sync {
    /// Makes one request, and waits for its response until the agent's deadline.
    async fn post(&self, post: AgentPost) -> PostOutcome;
}

/// The lines of this node whose agents are called.
pub struct PostedLines {
    context: Arc<LineContext>,
    poster: Arc<dyn AgentPoster>,
    tasks: TaskTracker,
    lines: Arc<PostedLineMap>,
}

type PostedLineMap = Mutex<OpenLines>;

type OpenLines = HashMap<AgentId, mpsc::Sender<AgentRequest>>;

nightdesk_types::opaque_debug!(PostedLines);

/// The name of the desk's own client.
const CLIENT: &str = "webhook";

impl PostedLines {
    /// Creates the registry. Every line runs as a task of `tasks`.
    pub fn new(
        context: Arc<LineContext>,
        poster: Arc<dyn AgentPoster>,
        tasks: TaskTracker,
    ) -> Self {
        Self { context, poster, tasks, lines: Arc::default() }
    }

    /// Opens the line of an agent, unless this node has it already.
    pub fn open(&self, caller: AuthenticatedGateway) {
        let mut lines = self.lock();
        if lines.contains_key(&caller.agent) {
            return;
        }
        let (to_session, transport) = PostTransport::new(caller, Arc::clone(&self.poster));
        for hello in hellos_of_line(Vec::new(), &named_client(CLIENT)) {
            // The channel is new, so it has room.
            drop(to_session.try_send(AgentRequest::Frame(FromGateway::Hello(hello))));
        }
        lines.insert(caller.agent, to_session);
        drop(lines);
        let driver = LineDriver::new(Arc::clone(&self.context), caller, transport);
        let (lines, agent) = (Arc::clone(&self.lines), caller.agent);
        self.tasks.spawn(async move {
            Box::pin(driver.run()).await;
            lock(&lines).remove(&agent);
        });
    }

    /// Acknowledges entries that the agent took before.
    pub fn ack(&self, agent: AgentId, buffer_ids: Vec<String>) -> Result<(), PollError> {
        for buffer_id in buffer_ids {
            self.push(agent, AgentRequest::Frame(FromGateway::InboundAck { buffer_id }))?;
        }
        Ok(())
    }

    /// Performs an action of the agent and returns the frame with its result.
    pub async fn send(&self, agent: AgentId, outbound: Outbound) -> Result<Frame, PollError> {
        let (tell, told) = oneshot::channel();
        self.push(agent, AgentRequest::Send { outbound: Box::new(outbound), tell })?;
        let answered = timeout(SEND_ANSWER_WAIT, told).await;
        answered.map_err(|_| PollError::TimedOut)?.map_err(|_| PollError::Gone(None))
    }

    /// Passes a request of the agent to its line.
    fn push(&self, agent: AgentId, request: AgentRequest) -> Result<(), PollError> {
        let found = self.lock().get(&agent).cloned().ok_or(PollError::Gone(None))?;
        found.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => PollError::Busy,
            mpsc::error::TrySendError::Closed(_) => PollError::Gone(None),
        })
    }

    fn lock(&self) -> MutexGuard<'_, OpenLines> {
        lock(&self.lines)
    }
}

fn lock(lines: &PostedLineMap) -> MutexGuard<'_, OpenLines> {
    // The map is consistent at every step, also if a holder of the lock panicked.
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kind of these lines.
const KIND: Transport = Transport::Webhook;
