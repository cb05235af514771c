//! Finds forbidden words in code and comments.

use super::mask::is_word;
use super::{Finding, RustFile};

/// Words that are forbidden in code, with the reason.
const NOT_IN_CODE: [(&str, &str); 4] = [
    ("#[ignore", "a test runs or is deleted"),
    ("should_panic", "assert on the value; a panic has many reasons"),
    ("todo!", "write it, or leave it out"),
    ("unimplemented!", "write it, or leave it out"),
];

/// Words that are forbidden in comments.
const NOT_IN_COMMENTS: [&str; 3] = ["TODO", "FIXME", "HACK"];

/// Finds forbidden words.
pub(super) fn check(file: &RustFile) -> Vec<Finding> {
    let code = file.masked.code.lines().enumerate();
    let comments = file.masked.comments.lines().enumerate();
    let mut findings: Vec<Finding> =
        code.flat_map(|(line, text)| in_code(&file.path, line, text)).collect();
    findings.extend(comments.flat_map(|(line, text)| in_comment(&file.path, line, text)));
    findings
}

fn in_code(path: &str, line: usize, text: &str) -> Vec<Finding> {
    let words = NOT_IN_CODE.iter().filter(|(word, _)| has(text, word));
    words.map(|(word, why)| Finding::in_line(path, line, format!("`{word}`: {why}"))).collect()
}

fn in_comment(path: &str, line: usize, text: &str) -> Vec<Finding> {
    let words = NOT_IN_COMMENTS.iter().filter(|word| has(text, word));
    let what = |word| format!("`{word}`: do it, or write down why it is as it is");
    words.map(|word| Finding::in_line(path, line, what(word))).collect()
}

/// Returns true if the text contains the word as a whole.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_may_not_be_there() {
        let cases = [
            ("a test that is skipped", "#[ignore]\n#[test]", 1),
            ("skipped with a reason", "#[ignore = \"slow\"]", 1),
            ("a panic as an answer", "#[should_panic(expected = \"a\")]", 1),
            ("a hole in the code", "fn a() { todo!() }", 1),
            ("a promise in a comment", "// TODO: later", 1),
            ("another", "/* FIXME */", 1),
            ("the word in a string", "let a = \"todo!\";", 0),
            ("a name like it", "// TODOS is a table", 0),
            ("the word in a comment", "// `should_panic` is not ours", 0),
        ];
        for (name, text, want) in cases {
            assert_eq!(check(&RustFile::new("a.rs", text)).len(), want, "{name}");
        }
    }
}
