//! A client that disconnects during a request loses no writes of other requests, and a server restart fails no request
//! once the server is back.

use std::task::Poll;

use futures_util::future::join_all;
use nightdesk_testkit::logs::Log;
use nightdesk_types::{StoreError, TenantId};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tracing::Instrument;
use tracing_subscriber::util::SubscriberInitExt;
use uuid::Uuid;

use super::*;

const WRITES: i32 = 400;

#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn server() -> PgConnectOptions {
    let url = std::env::var("NIGHTDESK_TEST_PG_ADMIN_URL")
        .expect("run this with `just test`: it starts the server this needs");
    connect_options(&url, None).unwrap()
}

async fn run(options: &PgConnectOptions, sql: String) {
    let mut connection = options.connect().await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    connection.close().await.unwrap();
}

/// Writes rows while other requests are dropped inside `begin`. Returns the number of writes that were reported as done
/// and are missing.
async fn lost(database: &str, options: PgPoolOptions) -> i64 {
    run(&server(), format!("create database {database}")).await;
    let server = server().database(database);
    run(&server, "create table written (id integer primary key)".to_owned()).await;
    let pool = options.connect_lazy_with(with_timeouts(server.clone(), STATEMENT_WAIT, LOCK_WAIT));
    let mut reported = 0;
    for id in 0..WRITES {
        hang_up(&pool, id % 8).await;
        let written = sqlx::query("insert into written values ($1)").bind(id).execute(&pool).await;
        reported += i64::from(written.is_ok());
    }
    pool.close().await;
    let mut connection = server.connect().await.unwrap();
    let count = sqlx::query_scalar("select count(*) from written");
    let there: i64 = count.fetch_one(&mut connection).await.unwrap();
    reported - there
}

/// Drops a request after this number of steps of its `begin`.
async fn hang_up(pool: &PgPool, steps: i32) {
    let mut begin = Box::pin(pool.begin());
    for _ in 0..steps {
        if let Poll::Ready(transaction) = futures_util::poll!(&mut begin) {
            return transaction.unwrap().rollback().await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_pool_rolls_back_what_a_hang_up_left() {
    assert_eq!(lost("hang_up_hooked", with_rollback(pool_options(4))).await, 0);
}

#[tokio::test]
async fn without_the_rollback_writes_are_lost() {
    let lost = lost("hang_up_unhooked", pool_options(4)).await;

    assert!(lost > 0, "the check must be able to see the loss");
}

/// Returns a store with one pool for everything.
fn store_over(pool: PgPool) -> Pg {
    let history = Arc::<HistoryWatch>::default();
    Pg {
        lookups: Arc::new(Lookups::new(pool.clone())),
        upkeep: pool.clone(),
        singles: pool.clone(),
        pool,
        bodies: Arc::new(BodyKeys::new(nightdesk_testkit::test_vault(), Arc::clone(&history))),
        history,
    }
}

/// Does work for a tenant that holds its connection for a moment.
async fn work(store: &Pg) -> Result<(), StoreError> {
    let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()));
    run_to_end!(store.for_tenant("work", scope), |connection| {
        sqlx::query("select pg_sleep(0.2)").execute(connection).await?;
        tracing::info!("working");
        Ok(())
    })
}

#[tokio::test]
async fn connections_that_died_idle_fail_nobody() {
    run(&server(), "create database died_idle".to_owned()).await;
    let server = server().database("died_idle");
    let pool = with_rollback(pool_options(4)).connect_lazy_with(with_timeouts(
        server.clone(),
        STATEMENT_WAIT,
        LOCK_WAIT,
    ));
    let store = store_over(pool);
    let opened = join_all((0..4).map(|_| work(&store))).await;
    assert!(opened.iter().all(Result::is_ok), "{opened:?}");

    let others = "datname = current_database() and pid <> pg_backend_pid()";
    let kill =
        format!("select pg_terminate_backend(pid, 5000) from pg_stat_activity where {others}");
    run(&server, kill).await;

    work(&store).await.unwrap();
}

/// The subscriber is the one of this thread, on which the test's runtime runs all tasks.
#[tokio::test]
async fn an_operation_runs_in_a_span_of_its_own_below_its_callers() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
    let subscriber = subscriber.with_ansi(false).with_writer(move || writer.clone());
    let _guard = subscriber.finish().set_default();
    let pool =
        pool_options(1).connect_lazy_with(with_timeouts(server(), STATEMENT_WAIT, LOCK_WAIT));
    let store = store_over(pool);

    work(&store).instrument(tracing::info_span!("caller")).await.unwrap();

    let text = log.text();
    let line = text.lines().find(|line| line.ends_with("working")).unwrap();
    assert!(line.contains(r#" caller:store.run{operation="work"}: "#), "{line}");
}

#[test]
fn another_machine_needs_a_certificate_unless_the_url_says_otherwise() {
    let cases = [
        ("postgres://a@db.internal/desk", PgSslMode::VerifyFull),
        ("postgres://a@192.0.2.1:5432/desk", PgSslMode::VerifyFull),
        ("postgres://a@localhost/desk?host=db.internal", PgSslMode::VerifyFull),
        ("postgres://a@127.0.0.1/desk?hostaddr=192.0.2.1", PgSslMode::VerifyFull),
        ("postgres://a@db.internal/desk?sslrootcert=ca.pem", PgSslMode::VerifyFull),
        ("postgres://a@db.internal/desk#sslmode=disable", PgSslMode::VerifyFull),
        ("postgres://a@db.internal/desk?sslmode=require", PgSslMode::Require),
        ("postgres://a@db.internal/desk?application_name=x&ssl-mode=disable", PgSslMode::Disable),
        ("postgres://a@127.0.0.1/desk?sslmode=verify-full", PgSslMode::VerifyFull),
    ];
    for (url, want) in cases {
        let mode = connect_options(url, None).unwrap().get_ssl_mode();
        assert!(same_mode(mode, want), "{url}: {mode:?}");
    }
    for here in
        ["postgres://a@127.0.0.1/desk", "postgres://a@[::1]/desk", "postgres://a@%2Frun/desk"]
    {
        let mode = connect_options(here, None).unwrap().get_ssl_mode();
        assert!(!same_mode(mode, PgSslMode::VerifyFull), "{here}: {mode:?}");
    }
}

fn same_mode(one: PgSslMode, other: PgSslMode) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}
