//! Lookups for callers that have proved nothing.
//!
//! Every client on the network can make the desk look for a name: of a gateway in a forged token, of a bot in a path, of
//! a client or a token that do not exist. These lookups have their own connections, so they take none from accepts and
//! lines. Concurrent lookups of one kind share a statement: thousands of forged names cost a few statements, and a
//! genuine name among them waits for two at most. A name that was not found is cached for [`UNKNOWN_NAME_KEPT_FOR`], so
//! a name that is repeated costs no statement.
//!
//! [`UNKNOWN_NAME_KEPT_FOR`]: nightdesk_types::limits::UNKNOWN_NAME_KEPT_FOR

mod queue;
mod unknown;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_types::StoreError;
use nightdesk_types::limits::{LOOKUP_NAMES_MAX, LOOKUP_WAIT};
use sqlx::{PgConnection, PgPool};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::letters::LetterHookByDigest;
use crate::operation::{Operation, run_in_background};
use crate::register::{BotByPath, ClientById, GatewaysByName, KnownRefreshToken};
use crate::users::{SessionByCookie, TokenBySecret};
use queue::LookupQueue;
use unknown::UnknownNames;

/// The lookups of a store. They share a few connections.
#[derive(Debug)]
pub(crate) struct Lookups {
    pub(crate) pool: PgPool,
    pub(crate) gateways: Lookup<GatewaysByName>,
    pub(crate) bots: Lookup<BotByPath>,
    pub(crate) clients: Lookup<ClientById>,
    pub(crate) refresh_tokens: Lookup<KnownRefreshToken>,
    pub(crate) letter_hooks: Lookup<LetterHookByDigest>,
    pub(crate) user_sessions: Lookup<SessionByCookie>,
    pub(crate) api_tokens: Lookup<TokenBySecret>,
}

impl Lookups {
    /// Creates the lookups over these connections.
    pub(crate) fn new(pool: PgPool) -> Self {
        Self {
            gateways: Lookup::new(pool.clone()),
            bots: Lookup::new(pool.clone()),
            clients: Lookup::new(pool.clone()),
            refresh_tokens: Lookup::new(pool.clone()),
            letter_hooks: Lookup::new(pool.clone()),
            user_sessions: Lookup::new(pool.clone()),
            api_tokens: Lookup::new(pool.clone()),
            pool,
        }
    }
}

/// A kind of lookup.
pub(crate) trait Finder: Send + Sync + 'static {
    /// The name that a caller claims.
    type Name: Clone + Eq + Hash + Send + Sync + 'static;
    /// The stored record of a name.
    type Found: Clone + Send + 'static;
    /// The lookup as a verb clause.
    const OPERATION: &'static str;

    /// Returns the records of those names that exist. No name may be able to fail the statement of the others.
    fn find(
        connection: &mut PgConnection,
        names: Vec<Self::Name>,
    ) -> impl Future<Output = sqlx::Result<HashMap<Self::Name, Self::Found>>> + Send;
}

/// The result that every caller of a statement gets. They share its error.
type SharedResult<F> = Result<Option<<F as Finder>::Found>, Arc<StoreError>>;

/// Runs the lookups of one kind, one statement at a time.
pub(crate) struct Lookup<F: Finder> {
    pool: PgPool,
    state: Arc<Mutex<LookupState<F>>>,
}

struct LookupState<F: Finder> {
    queue: LookupQueue<F::Name, oneshot::Sender<SharedResult<F>>>,
    unknown: UnknownNames<F::Name>,
    /// True while a task runs statements. It ends when the queue is empty.
    is_running: bool,
}

impl<F: Finder> std::fmt::Debug for Lookup<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lookup({})", F::OPERATION)
    }
}

impl<F: Finder> Lookup<F> {
    /// Creates the lookups over connections of their own.
    pub(crate) fn new(pool: PgPool) -> Self {
        let queue = LookupQueue::default();
        let state = LookupState { queue, unknown: UnknownNames::default(), is_running: false };
        Self { pool, state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the record of a name.
    pub(crate) async fn find(&self, name: F::Name) -> Result<Option<F::Found>, StoreError> {
        let Some(response) = self.enqueue(name)? else { return Ok(None) };
        let unavailable = |cause| StoreError::unavailable(F::OPERATION, cause);
        let response = timeout(LOOKUP_WAIT, response).await;
        let response = response.map_err(|_| unavailable("the lookup took too long"))?;
        let response = response.map_err(|_| unavailable("the lookup ended early"))?;
        response.map_err(|error| StoreError {
            operation: F::OPERATION,
            retryable: error.retryable,
            source: error.into(),
        })
    }

    /// Removes a name that now exists from the cache of unknown names.
    pub(crate) fn forget_unknown(&self, name: &F::Name) {
        lock(&self.state).unknown.remove(name);
    }

    /// Queues a lookup. `None`: the name is known not to exist.
    fn enqueue(
        &self,
        name: F::Name,
    ) -> Result<Option<oneshot::Receiver<SharedResult<F>>>, StoreError> {
        let mut state = lock(&self.state);
        if state.unknown.contains(&name, Instant::now()) {
            return Ok(None);
        }
        let (reply, response) = oneshot::channel();
        let full = |error| StoreError::unavailable(F::OPERATION, error);
        state.queue.push(name, reply).map_err(full)?;
        if !std::mem::replace(&mut state.is_running, true) {
            let work = run_statements(self.pool.clone(), Arc::clone(&self.state));
            run_in_background(F::OPERATION, Box::pin(work));
        }
        Ok(Some(response))
    }
}

/// Runs statements until no caller waits.
async fn run_statements<F: Finder>(pool: PgPool, state: Arc<Mutex<LookupState<F>>>) {
    loop {
        let waiting = {
            let mut state = lock(&state);
            let waiting = state.queue.take(LOOKUP_NAMES_MAX, oneshot::Sender::is_closed);
            if waiting.is_empty() {
                state.is_running = false;
                return;
            }
            waiting
        };
        let asked_at = Instant::now();
        let names: Vec<F::Name> = waiting.iter().map(|(name, _)| name.clone()).collect();
        let operation = Operation::single_on(F::OPERATION, pool.clone());
        let found = operation
            .run(Box::new(move |connection| Box::pin(F::find(connection, names))))
            .await
            .map_err(Arc::new);
        if let Ok(found) = &found {
            let unknown =
                waiting.iter().map(|(name, _)| name).filter(|name| !found.contains_key(*name));
            lock(&state).unknown.extend(unknown.cloned(), asked_at);
        }
        respond::<F>(waiting, &found);
    }
}

/// The callers that wait for one name.
type Callers<F> = Vec<oneshot::Sender<SharedResult<F>>>;

fn respond<F: Finder>(
    waiting: Vec<(F::Name, Callers<F>)>,
    found: &Result<HashMap<F::Name, F::Found>, Arc<StoreError>>,
) {
    for (name, replies) in waiting {
        for reply in replies {
            let result = found.as_ref().map(|found| found.get(&name).cloned()).map_err(Arc::clone);
            // The caller may have given up.
            drop(reply.send(result));
        }
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
