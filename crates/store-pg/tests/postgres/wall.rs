//! Tests the isolation of tenants from the catalogue, so that no new table or function is missed.

use sqlx::{PgConnection, Row};

use crate::server::{Database, run};

/// Tables that belong to no tenant.
const NOBODYS: [&str; 11] = [
    "api_tokens",
    "desk_secrets",
    "history",
    "login_links",
    "node_findings",
    "nodes",
    "owners",
    "signing_keys",
    "upkeep_passes",
    "user_sessions",
    "users",
];

/// All functions that may read across tenants, with the role that each runs as.
const DEFINERS: [(&str, &str); 68] = [
    ("bury_lines", "nightdesk_doors"),
    ("close_day", "nightdesk_owner"),
    ("day_is_empty", "nightdesk_doors"),
    ("door_alert_causes", "nightdesk_doors"),
    ("door_asker", "nightdesk_doors"),
    ("door_audit_heads", "nightdesk_doors"),
    ("door_bot", "nightdesk_doors"),
    ("door_bots_of", "nightdesk_doors"),
    ("door_changed", "nightdesk_doors"),
    ("door_chats_of", "nightdesk_doors"),
    ("door_claim_command", "nightdesk_doors"),
    ("door_claim_roles", "nightdesk_doors"),
    ("door_client", "nightdesk_doors"),
    ("door_due_alerts", "nightdesk_doors"),
    ("door_erasures", "nightdesk_doors"),
    ("door_gateways", "nightdesk_doors"),
    ("door_give_up_sends", "nightdesk_doors"),
    ("door_glass", "nightdesk_doors"),
    ("door_letter_hook", "nightdesk_doors"),
    ("door_link", "nightdesk_doors"),
    ("door_listening_bots", "nightdesk_doors"),
    ("door_lock_alerts", "nightdesk_doors"),
    ("door_message_sender", "nightdesk_doors"),
    ("door_node_lines", "nightdesk_doors"),
    ("door_open_alerts", "nightdesk_doors"),
    ("door_open_bots", "nightdesk_doors"),
    ("door_ownerless_bots", "nightdesk_doors"),
    ("door_reach", "nightdesk_doors"),
    ("door_reaches", "nightdesk_doors"),
    ("door_refresh_tokens", "nightdesk_doors"),
    ("door_remove_bot", "nightdesk_doors"),
    ("door_revoked", "nightdesk_doors"),
    ("door_rewrap", "nightdesk_doors"),
    ("door_tenant", "nightdesk_doors"),
    ("door_tenants", "nightdesk_doors"),
    ("door_user_access", "nightdesk_doors"),
    ("door_users", "nightdesk_doors"),
    ("door_vault_keys", "nightdesk_doors"),
    ("door_waiting_sends", "nightdesk_doors"),
    ("door_wrapped_by", "nightdesk_doors"),
    ("expire_entries", "nightdesk_doors"),
    ("fires_due", "nightdesk_doors"),
    ("fires_next_ms", "nightdesk_doors"),
    ("flag_unarmed", "nightdesk_doors"),
    ("forget_acked", "nightdesk_doors"),
    ("forget_audit", "nightdesk_doors"),
    ("forget_changes", "nightdesk_doors"),
    ("forget_chats", "nightdesk_doors"),
    ("forget_data_keys", "nightdesk_doors"),
    ("forget_ended", "nightdesk_doors"),
    ("forget_fires", "nightdesk_doors"),
    ("forget_letters", "nightdesk_doors"),
    ("forget_links", "nightdesk_doors"),
    ("forget_media", "nightdesk_doors"),
    ("forget_parked", "nightdesk_doors"),
    ("forget_prompts", "nightdesk_doors"),
    ("forget_sends", "nightdesk_doors"),
    ("lock_due_wakes", "nightdesk_doors"),
    ("note_reach", "nightdesk_doors"),
    ("open_days", "nightdesk_owner"),
    ("sample_usage", "nightdesk_doors"),
    ("tell", "nightdesk_doors"),
    ("tell_act", "nightdesk_doors"),
    ("tell_linked", "nightdesk_doors"),
    ("tell_own", "nightdesk_doors"),
    ("tell_parked", "nightdesk_doors"),
    ("tell_row", "nightdesk_doors"),
    ("trim_parked", "nightdesk_doors"),
];

async fn names(connection: &mut PgConnection, sql: &'static str) -> Vec<String> {
    sqlx::query_scalar(sql).fetch_all(connection).await.expect("read the catalogue")
}

#[tokio::test]
async fn every_table_of_tenants_is_walled_off() {
    let mut admin = Database::new().await.admin().await;
    let open = names(
        &mut admin,
        "select c.relname::text from pg_class c
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and c.relname not like '\\_sqlx%'
           and not (c.relrowsecurity and c.relforcerowsecurity and exists (
               select from pg_policy p where p.polrelid = c.oid
                 and p.polqual is not null and p.polwithcheck is not null))
         order by 1",
    )
    .await;

    assert_eq!(open, NOBODYS);
}

#[tokio::test]
async fn the_tenant_comes_first_in_every_key() {
    let mut admin = Database::new().await.admin().await;
    let others = names(
        &mut admin,
        "select c.relname::text from pg_class c
             left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
             left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and c.relname not like '\\_sqlx%'
           and a.attname is distinct from 'tenant_id'
         order by 1",
    )
    .await;

    assert_eq!(others, NOBODYS);
}

#[tokio::test]
async fn only_the_listed_doors_look_across_tenants() {
    let mut admin = Database::new().await.admin().await;
    let rows = sqlx::query(
        "select p.proname::text, r.rolname::text, p.proconfig::text
         from pg_proc p join pg_roles r on r.oid = p.proowner
         where p.pronamespace = 'public'::regnamespace and p.prosecdef order by 1",
    )
    .fetch_all(&mut admin)
    .await
    .expect("read the catalogue");

    let found: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(found, DEFINERS.map(|(name, owner)| (name.to_owned(), owner.to_owned())));
    for row in &rows {
        let settings: String = row.get(2);
        assert!(settings.contains("search_path=public, pg_temp"), "{}", row.get::<String, _>(0));
    }
}

#[tokio::test]
async fn the_desk_logs_in_as_somebody_the_wall_binds() {
    let mut admin = Database::new().await.admin().await;
    let free = names(
        &mut admin,
        "select rolname::text from pg_roles
         where rolname = 'nightdesk_app' and (rolsuper or rolbypassrls or rolcreaterole)
         union
         select c.relname::text from pg_class c join pg_roles r on r.oid = c.relowner
         where r.rolname = 'nightdesk_app'
         union
         select rolname::text from pg_roles
         where rolname in ('nightdesk_owner', 'nightdesk_doors') and rolcanlogin",
    )
    .await;

    assert!(free.is_empty(), "{free:?}");
}

#[tokio::test]
async fn without_a_tenant_nothing_is_shown_and_nothing_written() {
    let database = Database::new().await;
    let mut admin = database.admin().await;
    run(
        &mut admin,
        "insert into agents (tenant_id, name) values (gen_random_uuid(), 'somebody''s')",
    )
    .await;
    let mut app = database.app().await;
    let unset = sqlx::query("select * from agents").fetch_all(&mut app).await;
    assert!(unset.is_err(), "unset");

    // After a transaction the setting is empty, not absent.
    run(&mut app, "begin; select set_config('app.tenants', '{}', true); commit").await;
    let after = sqlx::query("select * from agents").fetch_all(&mut app).await;
    assert!(after.is_err(), "after a transaction");
}

#[tokio::test]
async fn a_partition_cannot_be_read_past_its_table() {
    let database = Database::new().await;
    let partitions = names(
        &mut database.admin().await,
        "select c.relname::text from pg_class c
         where c.relispartition and c.relkind = 'r'
           and has_table_privilege('nightdesk_app', c.oid, 'select')",
    )
    .await;

    assert!(partitions.is_empty(), "{partitions:?}");
}
