//! Publishes this node's notes.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::RING_WAIT;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisError};
use tokio::time::timeout;

/// The connection for publishing. After one ring that failed or took too long, further rings are not attempted until
/// the node receives its own heartbeat again: a frozen Redis costs one wait, not one per ring.
#[derive(Default)]
pub(crate) struct Publisher {
    connection: Mutex<Option<MultiplexedConnection>>,
    is_clear: AtomicBool,
    missed: AtomicU64,
}

nightdesk_types::opaque_debug!(Publisher);

/// The reason why a note was not published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    /// Redis did not answer in time; it may have published the note.
    #[error("Redis did not answer in time")]
    Slow,
    /// There is no connection.
    #[error("not connected")]
    Unconnected,
    /// Redis refused, or the connection is lost.
    #[error("Redis could not publish the ring")]
    Failed(#[from] RedisError),
}

impl Publisher {
    /// Sets the connection. Rings start only after the first received heartbeat.
    pub(crate) fn set_connection(&self, connection: Option<MultiplexedConnection>) {
        self.is_clear.store(false, Ordering::Relaxed);
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    /// Records that the node received its own heartbeat.
    pub(crate) fn mark_clear(&self) {
        self.is_clear.store(true, Ordering::Relaxed);
    }

    /// Returns the number of failed rings in this life.
    pub(crate) fn missed_rings(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Rings. Returns the number of receivers, if the note could be published.
    pub(crate) async fn ring(&self, channel: &str, sealed: &str) -> Option<u64> {
        if self.is_clear.load(Ordering::Relaxed) {
            match self.publish(channel, sealed, RING_WAIT).await {
                Ok(heard) => return Some(heard),
                Err(unsaid) => {
                    tracing::debug!(error = &unsaid as &dyn Error, "could not ring other nodes");
                }
            }
            self.is_clear.store(false, Ordering::Relaxed);
        }
        self.missed.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Runs a command that returns a number. `None`: it failed, or not in time.
    pub(crate) async fn run_command(&self, question: &Cmd) -> Option<i64> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut connection = connection.filter(|_| self.is_clear.load(Ordering::Relaxed))?;
        let answer = timeout(RING_WAIT, question.query_async(&mut connection)).await;
        if answer.is_err() {
            self.is_clear.store(false, Ordering::Relaxed);
        }
        answer.ok()?.ok()
    }

    /// Publishes a note, also if no receiver is known.
    pub(crate) async fn publish(
        &self,
        channel: &str,
        sealed: &str,
        wait: Duration,
    ) -> Result<u64, PublishError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut connection = connection.ok_or(PublishError::Unconnected)?;
        let mut publish = redis::cmd("PUBLISH");
        let publish = publish.arg(channel).arg(sealed);
        let said = timeout(wait, publish.query_async(&mut connection)).await;
        said.map_err(|_| PublishError::Slow)?.map_err(PublishError::Failed)
    }

    /// Publishes many notes in one pipeline.
    pub(crate) async fn publish_all(&self, notes: &[(String, String)]) -> Result<(), PublishError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut connection = connection.ok_or(PublishError::Unconnected)?;
        let mut publish = redis::pipe();
        for (channel, sealed) in notes {
            publish.cmd("PUBLISH").arg(channel).arg(sealed).ignore();
        }
        publish.query_async(&mut connection).await.map_err(PublishError::Failed)
    }
}
