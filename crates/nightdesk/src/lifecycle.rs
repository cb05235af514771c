//! Owns the tasks of a node and stops them in order.

use std::time::Duration;

use anyhow::Context;
use nightdesk_types::limits::{LEAVE_SPREAD, LEAVE_WAIT, PLATFORM_CALL_WAIT};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum time for a stop: a call to a platform that was begun is completed. After that the process ends as in a
/// crash.
const STOP_WAIT: Duration = Duration::from_mins(1);

const _: () = assert!(
    STOP_WAIT.as_secs()
        > LEAVE_SPREAD.as_secs() + LEAVE_WAIT.as_secs() + PLATFORM_CALL_WAIT.as_secs(),
    "a call that was begun by the last line is brought to its end"
);

/// All tasks, in the order in which they stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    /// Cancelled when the node stops.
    pub(crate) drain: CancellationToken,
    /// Listeners, connections, lines and sweeps. They stop by themselves.
    pub(crate) serving: TaskTracker,
    /// Cancelled when the lines are gone.
    pub(crate) lines_gone: CancellationToken,
    /// Work for other nodes, as long as this node owns anything.
    pub(crate) node_work: TaskTracker,
    /// Detached work: requests and sends that were begun. It is completed.
    pub(crate) work: TaskTracker,
    /// Cancelled when no work is in progress any more.
    pub(crate) work_done: CancellationToken,
    /// Listeners of bots: no other node listens before this node gives the bots back.
    pub(crate) bot_listeners: TaskTracker,
    /// The inbox's writers. They stop when no task can send to them any more.
    pub(crate) writers: TaskTracker,
}

impl Lifecycle {
    /// Stops the tasks, the public side first.
    pub(crate) async fn stop(&self) {
        self.drain.cancel();
        let stopped = async {
            self.serving.close();
            self.serving.wait().await;
            self.lines_gone.cancel();
            self.node_work.close();
            self.node_work.wait().await;
            self.work.close();
            self.work.wait().await;
            self.work_done.cancel();
            self.bot_listeners.close();
            self.bot_listeners.wait().await;
            // The last received events may have begun new work.
            self.work.wait().await;
        };
        if tokio::time::timeout(STOP_WAIT, stopped).await.is_err() {
            let inside = self.node_work.len() + self.work.len() + self.bot_listeners.len();
            let left = self.serving.len() + inside;
            tracing::warn!("stopped with {left} tasks still running");
        }
    }
}

/// Listens for the signal that the vault's keys or the certificate were changed.
pub(crate) fn hangup_signal() -> anyhow::Result<Signal> {
    signal(SignalKind::hangup()).context("could not listen for signals")
}

/// The signals to stop. They do not end the process from the first `listen` on, so a node listens before it can be
/// reached.
pub(crate) struct StopSignals {
    term: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("could not listen for signals");
        Ok(Self {
            term: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal, also one that came since `listen`.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
