//! Lookups for unproven callers take no connection from the other work of the store.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nightdesk_register::{Bots as _, Gateways as _};
use nightdesk_store_pg::Pg;
use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use crate::server::{Database, run};

/// Unproven callers, far more than the store has connections.
const CALLERS: usize = 100;

/// Waits until a statement waits for a lock.
async fn until_blocked(admin: &mut PgConnection) {
    let blocked = "select exists (
        select from pg_locks l join pg_database d on d.oid = l.database
        where not l.granted and l.relation = 'gateways'::regclass and d.datname = current_database()
    )";
    loop {
        let is_blocked: bool =
            sqlx::query_scalar(blocked).fetch_one(&mut *admin).await.expect("read locks");
        if is_blocked {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn forged_names_leave_the_connections_of_other_work_free() {
    let database = Database::new().await;
    let store: Arc<Pg> = Arc::new(database.store());
    store.time().await.expect("the store is there");
    let (mut holder, mut admin) = (database.admin().await, database.admin().await);
    run(&mut holder, "begin; lock table gateways in access exclusive mode").await;

    let forged: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                store.gateways_named(&format!("forged-{caller}")).await.map(drop)
            })
        })
        .collect();
    until_blocked(&mut admin).await;
    // Less than the timeout of a lock, which frees connections that wait for it.
    let other = timeout(Duration::from_millis(500), store.time()).await;
    assert!(other.is_ok_and(|time| time.is_ok()), "other work waits for the lookups");

    run(&mut holder, "rollback").await;
    join_all(forged).await;
    holder.close().await.expect("close");
}
