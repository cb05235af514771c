//! An agent's reach, from the command line.

use crate::desk::Desk;
use crate::docs::{Variables, blocks, entered};

const PAGE: &str = include_str!("../../../../docs/reach.md");

/// Starts a desk with all objects of the README, and an additional bot.
fn with_a_bot() -> (Desk, Variables) {
    let (desk, mut entered) = entered();
    entered.run(&desk, "nightdesk bot create --tenant acme --platform webchat --handle lobby");
    (desk, entered)
}

#[test]
fn the_pages_commands_run_as_they_stand_there() {
    let (mut desk, mut entered) = with_a_bot();
    let mut said = String::new();
    for line in blocks(PAGE, "sh").iter().flat_map(|block| block.lines()) {
        said += &entered.run(&desk, line);
    }
    assert!(said.contains("/link "), "{said}");
    let is_grant = |line: &str| line.split_whitespace().skip(1).eq(["77", "99", "allow-list"]);
    assert!(said.lines().any(is_grant), "{said}");
    desk.stop();
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let (mut desk, entered) = with_a_bot();
    let bot = entered.get("BOT").to_owned();
    let whose = "--tenant acme --agent helper";
    let cases = [
        (
            format!("nightdesk binding prefer {whose} --bot {bot} --author nobody"),
            "`nightdesk binding create` first",
        ),
        (
            format!("nightdesk grant remove {whose} --bot {bot} --chat none"),
            "nightdesk agent reach",
        ),
        (
            format!("nightdesk agent reach {whose} --open-to everybody"),
            "owner-only, allow-list or any",
        ),
        (
            format!("nightdesk bot share --tenant acme --bot {}", entered.get("AGENT")),
            "runs no such bot; `nightdesk bot list`",
        ),
    ];
    for (line, what_to_do) in cases {
        let said = desk.fails(&line);
        assert!(said.contains(what_to_do), "{line}: {said}");
    }
    desk.stop();
}
