//! Checks that workflows use actions at a full commit hash: the owner of a tag can move it to other code.

use super::Finding;
use crate::repo::TextFile;

const FOLDER: &str = ".github/";

/// Digits of a full commit hash.
const HASH_DIGITS: usize = 40;

/// YAML may have these around a key or a value.
const QUOTES: [char; 2] = ['"', '\''];

/// Finds actions without a full commit hash, or without the version of that commit in a comment.
pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let is_workflow =
        file.path.starts_with(FOLDER) && (file.has_extension("yml") || file.has_extension("yaml"));
    let lines = file.text.lines().enumerate().filter(|_| is_workflow);
    lines
        .filter_map(|(line, text)| {
            let fault = fault(used_action(text)?)?;
            Some(Finding::in_line(&file.path, line, fault))
        })
        .collect()
}

/// Returns the value of a `uses` key with its comment.
fn used_action(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("- ").map_or(line, str::trim_start);
    let (key, value) = line.split_once(':')?;
    (key.trim_end().trim_matches(QUOTES) == "uses").then(|| value.trim())
}

fn fault(action: &str) -> Option<String> {
    let (name, comment) = action.split_once(" #").unwrap_or((action, ""));
    let name = name.trim().trim_matches(QUOTES);
    // An action of this repository is as old as the workflow.
    if name.starts_with("./") {
        return None;
    }
    let hash = name.rsplit_once('@').map_or("", |(_, hash)| hash);
    if hash.len() != HASH_DIGITS || !hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Some(format!("{name} is not pinned: write the full commit hash after the @"));
    }
    let version = comment.trim().strip_prefix('v').unwrap_or_default();
    let is_version = version.starts_with(|digit: char| digit.is_ascii_digit());
    (!is_version).then(|| format!("{name} needs its version in a comment, such as # v1.2.3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn findings(path: &str, line: &str) -> Vec<String> {
        let file = TextFile { path: path.to_owned(), text: format!("steps:\n{line}\n") };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_action_is_pinned_by_a_full_hash_with_its_version() {
        let cases = [
            ("pinned", format!("  - uses: a/b@{HASH} # v1.2.3"), true),
            ("pinned in a step with a name", format!("    uses: a/b/c@{HASH} # v1"), true),
            ("quoted", format!("  - uses: \"a/b@{HASH}\" # v1"), true),
            ("a tag", "  - uses: a/b@v4".to_owned(), false),
            ("a tag in quotes", "  - \"uses\": a/b@v4".to_owned(), false),
            ("a tag before a comment", format!("  - uses: a/b@v4 # {HASH}"), false),
            ("a branch", "  - uses: a/b@main # v4".to_owned(), false),
            ("a short hash", "  - uses: a/b@0123456 # v4".to_owned(), false),
            ("no version", format!("  - uses: a/b@{HASH}"), false),
            ("another comment", format!("  - uses: a/b@{HASH} # newest"), false),
            ("nothing after the name", "  - uses: a/b # v4".to_owned(), false),
            ("an image", "  - uses: docker://alpine:3.8".to_owned(), false),
            ("an action of this repository", "  - uses: ./.github/actions/x".to_owned(), true),
            ("a command", "  - run: echo uses a/b@v4".to_owned(), true),
        ];
        for (name, line, is_good) in cases {
            assert_eq!(findings(".github/workflows/ci.yml", &line).is_empty(), is_good, "{name}");
        }
    }

    #[test]
    fn only_workflows_are_checked() {
        assert!(findings("docs/example.yml", "  - uses: a/b@v4").is_empty());
        assert_eq!(
            findings(".github/actions/x/action.yaml", "  - uses: a/b@v4"),
            [
                ".github/actions/x/action.yaml:2: a/b@v4 is not pinned: write the full commit hash after the @"
            ]
        );
    }
}
