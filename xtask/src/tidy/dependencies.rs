//! Checks that every dependency has a line with its reason.

use super::Finding;

/// The list of dependencies.
pub(super) const LIST: &str = "docs/dependencies.md";

const MANIFEST: &str = "Cargo.toml";
const OURS: &str = "nightdesk-";

/// Compares the workspace's dependencies with the list.
pub(super) fn check(manifest: &str, list: &str) -> Vec<Finding> {
    let (used, listed) = (used(manifest), listed(list));
    let silent = used.iter().filter(|name| !listed.contains(name)).map(|name| {
        Finding::in_file(
            MANIFEST,
            format!("{name} has no line in {LIST}: what it does, and why it"),
        )
    });
    let stale = listed.iter().filter(|name| !used.contains(name)).map(|name| {
        Finding::in_file(LIST, format!("{name} is not among the workspace's dependencies"))
    });
    silent.chain(stale).collect()
}

/// Returns the names in the table `workspace.dependencies`, which has one line for each.
fn used(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[workspace.dependencies]");
    let table = lines.skip(1).take_while(|line| !line.starts_with('['));
    let names = table.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
    names.filter(|name| !name.starts_with('#') && !name.starts_with(OURS)).collect()
}

/// Returns the names that come first, in code marks, in the rows of the list's tables.
fn listed(list: &str) -> Vec<&str> {
    let rows = list.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARGO: &str = "[workspace.dependencies]\n# ours\nnightdesk-types = { path = \"a\" }\n\
                         # theirs\ntokio = { version = \"1\" }\nuuid = \"1\"\n\n[profile.dev]\na = 1\n";

    fn found(list: &str) -> Vec<String> {
        check(CARGO, list).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_list_that_names_each_is_fine() {
        assert_eq!(found("| `tokio` | runs |\n| `uuid` | ids |\n"), [""; 0]);
    }

    #[test]
    fn a_library_without_a_line_is_found() {
        let want = "Cargo.toml: uuid has no line in docs/dependencies.md: what it does, and why it";

        assert_eq!(found("| `tokio` | runs; `uuid` does not |\n"), [want]);
    }

    #[test]
    fn a_line_without_a_library_is_found() {
        let list = "| `tokio` | a |\n| `uuid` | b |\n| `chrono` | c |\n";
        let want = "docs/dependencies.md: chrono is not among the workspace's dependencies";

        assert_eq!(found(list), [want]);
    }
}
