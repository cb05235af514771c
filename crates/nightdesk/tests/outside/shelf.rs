//! An operator manages shared skills and data, as the page documents it.

use crate::desk::value;
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/shelf.md");

#[test]
fn the_page_shows_how_skills_and_data_are_looked_after() {
    let (mut desk, _) = entered_on("");
    let [writing, deleting, folder, approving, data] = blocks(PAGE, "sh")[..] else {
        panic!("five blocks of commands")
    };
    for line in writing.lines() {
        let said = desk.run(line, &[]);
        if line.contains("skill verify") {
            assert_eq!(value(&said, "may_run"), "true", "{said}");
        }
        if line.contains("skill history") {
            assert_eq!(said.lines().count(), 3, "a header and two changes: {said}");
        }
    }
    for line in [deleting, folder].into_iter().flat_map(str::lines) {
        desk.run(line, &[]);
    }
    for line in approving.lines() {
        let said = desk.run(line, &[]);
        if line.contains("skill verify") {
            assert_eq!(value(&said, "secured"), "true", "{said}");
        }
    }
    let [writes, queries] = data.lines().collect::<Vec<_>>()[..] else { panic!("two commands") };
    let id = value(&desk.run(writes, &[]), "id").to_owned();
    assert!(desk.run(queries, &[]).contains(&id));
    let read = desk.run(&format!("nightdesk data read --tenant acme {id}"), &[]);
    assert_eq!(read.trim(), "The kettle is blue.");
    desk.stop();
}

#[test]
fn only_who_has_the_key_approves_and_only_what_was_looked_at() {
    let (mut desk, _) = entered_on("");
    let run = |line: &str| desk.run(line, &[]);
    run("printf '# Status: Approved\\nt:\\n' > brief.skill.md");
    run("nightdesk skill key --out ours.key");
    run("nightdesk skill key --out other.key");
    run("nightdesk skill secure --tenant acme --public-key ours.key.pub");
    let written = run("nightdesk skill write --tenant acme brief --file brief.skill.md");
    assert_eq!(value(&written, "status"), "Draft", "it is not signed");
    let mode = run("stat -c %a ours.key");
    assert_eq!(mode.trim(), "600");

    let refused = [
        ("skill status --tenant acme brief Approved", "no signature"),
        ("skill verify --tenant acme brief", "the check found errors"),
        ("skill approve --tenant acme brief --key-file other.key", "another key"),
        ("skill approve --tenant acme brief --key-file ours.key.pub", "cannot be used"),
        ("skill approve --tenant acme brief --key-file ours.key --version 0", "read it again"),
        ("skill key --out ours.key", "could not create"),
        ("skill delete --tenant acme brief", "--yes"),
        ("data query --tenant acme x --filter odd=1", "domain_tags"),
    ];
    for (line, why) in refused {
        let said = desk.fails(&format!("nightdesk {line}"));
        assert!(said.contains(why), "{line}: {said}");
    }
    run("nightdesk skill approve --tenant acme brief --key-file ours.key");
    run("nightdesk skill verify --tenant acme brief");

    run("printf 't:\\n    &brief\\n' > other.skill.md");
    run("nightdesk skill write --tenant acme other --file other.skill.md");
    let said = desk.fails("nightdesk skill delete --tenant acme brief --yes");
    assert!(said.contains("mentioned by other"), "{said}");
    run("nightdesk skill delete --tenant acme brief --yes --force");
    desk.stop();
}
