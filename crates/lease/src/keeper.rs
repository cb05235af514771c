//! Renews the lease from a separate thread, so that a busy node does not look dead.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use nightdesk_types::limits::{
    BURIED_AFTER, LEASE_LASTS, LEASE_RENEWED_EVERY, LEASE_RENEWED_WITHIN,
};
use nightdesk_types::{Moment, StoreError};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::lease::Lease;
use crate::store::{Renewal, Store};

/// The thread that renews the lease. It ends the lease when it stops.
#[derive(Debug)]
pub struct LeaseKeeper {
    stop: CancellationToken,
    thread: JoinHandle<()>,
}

impl LeaseKeeper {
    /// Starts to renew. The store is opened on the thread, so that it shares nothing with the rest of the node.
    pub fn start<S: Store>(
        lease: Arc<Lease>,
        open: impl FnOnce() -> Result<S, StoreError> + Send + 'static,
    ) -> io::Result<Self> {
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("lease".to_owned()).spawn({
            let stop = stop.clone();
            move || {
                runtime.block_on(async move {
                    match log_failure("open its store", open()) {
                        Some(store) => keep_lease(&lease, &store, &stop).await,
                        None => lease.end(),
                    }
                });
            }
        })?;
        Ok(Self { stop, thread })
    }

    /// Ends the lease, so that other nodes need not wait until it expires.
    pub async fn stop(self) {
        self.stop.cancel();
        // The thread returns nothing, and ends within one call to the store.
        drop(tokio::task::spawn_blocking(|| self.thread.join()).await);
    }
}

/// Renews until `stop` is cancelled or the life is over. A [`LeaseKeeper`] runs this on a thread; a simulation, which has
/// only one thread, runs it in a task.
pub async fn keep_lease(lease: &Lease, store: &impl Store, stop: &CancellationToken) {
    let mut round = RenewalRound::default();
    // A failure is logged, and retried soon.
    while timeout(round.pause(), stop.cancelled()).await.is_err() {
        if round.renew(lease, store).await == Some(Renewal::Over) {
            lease.end();
            return;
        }
        round.end_dead_nodes(lease, store).await;
    }
    lease.end();
    log_failure("end its lease", call_in_time(store.end(lease.node())).await);
}

/// The time since when every renewal succeeded.
#[derive(Debug, Default)]
struct RenewalRound {
    well_since: Option<Moment>,
}

impl RenewalRound {
    const fn pause(&self) -> Duration {
        if self.well_since.is_some() { LEASE_RENEWED_EVERY } else { LEASE_RENEWED_WITHIN }
    }

    async fn renew(&mut self, lease: &Lease, store: &impl Store) -> Option<Renewal> {
        let asked_at = lease.moment();
        let renewed = log_failure(
            "renew its lease",
            call_in_time(store.renew(lease.node(), LEASE_LASTS)).await,
        );
        match renewed {
            Some(Renewal::Kept) => {
                lease.record_renewal(asked_at);
                self.well_since = self.well_since.or(Some(asked_at));
            }
            Some(Renewal::Over) | None => self.well_since = None,
        }
        renewed
    }

    /// Ends the lives of dead nodes. Not soon after a failure of this node: then the store was down, and the other
    /// nodes could not renew either.
    async fn end_dead_nodes(&self, lease: &Lease, store: &impl Store) {
        let well_for = self.well_since.map(|since| lease.moment().since(since));
        if well_for.is_none_or(|well_for| well_for < LEASE_LASTS) {
            return;
        }
        let buried = log_failure(
            "look for dead nodes",
            call_in_time(store.end_dead_nodes(BURIED_AFTER)).await,
        );
        for node in buried.into_iter().flatten() {
            tracing::warn!(node = node.name, "node {} is gone: its lease ran out", node.name);
        }
    }
}

async fn call_in_time<T>(
    asked: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let answered = timeout(LEASE_RENEWED_WITHIN, asked).await;
    answered.unwrap_or_else(|late| Err(StoreError::unavailable("renew a lease", late)))
}

fn log_failure<T>(what: &'static str, done: Result<T, StoreError>) -> Option<T> {
    done.inspect_err(|error| {
        tracing::warn!(error = error as &dyn Error, "this node could not {what}");
    })
    .ok()
}
