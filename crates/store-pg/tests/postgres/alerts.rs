//! Tests the causes of alerts that only a real database has, and the alerts of tenants that are gone.

use nightdesk_alerts::{AlertKind, AlertStep, AlertStore as _};
use nightdesk_types::{TenantId, TenantScope};
use nightdesk_vault::Store as _;
use sqlx::Row as _;
use uuid::Uuid;

use crate::server::run;
use crate::suites::{Postgres, postgres};

/// Returns the kinds of the causes, with the number of each.
async fn causes(postgres: &Postgres) -> Vec<(AlertKind, u64)> {
    let scan = postgres.store.find_causes(&AlertKind::ALL).await.expect("look for causes");
    scan.causes.into_iter().map(|cause| (cause.kind, cause.count)).collect()
}

#[tokio::test]
async fn a_new_history_is_a_cause_for_a_day() {
    let postgres = postgres().await;
    assert_eq!(causes(&postgres).await, [], "the first history lost nothing");
    let begun = postgres.store.begin_history(TenantScope::desk_own(), "an old copy").await;
    begun.expect("begin a history").expect("the database is migrated");

    assert_eq!(causes(&postgres).await, [(AlertKind::LostCommits, 1)]);
    let mut admin = postgres.database.admin().await;
    run(&mut admin, "update history set begun_at = begun_at - interval '1 day'").await;
    assert_eq!(causes(&postgres).await, []);
}

#[tokio::test]
async fn an_erased_tenant_has_no_causes_and_no_alerts() {
    let postgres = postgres().await;
    let mut admin = postgres.database.admin().await;
    let tenant = sqlx::query("insert into tenants (name) values ('acme') returning tenant_id");
    let tenant: Uuid = tenant.fetch_one(&mut admin).await.expect("a tenant").get(0);
    run(
        &mut admin,
        &format!(
            "insert into agents (tenant_id, name) values ('{tenant}', 'owl');
             insert into wakes (tenant_id, agent_id, state, since)
             select tenant_id, agent_id, 'unreachable', now() from agents"
        ),
    )
    .await;
    let scan = postgres.store.find_causes(AlertKind::QUICK).await.expect("look for causes");
    let update = postgres.store.apply_scan(&scan).await.expect("open alerts");
    assert_eq!(update.changes.len(), 1, "{update:?}");
    assert_eq!(update.changes[0].step, AlertStep::Opened);

    let scope = TenantScope::for_tenant(TenantId::from_uuid(tenant));
    postgres.store.erase(scope).await.expect("erase");
    assert_eq!(causes(&postgres).await, []);
    let scan = postgres.store.find_causes(AlertKind::QUICK).await.expect("look for causes");
    let update = postgres.store.apply_scan(&scan).await.expect("change alerts");
    assert!(update.changes.is_empty() && update.open.is_empty(), "{update:?}");
}
