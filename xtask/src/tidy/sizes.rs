//! Limits the length of files, and rejects files named `mod.rs`.

use super::{Finding, RustFile};

/// Maximum lines of a file without its inline tests.
const LINES_MAX: usize = 500;

/// Files with a separate limit.
const OWN_LIMITS: [(&str, usize); 2] =
    [("crates/desk/src/inbound.rs", 150), ("crates/desk/src/outbound.rs", 150)];

/// Beginning of the inline tests.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Finds files that are too long or have the wrong name.
pub(super) fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (lines, max) = (lines_without_tests(&file.masked.code), limit(&file.path));
    if lines > max {
        let what = format!("{lines} lines without inline tests; the limit is {max}");
        findings.push(Finding::in_file(&file.path, what));
    }
    if file.path == "mod.rs" || file.path.ends_with("/mod.rs") {
        let what = "name the file after its module, beside the folder";
        findings.push(Finding::in_file(&file.path, what));
    }
    findings
}

fn limit(path: &str) -> usize {
    OWN_LIMITS.iter().find(|(own, _)| *own == path).map_or(LINES_MAX, |(_, max)| *max)
}

fn lines_without_tests(code: &str) -> usize {
    let all = code.lines().count();
    let Some(begin) = code.find(TESTS) else {
        return all;
    };
    let body = &code[begin + TESTS.len()..];
    let tests = &code[begin..begin + TESTS.len() + closing_brace(body)];
    all - tests.lines().count()
}

/// Returns the end of the block that is open at the beginning.
fn closing_brace(body: &str) -> usize {
    let mut depth = 1_usize;
    for (at, c) in body.char_indices() {
        depth = match c {
            '{' => depth + 1,
            '}' => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            return at + 1;
        }
    }
    body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&RustFile::new(path, text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_may_be_as_long_as_the_limit_and_no_longer() {
        let long = "crates/inbox/src/put.rs: 501 lines without inline tests; the limit is 500";

        assert_eq!(found("crates/inbox/src/put.rs", &"a();\n".repeat(500)), [""; 0]);
        assert_eq!(found("crates/inbox/src/put.rs", &"a();\n".repeat(501)), [long]);
    }

    #[test]
    fn the_two_pages_of_the_path_are_short() {
        let long = "crates/desk/src/inbound.rs: 151 lines without inline tests; the limit is 150";

        assert_eq!(found("crates/desk/src/inbound.rs", &"a();\n".repeat(150)), [""; 0]);
        assert_eq!(found("crates/desk/src/inbound.rs", &"a();\n".repeat(151)), [long]);
    }

    #[test]
    fn inline_tests_do_not_count() {
        let tests = format!("{TESTS}\n{}}}\n", "    fn a() { b(\"}\") }\n".repeat(300));
        let text = format!("{}{tests}", "a();\n".repeat(500));

        assert_eq!(found("crates/inbox/src/put.rs", &text), [""; 0]);
        assert_eq!(found("crates/inbox/src/put.rs", &format!("{text}a();\n")).len(), 1);
    }

    #[test]
    fn no_file_is_called_mod() {
        let wrong = "a/src/b/mod.rs: name the file after its module, beside the folder";

        assert_eq!(found("a/src/b/mod.rs", ""), [wrong]);
        assert_eq!(found("a/src/bmod.rs", ""), [""; 0]);
    }
}
