//! How long a file may be, and that no file is called `mod.rs`.

use super::{Finding, RustFile};

/// Lines of a file, its inline tests not counted.
const LINES_MAX: usize = 500;

/// Files that have a limit of their own.
const OWN_LIMITS: [(&str, usize); 2] =
    [("crates/desk/src/inbound.rs", 150), ("crates/desk/src/outbound.rs", 150)];

/// What begins the inline tests.
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

/// Where the block ends that was open at the beginning.
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
