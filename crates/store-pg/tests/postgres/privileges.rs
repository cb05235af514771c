//! Tests which roles may run the store's functions, and that no role can shorten a retention.

use nightdesk_types::limits::{
    ACKED_HOURS, AUDIT_KEPT_DAYS, CHAT_KEPT_DAYS, DATA_KEY_KEPT_FOR, DEDUPE_DAYS, FIRES_KEPT,
    LETTERS_KEPT, LINK_KEPT_HOURS, PARKED_DAYS, PENDING_DAYS, PROMPT_DAYS, REACH_CHANGES_HOURS,
    SEND_HOURS,
};
use sqlx::{AssertSqlSafe, Executor, PgConnection};

use crate::server::{Database, run};

/// The error of PostgreSQL for a missing privilege.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The store's error for a retention below the minimum.
const RETENTION_TOO_SHORT: &str = "ND002";

/// Functions that the desk's role may not run: migrations, triggers and other functions call them.
const NOT_FOR_THE_DESK: [&str; 25] = [
    "agent_name",
    "audit_bytes",
    "check_retention",
    "count_awake",
    "day_is_empty",
    "forget_data_keys",
    "forget_sessions",
    "high_quotas",
    "is_told",
    "keep_agent_quota",
    "keep_quota",
    "link_try",
    "log_wake",
    "note_binding",
    "note_grant",
    "note_listed",
    "note_relevance",
    "sample_tenant",
    "tell",
    "tell_linked",
    "tell_own",
    "tell_parked",
    "tell_row",
    "wake_places",
    "wall_off",
];

/// Returns the code of the error with which a statement fails.
async fn error_code(connection: &mut PgConnection, sql: &str) -> Option<String> {
    let result = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await;
    let error = result.err()?;
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.map(std::borrow::Cow::into_owned)
}

/// Returns a call of each function of the schema, with an argument null for each parameter.
async fn calls(connection: &mut PgConnection) -> Vec<String> {
    let calls = sqlx::query_scalar(
        "select format('select %I(%s)', p.proname, (
             select string_agg('null::' || format_type(a.type, null), ', ' order by a.nth)
             from unnest(p.proargtypes::oid[]) with ordinality as a (type, nth)
         )) from pg_proc p where p.pronamespace = 'public'::regnamespace order by 1",
    );
    calls.fetch_all(connection).await.expect("read the catalogue")
}

#[tokio::test]
async fn a_fresh_role_may_run_no_function() {
    let mut admin = Database::new().await.admin().await;
    run(
        &mut admin,
        "set role nightdesk_owner;
         create function of_a_later_migration() returns void language sql as '';
         reset role;
         do $$ begin execute format('create role %I', 'stranger_of_' || current_database()); end $$;
         select set_config('role', 'stranger_of_' || current_database(), false);",
    )
    .await;
    let calls = calls(&mut admin).await;

    let mut open = Vec::new();
    for call in &calls {
        if error_code(&mut admin, call).await.as_deref() != Some(INSUFFICIENT_PRIVILEGE) {
            open.push(call);
        }
    }
    assert!(calls.iter().any(|call| call.contains("of_a_later_migration")), "{calls:?}");
    assert!(open.is_empty(), "{open:#?}");
}

#[tokio::test]
async fn the_desk_may_run_the_functions_that_it_calls_and_no_others() {
    let mut admin = Database::new().await.admin().await;
    let closed: Vec<String> = sqlx::query_scalar(
        "select p.proname::text from pg_proc p
         where p.pronamespace = 'public'::regnamespace
           and not has_function_privilege('nightdesk_app', p.oid, 'execute')
         order by 1",
    )
    .fetch_all(&mut admin)
    .await
    .expect("read the catalogue");

    assert_eq!(closed, NOT_FOR_THE_DESK, "a new function needs a grant in its migration");
}

#[tokio::test]
async fn the_desk_cannot_shorten_a_retention() {
    let database = Database::new().await;
    let mut admin = database.admin().await;
    run(&mut admin, "insert into tenants (name) values ('acme')").await;
    let mut app = database.app().await;

    for short in [
        "select forget_audit('0 s', 1000000)",
        "select forget_audit(null, 1000000)",
        "select forget_audit('399 days', 1000000)",
        "select forget_acked('0 s', 1000000)",
        "select forget_changes('0 s', 1000000)",
        "select forget_chats('0 s', 1000000)",
        "select forget_ended('0 s', 1000000)",
        "select forget_fires('0 s', 1000000)",
        "select forget_letters('0 s', 1000000)",
        "select forget_links('0 s', 1000000)",
        "select forget_parked('0 s', 1000000)",
        "select forget_prompts('0 s', 1000000)",
        "select forget_sends('0 s', 1000000)",
        "select expire_entries('0 s', 1000000)",
        "select close_day('inbox_entries_20200101', 0)",
    ] {
        assert_eq!(
            error_code(&mut app, short).await.as_deref(),
            Some(RETENTION_TOO_SHORT),
            "{short}"
        );
    }
    let acts: i64 = sqlx::query_scalar("select count(*) from audit_log")
        .fetch_one(&mut admin)
        .await
        .expect("count the acts");
    assert_eq!(acts, 1);
}

#[tokio::test]
async fn the_store_knows_every_retention_as_the_desk_does() {
    let mut admin = Database::new().await.admin().await;
    let days = |days: i32| f64::from(days) * 86_400.0;
    let hours = |hours: i32| f64::from(hours) * 3_600.0;
    for (rows, seconds) in [
        ("acked", hours(ACKED_HOURS)),
        ("audit", days(AUDIT_KEPT_DAYS)),
        ("chats", days(CHAT_KEPT_DAYS)),
        ("data-keys", DATA_KEY_KEPT_FOR.as_secs_f64()),
        ("days", days(PENDING_DAYS.max(DEDUPE_DAYS) + 1)),
        ("fires", FIRES_KEPT.as_secs_f64()),
        ("letters", LETTERS_KEPT.as_secs_f64()),
        ("links", hours(LINK_KEPT_HOURS)),
        ("parked", days(PARKED_DAYS)),
        ("pending", days(PENDING_DAYS)),
        ("prompts", days(PROMPT_DAYS)),
        ("reach-changes", hours(REACH_CHANGES_HOURS)),
        ("sends", hours(SEND_HOURS)),
    ] {
        let least: Option<f64> =
            sqlx::query_scalar("select extract(epoch from retention_min($1))::float8")
                .bind(rows)
                .fetch_one(&mut admin)
                .await
                .expect("read a minimum");
        assert_eq!(least, Some(seconds), "{rows}");
    }
}
