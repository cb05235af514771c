//! Creates a separate database for each test, from a template that is migrated once per run.

use nightdesk_store_pg::{Pg, connect_options, migrate};
use nightdesk_testkit::test_vault;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection};

const TEMPLATE: &str = "nightdesk_template";

/// An arbitrary number; the holder of this lock creates the template.
const TEMPLATE_LOCK: i64 = 7_101_977;

/// A database that only this test uses.
pub(crate) struct Database {
    name: String,
}

impl Database {
    /// Creates a database that contains only the migrations.
    pub(crate) async fn new() -> Self {
        let mut admin = connect("postgres").await;
        admin
            .execute(sqlx::query("select pg_advisory_lock($1)").bind(TEMPLATE_LOCK))
            .await
            .expect("lock");
        ensure_template(&mut admin).await;
        admin
            .execute(sqlx::query("select pg_advisory_unlock($1)").bind(TEMPLATE_LOCK))
            .await
            .expect("unlock");
        let name = format!(
            "test_{}",
            sqlx::query_scalar::<_, String>("select replace(gen_random_uuid()::text, '-', '')")
                .fetch_one(&mut admin)
                .await
                .expect("a name")
        );
        run(&mut admin, &format!("create database {name} template {TEMPLATE}")).await;
        admin.close().await.expect("close");
        Self { name }
    }

    /// Returns the store, with the login of the desk.
    pub(crate) fn store(&self) -> Pg {
        Pg::connect(&self.app_url(), None, test_vault()).expect("a URL of ours")
    }

    /// Returns the URL with the login of the desk.
    pub(crate) fn app_url(&self) -> String {
        admin_url(&self.name).replace("postgres@", "nightdesk_app@")
    }

    /// Returns a connection with the desk's role, without the store.
    pub(crate) async fn app(&self) -> PgConnection {
        let options = options(&self.name).username("nightdesk_app");
        options.connect().await.expect("connect as the desk")
    }

    /// Returns a connection without row-level security, to inspect rows and to plant bugs.
    pub(crate) async fn admin(&self) -> PgConnection {
        connect(&self.name).await
    }
}

/// Runs SQL that a test composed.
pub(crate) async fn run(connection: &mut PgConnection, sql: &str) {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.expect(sql);
}

async fn ensure_template(admin: &mut PgConnection) {
    let there: bool =
        sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
            .bind(TEMPLATE)
            .fetch_one(&mut *admin)
            .await
            .expect("look for the template");
    if !there {
        // The template gets its name only when it is complete, so that a run that died leaves none.
        let making = format!("{TEMPLATE}_making");
        run(admin, &format!("drop database if exists {making}")).await;
        run(admin, &format!("create database {making}")).await;
        migrate(&options(&making), None).await.expect("migrate the template");
        run(admin, &format!("alter database {making} rename to {TEMPLATE}")).await;
    }
}

async fn connect(database: &str) -> PgConnection {
    options(database).connect().await.expect("connect as the administrator")
}

fn options(database: &str) -> PgConnectOptions {
    connect_options(&admin_url(database), None).expect("a URL of ours")
}

#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn admin_url(database: &str) -> String {
    let url = std::env::var("NIGHTDESK_TEST_PG_ADMIN_URL")
        .expect("run this with `just test`: it starts the server this needs");
    let (server, _) = url.rsplit_once('/').expect("a URL with a database");
    format!("{server}/{database}")
}
