//! Lifecycle: what runs is owned, and stops in order.

use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a node may take to stop. After that it is ended as if it had died.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// Everything that runs, by the order in which it stops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    /// Cancelled when the node stops.
    pub(crate) drain: CancellationToken,
    /// Listeners, connections, lines and sweeps. They stop by themselves.
    pub(crate) street: TaskTracker,
    /// Work that nobody waits for, and writers. They stop when what they serve has stopped.
    pub(crate) rooms: TaskTracker,
}

impl Lifecycle {
    /// Waits for the signal to stop.
    pub(crate) async fn signalled(&self) -> anyhow::Result<()> {
        let mut term = signal(SignalKind::terminate()).context("could not listen for signals")?;
        let mut interrupt =
            signal(SignalKind::interrupt()).context("could not listen for signals")?;
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }

    /// Stops what runs, the street side first.
    pub(crate) async fn stop(&self) {
        self.drain.cancel();
        self.street.close();
        self.rooms.close();
        let stopped = async {
            self.street.wait().await;
        };
        if tokio::time::timeout(STOP_WAIT, stopped).await.is_err() {
            tracing::warn!("stopped with {} tasks still running", self.street.len());
        }
    }
}
