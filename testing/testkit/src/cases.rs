//! Cases: what a test goes over one by one, counted for who wants to know how many there are.
//!
//! `NIGHTDESK_CASES` names a file; each case is a line in it when it begins, and another when it was passed.
#![expect(clippy::expect_used, reason = "a test that cannot be counted should stop")]

use std::io::Write as _;

/// A case that was begun: `telegram op send`.
#[derive(Debug)]
#[must_use = "a case that is not passed has failed"]
pub struct Case(String);

/// Begins a case.
pub fn begin(platform: &str, what: &str, name: &str) -> Case {
    let case = format!("{platform} {what} {}", name.replace(' ', "-"));
    note(&case, "begun");
    Case(case)
}

impl Case {
    /// All was as it should be.
    pub fn passed(self) {
        note(&self.0, "passed");
    }
}

fn note(case: &str, how: &str) {
    let Some(file) = std::env::var_os("NIGHTDESK_CASES") else { return };
    let file = std::fs::File::options().create(true).append(true).open(file);
    // One write a line, so that tests beside each other do not mix theirs.
    let line = format!("{case} {how}\n");
    file.expect("a file").write_all(line.as_bytes()).expect("room");
}
