//! Restricts certain libraries to certain files.

use super::mask::is_word;
use super::{Finding, RustFile};

/// A library, and the only paths whose files may use it. A path that ends in `/` is a folder.
const ONLY_IN: [(&str, &[&str]); 3] = [
    ("sqlx", &["crates/store-pg/"]),
    ("redis", &["crates/bus-redis/"]),
    (
        "axum",
        &[
            "crates/line/src/driver.rs",
            "crates/line/src/upgrade.rs",
            "crates/intake/src/webhook.rs",
            "crates/api/",
            "crates/pages/",
            "crates/dashboard/",
            "crates/sdk/src/cron/",
            "crates/sdk/examples/ticking.rs",
            "crates/nightdesk/tests/outside/ticking.rs",
            "fuzz/src/targets/http_request.rs",
        ],
    ),
];

/// Files with these names make decisions, and files with these prefixes are state machines: neither does I/O.
const PURE_NAMES: [&str; 4] = ["decide.rs", "policy.rs", "cron.rs", "state.rs"];
const PURE_PATHS: [&str; 3] =
    ["crates/line/src/session", "crates/sdk/src/session", "crates/schedule/src/decide/"];
const NOT_IN_PURE: [&str; 3] = ["tokio", "sqlx", "axum"];

/// Finds libraries in files that may not use them.
pub(super) fn check(file: &RustFile) -> Vec<Finding> {
    let lines = file.masked.code.lines().enumerate();
    lines.flat_map(|(line, code)| check_line(&file.path, line, code)).collect()
}

fn check_line(path: &str, line: usize, code: &str) -> Vec<Finding> {
    let misplaced = ONLY_IN
        .iter()
        .filter(|(library, places)| uses(code, library) && !is_in(path, places))
        .map(|(library, places)| format!("{library} is known only in {}", places.join(", ")));
    let impure = NOT_IN_PURE
        .iter()
        .filter(|library| is_pure(path) && uses(code, library))
        .map(|library| format!("this file decides and does no I/O; it may not know {library}"));
    misplaced.chain(impure).map(|what| Finding::in_line(path, line, what)).collect()
}

fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|&place| place == path || (place.ends_with('/') && path.starts_with(place)))
}

fn is_pure(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    PURE_NAMES.contains(&name) || PURE_PATHS.iter().any(|begin| path.starts_with(begin))
}

/// Returns true if the line names the library: in a `use`, or at the root of a path.
fn uses(code: &str, library: &str) -> bool {
    code.match_indices(library).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + library.len()..]);
        let is_root = !before.ends_with(is_word) && !is_inside_path(before);
        let is_path = after.starts_with("::");
        let is_use = before.trim_end().ends_with("use") && !after.starts_with(is_word);
        is_root && (is_path || is_use)
    })
}

/// Returns true if the next word is a later part of a path; `::sqlx` alone begins one.
fn is_inside_path(before: &str) -> bool {
    before.strip_suffix("::").is_some_and(|root| root.ends_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&RustFile::new(path, text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_library_is_known_only_in_its_places() {
        let cases = [
            ("sql at home", "crates/store-pg/src/inbox.rs", "use sqlx::PgPool;", 0),
            ("sql elsewhere", "crates/desk/src/inbound.rs", "use sqlx::PgPool;", 1),
            ("by its path", "crates/desk/src/inbound.rs", "let a = sqlx::query(b);", 1),
            ("from the root", "crates/desk/src/inbound.rs", "let a = ::sqlx::query(b);", 1),
            ("under another name", "crates/desk/src/inbound.rs", "use sqlx as db;", 1),
            ("a word like it", "crates/desk/src/inbound.rs", "use jiff_sqlx::Timestamp;", 0),
            ("a module of ours", "crates/desk/src/inbound.rs", "use crate::redis::Bell;", 0),
            ("a name", "crates/desk/src/inbound.rs", "let redis = bell;", 0),
            ("a comment", "crates/desk/src/inbound.rs", "// sqlx::query", 0),
            ("http in the driver", "crates/line/src/driver.rs", "use axum::body::Body;", 0),
            ("http in the session", "crates/line/src/lines.rs", "use axum::body::Body;", 1),
        ];
        for (name, path, text, want) in cases {
            assert_eq!(found(path, text).len(), want, "{name}");
        }
    }

    #[test]
    fn what_decides_does_no_io() {
        let cases = [
            ("a decision", "crates/gate/src/decide.rs", "use tokio::time;", 1),
            ("a state machine", "crates/line/src/session/state.rs", "use tokio::time;", 1),
            ("its tests", "crates/line/src/session/tests.rs", "#[tokio::test]", 1),
            ("its driver", "crates/line/src/driver.rs", "use tokio::time;", 0),
            ("pure", "crates/gate/src/decide.rs", "use nightdesk_types::AgentId;", 0),
        ];
        for (name, path, text, want) in cases {
            assert_eq!(found(path, text).len(), want, "{name}");
        }
    }

    #[test]
    fn the_finding_names_the_line() {
        let found = found("crates/desk/src/a.rs", "//! A.\n\nuse redis::Client;\n");

        assert_eq!(found, ["crates/desk/src/a.rs:3: redis is known only in crates/bus-redis/"]);
    }
}
