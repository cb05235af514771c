//! A database host that vanishes without a word: its connections stay open, and nothing comes over them any more.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use nightdesk_register::{Bots as _, Quotas as _};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::test_vault;
use nightdesk_types::limits::{STATEMENT_ANSWER_WAIT, STATEMENT_WAIT};
use nightdesk_types::{StoreError, TenantScope};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::Database;

/// Operations at once, more than the store has connections.
const OPERATIONS: usize = 30;

/// Longest time of an operation: the wait for a connection, for its answer, and some more on a busy machine.
const OPERATION_MAX: Duration =
    STATEMENT_WAIT.saturating_add(STATEMENT_ANSWER_WAIT).saturating_add(Duration::from_secs(3));

/// A proxy between the store and its server.
struct Proxy {
    address: SocketAddr,
    /// Cancelled when the connections that are open now fall silent.
    silence: Arc<Mutex<CancellationToken>>,
}

impl Proxy {
    async fn start(server: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let silence = Arc::<Mutex<CancellationToken>>::default();
        tokio::spawn(accept(listener, server, Arc::clone(&silence)));
        Self { address, silence }
    }

    /// Stops to forward over every open connection, and closes none. New connections reach the server.
    fn fall_silent(&self) {
        let mut silence = self.silence.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *silence).cancel();
    }
}

async fn accept(listener: TcpListener, server: String, silence: Arc<Mutex<CancellationToken>>) {
    while let Ok((client, _)) = listener.accept().await {
        let silence = silence.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tokio::spawn(forward(client, server.clone(), silence));
    }
}

async fn forward(mut client: TcpStream, server: String, silence: CancellationToken) {
    let mut server = TcpStream::connect(server).await.expect("the server is there");
    let is_over = silence.run_until_cancelled(copy_bidirectional(&mut client, &mut server)).await;
    if is_over.is_none() {
        // Both connections stay open.
        std::future::pending::<()>().await;
    }
}

/// Returns the address of the server in a URL.
fn server_of(url: &str) -> &str {
    let rest = url.split('@').nth(1).expect("a user in the URL");
    rest.split('/').next().expect("a server in the URL")
}

/// Runs single statements and transactions at once.
async fn ask(store: &Pg) -> Vec<Result<(), StoreError>> {
    let nobody = TenantScope::desk_own();
    let singles = join_all((0..OPERATIONS).map(|_| async { store.time().await.map(drop) }));
    let transactions =
        join_all((0..OPERATIONS).map(|_| async { store.quotas(nobody).await.map(drop) }));
    let (singles, transactions) = tokio::join!(singles, transactions);
    singles.into_iter().chain(transactions).collect()
}

#[tokio::test]
async fn a_server_that_falls_silent_holds_up_no_operation_without_end() {
    let database = Database::new().await;
    let url = database.app_url();
    let proxy = Proxy::start(server_of(&url).to_owned()).await;
    let url = url.replace(server_of(&url), &proxy.address.to_string());
    let store = Pg::connect(&url, None, test_vault()).expect("a URL of ours");
    let opened = ask(&store).await;
    assert!(opened.iter().all(Result::is_ok), "{opened:?}");

    // Some connections are idle, and on others the pool waits for the answer to its check.
    proxy.fall_silent();
    let silent = timeout(OPERATION_MAX, ask(&store)).await.expect("every operation ends");

    let failed: Vec<_> = silent.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(!failed.is_empty(), "the connections were silent");
    assert!(failed.iter().all(|error| error.retryable), "{failed:?}");
    let again =
        timeout(OPERATION_MAX, async { while ask(&store).await.iter().any(Result::is_err) {} });
    again.await.expect("new connections take the place of the silent ones");
}
