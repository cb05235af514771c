//! Tests of the state of the server that an operator can correct.

use nightdesk_store_pg::{LogArchive, LoginRights, Pg, StoredDay};
use nightdesk_testkit::test_vault;
use nightdesk_types::limits::{DAYS_NEEDED_BEHIND, DAYS_OPENED_AHEAD};

use crate::server::{Database, run};

const PARTITIONED: [&str; 3] = ["dedupe_keys", "inbox_acks", "inbox_entries"];

fn days() -> Vec<StoredDay> {
    let days = |table: &'static str| {
        (-DAYS_NEEDED_BEHIND..=DAYS_OPENED_AHEAD)
            .map(move |days_ahead| StoredDay { table: table.to_owned(), days_ahead })
    };
    PARTITIONED.into_iter().flat_map(days).collect()
}

#[tokio::test]
async fn the_desks_login_can_do_no_more_than_it_needs() {
    let database = Database::new().await;
    let rights = database.store().login_rights().await.expect("read the rights");
    let role = "nightdesk_app".to_owned();
    assert_eq!(
        rights,
        LoginRights { role, bypasses_walls: false, owns_tables: false, runs_functions: true }
    );

    let url = database.app_url().replace("nightdesk_app@", "postgres@");
    let store = Pg::connect(&url, None, test_vault()).expect("a URL of ours");
    let rights = store.login_rights().await.expect("read the rights");
    assert!(rights.bypasses_walls && rights.owns_tables, "{rights:?}");
}

#[tokio::test]
async fn a_partition_that_was_lost_is_missing_until_the_days_are_opened() {
    let database = Database::new().await;
    let store = database.store();
    assert_eq!(store.stored_days().await.expect("list partitions"), days());

    let drop_tomorrow = "do $$ declare d record; begin
         for d in select name from stored_days()
             where parent = 'inbox_entries' and day = (now() at time zone 'utc')::date + 1
         loop execute format('drop table %I', d.name); end loop; end $$";
    run(&mut database.admin().await, drop_tomorrow).await;
    let lost = StoredDay { table: "inbox_entries".to_owned(), days_ahead: 1 };
    let kept: Vec<_> = days().into_iter().filter(|day| *day != lost).collect();
    assert_eq!(store.stored_days().await.expect("list partitions"), kept);

    store.open_days(DAYS_OPENED_AHEAD).await.expect("open the days");
    assert_eq!(store.stored_days().await.expect("list partitions"), days());
}

#[tokio::test]
async fn a_server_without_an_archive_says_so() {
    let archive = Database::new().await.store().log_archive().await.expect("read its state");

    let none = LogArchive { is_on: false, archived_secs_ago: None, is_failing: false };
    assert_eq!(archive, none, "the test server is one of those");
}
