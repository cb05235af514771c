//! The calls of a test that tries a table of routes.

use std::io::Write as _;

/// The calls of a test, and the wrong responses.
#[derive(Default)]
pub(crate) struct Cases {
    asked: usize,
    wrong: Vec<String>,
}

impl Cases {
    pub(crate) fn note(&mut self, is_right: bool, told: String) {
        self.asked += 1;
        if !is_right {
            self.wrong.push(told);
        }
    }

    /// Appends the figures to the file that this variable names, after these words, and fails if a response was wrong.
    pub(crate) fn end(self, variable: &str, words: &str) {
        if let Some(file) = std::env::var_os(variable) {
            let file = std::fs::File::options().create(true).append(true).open(file);
            let (asked, wrong) = (self.asked, self.wrong.len());
            writeln!(file.expect("a file"), "{words}{asked} {wrong}").expect("room");
        }
        assert_eq!(self.wrong, [""; 0]);
    }
}
