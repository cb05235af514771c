//! Letters from a shell, as the page says.

use crate::desk::value;
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/letters.md");

#[test]
fn the_page_shows_how_letters_are_sent_granted_and_taken_from_others() {
    let (mut desk, _) = entered_on("");
    desk.run("nightdesk agent create --tenant acme owl", &[]);
    desk.run("nightdesk tenant create beta", &[]);
    desk.run("nightdesk agent create --tenant beta spy", &[]);
    let [sending, granting, hooking, ..] = blocks(PAGE, "sh")[..] else {
        panic!("three blocks of commands")
    };
    for block in [sending, granting, hooking] {
        for line in block.lines() {
            desk.run(line, &[]);
        }
    }
    let again = desk.run(sending.lines().next().expect("a command"), &[]);
    assert_eq!(value(&again, "state"), "put");
    desk.stop();
}
