//! A desk over a database that was restored from a backup.

use std::fs;

use serde_json::Value;

use crate::desk::Desk;
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/restore.md");

const LIST: &str = "erased.txt";

const WITH_LIST: &str = "[erasure]\nlist_file = \"erased.txt\"\n";

fn incarnation(desk: &Desk) -> String {
    desk.sql("select incarnation from history")
}

/// Returns the number of living tenants, of their data keys and of the secrets under these.
fn living(desk: &Desk) -> String {
    desk.sql(
        "select (select count(*) from tenants where erased_at is null)
             || ' ' || (select count(*) from tenant_keys)
             || ' ' || (select count(*) from gateway_secrets)",
    )
}

#[test]
fn an_erased_tenant_stays_erased_after_a_restore() {
    let (mut desk, _) = entered_on(WITH_LIST);
    let backup = desk.dump();
    desk.run("nightdesk tenant erase acme --yes", &[]);
    desk.stop();
    desk.restore(&backup);
    assert_eq!(living(&desk), "1 1 1", "the backup has the tenant, its key and its secret");

    desk.serve();

    assert_eq!(living(&desk), "0 0 0");
    assert!(desk.log().contains("it is erased again"), "{}", desk.log());
    desk.fails("nightdesk agent list --tenant acme");
    desk.stop();
    desk.serve();
    assert!(!desk.log().contains("it is erased again"), "once is enough: {}", desk.log());
    desk.stop();
}

#[test]
fn a_changed_list_of_erased_tenants_stops_the_start() {
    let (mut desk, _) = entered_on(WITH_LIST);
    desk.run("nightdesk tenant create beta", &[]);
    desk.run("nightdesk tenant erase acme --yes && nightdesk tenant erase beta --yes", &[]);
    desk.stop();
    let file = desk.folder().join(LIST);
    let list = fs::read_to_string(&file).expect("the list");
    let (first, second) = list.split_at(list.find('\n').expect("a line") + 1);

    fs::write(&file, second).expect("remove the first line");
    assert!(desk.fails("nightdesk config check").contains("was changed or removed"));
    desk.begin_to_serve();
    assert!(!desk.ended(), "it does not serve");
    assert!(desk.log().contains("put the file back from a copy"), "{}", desk.log());

    // The database knows its erased tenants, so a list that was cut off is completed.
    fs::write(&file, first).expect("cut the second line off");
    desk.serve();
    assert_eq!(fs::read_to_string(&file).expect("the list").lines().count(), 2);
    desk.stop();
}

#[test]
fn a_list_of_erased_tenants_outlives_the_vaults_key() {
    let (mut desk, _) = entered_on(WITH_LIST);
    desk.run("nightdesk tenant erase acme --yes", &[]);
    desk.stop();

    desk.run("cp vault.key old.key && chmod 600 vault.key && nightdesk key new > vault.key", &[]);
    desk.run("cat old.key >> vault.key && nightdesk key rotate", &[]);
    desk.run("head -1 vault.key > new.key && cat new.key > vault.key", &[]);

    desk.serve();
    desk.stop();
}

#[test]
fn an_operator_ends_a_history_that_no_node_recognises_as_over() {
    let (mut desk, _) = entered_on("");
    let before = incarnation(&desk);
    let backup = desk.dump();
    desk.stop();
    desk.restore(&backup);
    let line = blocks(PAGE, "sh").into_iter().find(|block| block.contains("history new"));
    let line = line.expect("the page has the command").trim();

    let answer = desk.run(&format!("{line} --json"), &[]);

    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let after = incarnation(&desk);
    assert_ne!(after, before);
    assert_eq!(answer["incarnation"].to_string(), after);
    desk.serve();
    assert_eq!(incarnation(&desk), after, "a node goes on with it");
    let audit = desk.run("nightdesk audit list --json", &[]);
    assert!(audit.contains("history-begun") && audit.contains("snapshot of Tuesday"), "{audit}");
    desk.stop();
}
