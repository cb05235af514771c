//! Forbids the comparison of a secret with `==`, whose time tells how much of a guess is right. Tests may compare.

use super::{Finding, RustFile};

/// Calls that lend the text or the bytes of a secret.
const LENDERS: [&str; 3] = [".expose()", ".expose_secret()", ".with(|secret| secret"];

/// Operators whose time depends on their operands.
const OPERATORS: [&str; 2] = [" == ", " != "];

/// Types that hold a secret. They have no operators; the compiler checks it where they are defined.
const TYPES: [&str; 3] = ["pub struct Secret(", "pub struct Key(", "pub struct Digest("];

const WHY: &str = "a secret is compared in constant time: `Secret::is`, `Digest::is_of`, `verify_slices_are_equal`";

/// Beginning of the inline tests of a file.
const TESTS: &str = "#[cfg(test)]\nmod tests";

/// Finds comparisons of lent secrets, and secrets that can be compared.
pub(super) fn check(file: &RustFile) -> Vec<Finding> {
    let ours = file.path.starts_with("crates/") || file.path.starts_with("platforms/");
    if !ours || file.path.contains("/tests/") || file.path.ends_with("/tests.rs") {
        return Vec::new();
    }
    let code = file.masked.code.split(TESTS).next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().collect();
    let is_found = |(number, line): &(usize, &&str)| {
        let lends = LENDERS.iter().any(|lender| line.contains(lender));
        let compares = OPERATORS.iter().any(|operator| line.contains(operator));
        (lends && compares) || is_comparable_type(&lines, *number)
    };
    let found = lines.iter().enumerate().filter(is_found);
    found.map(|(number, _)| Finding::in_line(&file.path, number, WHY)).collect()
}

/// Returns true if this line begins a type that holds a secret, and one of its attributes derives a comparison.
fn is_comparable_type(lines: &[&str], number: usize) -> bool {
    let begins = TYPES.iter().any(|begin| lines[number].starts_with(begin));
    let mut attributes = lines[..number].iter().rev().take_while(|line| line.starts_with("#["));
    begins && attributes.any(|line| line.contains("PartialEq") || line.contains("PartialOrd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // T58
    #[test]
    fn a_secret_is_never_compared_with_an_operator() {
        let cases = [
            ("a lent text", "let known = shown == secret.expose();", 1),
            ("a difference", "if key.expose_secret() != shown {", 1),
            ("a lent key", "key.with(|secret| secret == shown)", 1),
            ("a length", "let long = secret.expose().len() > 4;", 0),
            ("another comparison", "let known = name == shown;", 0),
            ("a comment", "// never secret.expose() == shown", 0),
            (
                "a type with an operator",
                "#[derive(Clone, PartialEq)]\n#[x]\npub struct Secret(String);",
                1,
            ),
            ("a type without one", "#[derive(Clone)]\npub struct Secret(String);", 0),
            ("another type", "#[derive(PartialEq)]\npub struct Seq(u64);", 0),
            ("a test", "#[cfg(test)]\nmod tests { fn a() { b.expose() == c; } }", 0),
        ];
        for (name, text, want) in cases {
            let found = check(&RustFile::new("crates/a/src/b.rs", text)).len();
            assert_eq!(found, want, "{name}");
        }
    }
}
