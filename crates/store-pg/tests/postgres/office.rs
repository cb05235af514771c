//! Tests the views of operators in the store: constants that the desk and the database share, and old rows of usage.

use nightdesk_types::limits::WAKES_LOGGED_MAX;

use crate::server::{Database, run};

#[tokio::test]
async fn the_store_logs_as_many_wakes_as_the_desk_lists() {
    let mut admin = Database::new().await.admin().await;
    let logged: i32 = sqlx::query_scalar("select wake_log_max()")
        .fetch_one(&mut admin)
        .await
        .expect("read the limit");

    assert_eq!(i64::from(logged), WAKES_LOGGED_MAX);
}

#[tokio::test]
async fn of_old_days_the_last_totals_are_kept() {
    let mut admin = Database::new().await.admin().await;
    run(
        &mut admin,
        "insert into tenants (name) values ('acme');
         insert into tenant_usage (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
         select t.tenant_id, h, h, 1, 0, 0, 0, 0
         from tenants t, generate_series(
             date_trunc('day', now(), 'UTC') - interval '5 days',
             date_trunc('hour', now(), 'UTC') - interval '1 hour', interval '1 hour'
         ) as h;
         insert into tenant_usage (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
         select t.tenant_id, date_trunc('hour', now(), 'UTC') - interval '401 days', now(), 1, 0, 0, 0, 0
         from tenants t;
         select sample_usage(null, '5 minutes', 10)",
    )
    .await;

    let days: Vec<(i64, bool)> = sqlx::query_as(
        "select count(*), bool_and(extract(hour from hour at time zone 'UTC') = 23)
         from tenant_usage where hour < now() - interval '3 days'
         group by date_trunc('day', hour, 'UTC')",
    )
    .fetch_all(&mut admin)
    .await
    .expect("read the kept hours");
    assert!(days.len() >= 2 && days.iter().all(|day| *day == (1, true)), "{days:?}");
    let lately: i64 = sqlx::query_scalar(
        "select count(*) from tenant_usage where hour >= now() - interval '2 days'",
    )
    .fetch_one(&mut admin)
    .await
    .expect("count the newest hours");
    assert!(lately >= 48, "{lately}");
}
