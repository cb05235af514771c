//! An operator inspects an agent's jobs and schedules a message, as the page documents it.

use crate::desk::{value, wait_until};
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/time.md");

const HISTORY: &str = "nightdesk schedule history --tenant acme --agent helper --job report --json";

#[test]
fn the_page_shows_how_jobs_are_looked_at_and_made() {
    let (mut desk, _) = entered_on("");
    desk.run(
        "nightdesk schedule add --tenant acme --agent helper report --in 24h --say 'Report.'",
        &[],
    );
    let [looking, adding, ..] = blocks(PAGE, "sh")[..] else { panic!("two blocks of commands") };
    for line in looking.lines() {
        // A job that was just fired cannot be cancelled, and the command reports it.
        if !line.contains("schedule cancel") {
            desk.run(line, &[]);
        }
    }
    wait_until("the agent is told", || desk.run(HISTORY, &[]).contains("\"state\":\"fired\""));
    for line in adding.lines() {
        let added = desk.run(line, &[]);
        assert!(value(&added, "due").starts_with("20"), "{added}");
    }
    let cancelled =
        desk.run("nightdesk schedule cancel --tenant acme --agent helper new-year", &[]);
    assert_eq!(value(&cancelled, "cancelled"), "true");
    desk.stop();
}
