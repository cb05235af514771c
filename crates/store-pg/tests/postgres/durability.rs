//! Tests that a session waits for its commits.

use nightdesk_store_pg::{DurabilityFault, Pg};
use nightdesk_testkit::test_vault;

use crate::server::{Database, run};

/// Sets the default of a fresh database, and returns the value that a session of the store has.
async fn in_session(default: &str) -> String {
    let database = Database::new().await;
    let set = format!(
        "do $$ begin execute format('alter database %I set synchronous_commit = {default}', \
         current_database()); end $$"
    );
    run(&mut database.admin().await, &set).await;
    let settings = database.store().durability().await.expect("read the settings");
    settings.synchronous_commit
}

#[tokio::test]
async fn a_session_waits_for_its_commits_whatever_the_default_is() {
    for weaker in ["off", "local", "remote_write"] {
        assert_eq!(in_session(weaker).await, "on", "{weaker}");
    }
    assert_eq!(in_session("remote_apply").await, "remote_apply", "a stronger default stays");
}

#[tokio::test]
async fn a_url_that_turns_the_wait_off_is_obeyed_and_is_a_fault() {
    let database = Database::new().await;
    let url = format!("{}?options[synchronous_commit]=off", database.app_url());
    let store = Pg::connect(&url, None, test_vault()).expect("a URL of ours");

    let settings = store.durability().await.expect("read the settings");
    assert_eq!(settings.synchronous_commit, "off");
    assert!(settings.faults().contains(&DurabilityFault::CommitsNotAwaited), "{settings:?}");
}
