//! Lifecycle: what runs is owned, and stops in order.

use std::time::Duration;

use anyhow::Context;
use nightdesk_types::limits::{LEAVE_SPREAD, LEAVE_WAIT, PLATFORM_CALL_WAIT};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a node may take to stop: a call to a platform that was begun is waited for. After
/// that it is ended as if it had died.
const STOP_WAIT: Duration = Duration::from_mins(1);

const _: () = assert!(
    STOP_WAIT.as_secs()
        > LEAVE_SPREAD.as_secs() + LEAVE_WAIT.as_secs() + PLATFORM_CALL_WAIT.as_secs(),
    "a call that was begun by the last line is brought to its end"
);

/// Everything that runs, by the order in which it stops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    /// Cancelled when the node stops.
    pub(crate) drain: CancellationToken,
    /// Listeners, connections, lines and sweeps. They stop by themselves.
    pub(crate) street: TaskTracker,
    /// Cancelled when the lines are gone.
    pub(crate) leave: CancellationToken,
    /// What is done for other nodes as long as anything is owned here.
    pub(crate) rooms: TaskTracker,
    /// Work that nobody waits for: requests and sends that were begun. It comes to its end.
    pub(crate) work: TaskTracker,
    /// Cancelled when nothing is under way any more.
    pub(crate) hang_up: CancellationToken,
    /// Whoever listens for bots: nobody else does before this node gives them back.
    pub(crate) ears: TaskTracker,
    /// The inbox's writers. They stop when nobody can ask them any more.
    pub(crate) writers: TaskTracker,
}

impl Lifecycle {
    /// Stops what runs, the street side first.
    pub(crate) async fn stop(&self) {
        self.drain.cancel();
        let stopped = async {
            self.street.close();
            self.street.wait().await;
            self.leave.cancel();
            self.rooms.close();
            self.rooms.wait().await;
            self.work.close();
            self.work.wait().await;
            self.hang_up.cancel();
            self.ears.close();
            self.ears.wait().await;
            // What was heard last may have begun some.
            self.work.wait().await;
        };
        if tokio::time::timeout(STOP_WAIT, stopped).await.is_err() {
            let inside = self.rooms.len() + self.work.len() + self.ears.len();
            let left = self.street.len() + inside;
            tracing::warn!("stopped with {left} tasks still running");
        }
    }
}

/// Listens for the signal that the vault's keys were changed.
pub(crate) fn hangups() -> anyhow::Result<Signal> {
    signal(SignalKind::hangup()).context("could not listen for signals")
}

/// Waits for the signal to stop.
pub(crate) async fn signalled() -> anyhow::Result<()> {
    let mut term = signal(SignalKind::terminate()).context("could not listen for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("could not listen for signals")?;
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
