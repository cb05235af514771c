//! Counts the cases that a test goes through.
//!
//! `NIGHTDESK_CASES` names a file. Each case writes one line to it when it begins, and another when it passes.
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
    /// Records that the case passed.
    pub fn passed(self) {
        note(&self.0, "passed");
    }
}

fn note(case: &str, how: &str) {
    let Some(file) = std::env::var_os("NIGHTDESK_CASES") else { return };
    let file = std::fs::File::options().create(true).append(true).open(file);
    // One write per line, so that parallel tests do not mix their lines.
    let line = format!("{case} {how}\n");
    file.expect("a file").write_all(line.as_bytes()).expect("room");
}
