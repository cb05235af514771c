//! Renews the lease from a separate thread, so that a busy node does not look dead, and ends the lives of dead nodes.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    LEASE_LASTS, LEASE_RENEWED_EVERY, LEASE_RENEWED_WITHIN, LEASE_WATCHED_EVERY,
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::decide::{LivesRead, NodeWatch};
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
    let round = RenewalRound { lease, store, watch: Mutex::default() };
    tokio::select! {
        () = round.renew_until_over() => lease.end(),
        never = round.end_dead_nodes() => never,
        () = stop.cancelled() => {
            lease.end();
            log_failure("end its lease", call_in_time(store.end(lease.node())).await);
        }
    }
}

/// The renewal of one lease, and the watch over the others. They run side by side, so that a slow read delays no renewal.
struct RenewalRound<'a, S> {
    lease: &'a Lease,
    store: &'a S,
    watch: Mutex<NodeWatch>,
}

impl<S: Store> RenewalRound<'_, S> {
    /// Renews until the life is over. A failure is logged, and retried soon.
    async fn renew_until_over(&self) {
        let mut pause = LEASE_RENEWED_WITHIN;
        loop {
            sleep(pause).await;
            pause = match self.renew().await {
                Some(Renewal::Kept) => LEASE_RENEWED_EVERY,
                Some(Renewal::Over) => return,
                None => LEASE_RENEWED_WITHIN,
            };
        }
    }

    async fn renew(&self) -> Option<Renewal> {
        let asked_at = self.lease.moment();
        let renewed = call_in_time(self.store.renew(self.lease.node(), LEASE_LASTS)).await;
        let renewed = log_failure("renew its lease", renewed);
        match renewed {
            Some(Renewal::Kept) => self.lease.record_renewal(asked_at),
            Some(Renewal::Over) => {}
            None => self.forget_others(),
        }
        renewed
    }

    /// Ends the lives of dead nodes, without end.
    async fn end_dead_nodes(&self) -> ! {
        loop {
            sleep(LEASE_WATCHED_EVERY).await;
            if log_failure("look for dead nodes", self.look().await).is_none() {
                // Nothing is forgotten: the renewals tell if the store can be reached. A store that is down is asked, and
                // logged, as often as a renewal.
                sleep(LEASE_RENEWED_WITHIN).await;
            }
        }
    }

    async fn look(&self) -> Result<(), StoreError> {
        let asked_at = self.lease.moment();
        let lives = call_in_time(self.store.read_lives()).await?;
        let read = LivesRead { lives: &lives, asked_at, answered_at: self.lease.moment() };
        let dead = self.with_watch(|watch| watch.find_dead(self.lease.node(), read));
        if dead.is_empty() {
            return Ok(());
        }
        for node in call_in_time(self.store.end_lives(&dead)).await? {
            tracing::warn!(node = node.name, "node {} is gone: its lease ran out", node.name);
        }
        Ok(())
    }

    /// Forgets the renewals of other nodes. When this node cannot renew, they may not be able to either, and get a whole
    /// lease from now on.
    fn forget_others(&self) {
        self.with_watch(NodeWatch::forget);
    }

    fn with_watch<T>(&self, work: impl FnOnce(&mut NodeWatch) -> T) -> T {
        work(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
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
