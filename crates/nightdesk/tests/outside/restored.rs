//! A desk over a database that was restored from a backup.

use serde_json::Value;

use crate::desk::Desk;
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/restore.md");

fn incarnation(desk: &Desk) -> String {
    desk.sql("select incarnation from history")
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
    let audit = desk.run("nightdesk audit list --json", &[]);
    assert!(audit.contains("history-begun") && audit.contains("snapshot of Tuesday"), "{audit}");
    desk.serve();
    assert_eq!(incarnation(&desk), after, "a node goes on with it");
    desk.stop();
}
