//! Tests the erasure of a tenant against the catalogue, so that no new table is missed.

use nightdesk_types::{TenantId, TenantScope};
use nightdesk_vault::Store as _;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};
use uuid::Uuid;

use crate::server::{Database, run};

/// Tables in which rows of an erased tenant stay. The plan in the database gives the reason for each.
const KEPT: [&str; 10] = [
    "agents",
    "audit_heads",
    "audit_log",
    "gateways",
    "inbox_cursors",
    "inbox_heads",
    "lines",
    "reach_changes",
    "reach_heads",
    "tenants",
];

async fn names(connection: &mut PgConnection, sql: &'static str) -> Vec<String> {
    sqlx::query_scalar(sql).fetch_all(connection).await.expect("read names")
}

/// Returns the tables with a tenant, without partitions.
async fn tables(connection: &mut PgConnection) -> Vec<String> {
    names(
        connection,
        "select c.relname::text from pg_class c
             join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition
         order by 1",
    )
    .await
}

/// Removes the constraints and triggers of a table, and enters a row of the tenant that is empty otherwise.
async fn enter_bare_row(connection: &mut PgConnection, table: &str, tenant: Uuid) {
    run(
        connection,
        &format!(
            "do $$ declare t regclass := '{table}'; c record; k text; begin
                 for c in select conrelid::regclass as of, conname from pg_constraint
                     where t in (conrelid, confrelid) and conparentid = 0 and contype <> 't'
                 loop
                     execute format('alter table %s drop constraint if exists %I cascade', c.of, c.conname);
                 end loop;
                 for c in select attname from pg_attribute where attrelid = t and attnum > 0 and attnotnull
                     and not attisdropped
                 loop
                     execute format('alter table %s alter column %I drop not null', t, c.attname);
                 end loop;
                 execute format('alter table %s disable trigger all', t);
                 select string_agg(format(', %I', a.attname), '') into k
                 from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid
                     and a.attnum = any (p.partattrs::smallint[]) where p.partrelid = t;
                 execute format('insert into %s (tenant_id%s) values (%L%s)', t, k, '{tenant}',
                     case when k is not null then ', now()' end);
             end $$"
        ),
    )
    .await;
}

#[tokio::test]
async fn every_table_of_tenants_is_in_the_plan_of_an_erasure() {
    let mut admin = Database::new().await.admin().await;
    let planned = names(&mut admin, "select relation from erasure_plan() order by 1").await;
    assert_eq!(planned, tables(&mut admin).await);

    let kept = names(
        &mut admin,
        "select relation from erasure_plan()
         where fate = 'kept' and length(reason) > 20 order by 1",
    )
    .await;
    assert_eq!(kept, KEPT);
}

#[tokio::test]
async fn an_erased_tenant_has_rows_only_where_the_plan_keeps_them() {
    let database = Database::new().await;
    let mut admin = database.admin().await;
    let tenant = sqlx::query("insert into tenants (name) values ('acme') returning tenant_id");
    let tenant: Uuid = tenant.fetch_one(&mut admin).await.expect("a tenant").get(0);
    let tables = tables(&mut admin).await;
    let erased: Vec<_> = tables.iter().filter(|table| !KEPT.contains(&table.as_str())).collect();
    for table in &erased {
        enter_bare_row(&mut admin, table, tenant).await;
    }

    let (store, scope) = (database.store(), TenantScope::for_tenant(TenantId::from_uuid(tenant)));
    store.erase(scope).await.expect("erase");
    while store.erase_texts(scope).await.expect("erase texts") > 0 {}
    let mut left = Vec::new();
    for table in erased {
        let rows = format!("select count(*) from {table} where tenant_id = $1");
        let rows = sqlx::query_scalar(AssertSqlSafe(rows)).bind(tenant);
        let rows: i64 = rows.fetch_one(&mut admin).await.expect("count");
        if rows > 0 {
            left.push(table);
        }
    }
    assert!(left.is_empty(), "{left:?}");
}
