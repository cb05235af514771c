//! The health endpoints of a node, and `config check` before it runs.

use std::process::Command;

use nightdesk_servers::{Durability, Options, Postgres};

use crate::desk::{Desk, free_port, get, wait_until};

const CONFIG: &str = r#"
[listen]
address = "127.0.0.1:8800"

[database]
url = "postgres://nightdesk_app@127.0.0.1:5432/nightdesk"
migrate_url = "postgres://postgres@127.0.0.1:5432/nightdesk"

[vault]
key_file = "vault.key"
"#;

#[test]
fn a_node_tells_its_health_and_its_numbers() {
    let metrics = free_port();
    let more = format!("[metrics]\naddress = \"127.0.0.1:{metrics}\"\n[log]\nformat = \"json\"\n");
    let mut desk = Desk::migrated(&format!("{CONFIG}{more}"));
    desk.serve();

    wait_until("it is ready", || desk.get("/readyz").contains(r#"{"ready":true}"#));
    let numbers = get(metrics, "/metrics");
    for name in ["nightdesk_build{", "nightdesk_lines_open 0", "nightdesk_inbox_put_seconds_count"]
    {
        assert!(numbers.contains(name), "{name} in {numbers}");
    }
    assert!(desk.get("/metrics").contains("404"), "the street does not see numbers");
    desk.stop();
    let log = desk.log();
    assert!(log.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{log}");
}

#[test]
fn a_node_that_starts_waits_for_a_busy_database() {
    let mut desk = Desk::migrated(CONFIG);
    let busy = desk.session("lock table _sqlx_migrations in access exclusive mode");
    desk.begin_to_serve();
    wait_until("it says so", || desk.log().contains("the database is not available yet"));
    drop(busy);
    wait_until("it is ready", || desk.get("/readyz").contains(r#"{"ready":true}"#));
    desk.stop();
}

#[test]
fn a_node_starts_while_a_backup_reads_its_tables() {
    let mut desk = Desk::migrated(CONFIG);
    // As for a node that was away for days: no day ahead is open.
    desk.sql(
        "do $$ declare d record; begin
             for d in select name from stored_days() where day >= (now() at time zone 'utc')::date
             loop execute format('drop table %I', d.name); end loop;
         end $$",
    );
    let backup = desk.session(
        "do $$ begin
             perform count(*) from inbox_entries;
             perform count(*) from inbox_acks;
             perform count(*) from dedupe_keys;
         end $$",
    );
    desk.serve();

    let open = "select count(*) from stored_days() where day > (now() at time zone 'utc')::date";
    let open: u32 = desk.sql(open).trim().parse().unwrap();
    assert!(open >= 3, "tomorrow's days are open: {open}");
    desk.stop();
    drop(backup);
}

#[test]
fn a_node_that_is_stopped_while_it_starts_ends_cleanly() {
    let mut desk = Desk::migrated(CONFIG);
    let busy = desk.session("lock table _sqlx_migrations in access exclusive mode");
    desk.begin_to_serve();
    wait_until("it waits", || desk.log().contains("the database is not available yet"));
    desk.stop();
    drop(busy);
}

#[test]
fn a_database_may_be_newer_than_the_binary_and_never_older() {
    let mut desk = Desk::migrated(CONFIG);
    desk.sql(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (99990101000000, 'of a newer release', true, '', 0)",
    );
    desk.run("nightdesk migrate && nightdesk config check", &[]);
    desk.serve();
    desk.stop();

    let last = desk.sql(
        "delete from _sqlx_migrations where version =
            (select max(version) from _sqlx_migrations where version < 99990101000000)
         returning version",
    );
    let said = desk.fails("nightdesk serve");
    assert!(said.contains(&format!("it lacks {last}_")), "{said}");
    assert!(said.contains("run `nightdesk migrate` with this binary"), "{said}");
    assert!(desk.fails("nightdesk config check").contains(&last));
}

#[test]
fn a_check_of_the_configuration_says_what_to_mend() {
    let desk = Desk::configured(CONFIG);
    let check = "nightdesk config check";

    let said = desk.fails(check);
    assert!(said.contains("create it with `nightdesk key new"), "{said}");
    desk.run("nightdesk key new > vault.key", &[]);
    let said = desk.fails(check);
    assert!(said.contains("run `chmod 400 vault.key`"), "{said}");
    desk.run("chmod 400 vault.key", &[]);
    let said = desk.fails(check);
    assert!(said.contains("`nightdesk migrate`"), "{said}");
    desk.run("nightdesk migrate", &[]);
    assert_eq!(desk.run(check, &[]).matches("ok ").count(), 6);
    assert!(desk.run("nightdesk config check --json", &[]).contains(r#""ok":true"#));
}

#[test]
fn a_node_refuses_a_database_that_may_lose_what_it_confirmed() {
    let mut desk = Desk::migrated(CONFIG);
    assert_eq!(desk.sql("show fsync"), "off", "the test server is one of those");

    for command in ["serve", "config check"] {
        let checked = format!("NIGHTDESK__DATABASE__DURABILITY=checked nightdesk {command}");
        let said = desk.fails(&checked);
        assert!(said.contains("fsync is off, full_page_writes is off"), "{said}");
        assert!(said.contains("database.durability = \"unchecked\""), "{said}");
    }
    let said = desk.run("nightdesk config check", &[]);
    assert!(said.contains("unchecked: fsync is off"), "{said}");
    desk.serve();
    assert!(desk.log().contains("PostgreSQL may lose messages that the desk accepted"));
    desk.stop();
}

#[test]
fn a_node_ends_when_a_server_that_may_lose_commits_takes_over() {
    let durable = Options { durability: Durability::Fsync, ..Options::default() };
    let mut server = Postgres::start(&durable).expect("a server");
    let address = format!("127.0.0.1:{}/postgres", server.port());
    let mut desk = Desk::migrated(&CONFIG.replace("127.0.0.1:5432/nightdesk", &address));
    desk.serve_checked();

    server.stop_immediate().expect("it stops");
    server.start_again_with(Durability::NoFsync).expect("it starts");
    // As after a promotion: the recorded timeline is not the server's.
    let promoted = Command::new(server.bin_dir().join("psql"))
        .args(["-q", "-d", &server.admin_url("postgres")])
        .args(["-c", "update history set timeline = timeline + 1"])
        .status();
    assert!(promoted.expect("psql runs").success());

    assert!(!desk.ended(), "it fails, as it would at its start");
    let log = desk.log();
    assert!(log.contains("another server took the place of the database"), "{log}");
    assert!(log.contains("fsync is off, full_page_writes is off"), "{log}");
    assert!(log.contains("database.durability = \"unchecked\""), "{log}");
}
