//! Restricts certain calls to certain files. Tests may make any.

use super::{Finding, RustFile};

/// A call, the only paths whose files may make it, and the reason.
const ONLY_IN: [(&str, &[&str], &str); 3] = [
    (
        "TenantScope::for_tenant(",
        &[
            // A worker reads the tenant from a row.
            "crates/store-pg/src/",
            // A token or a platform's signature is checked.
            "crates/register/src/register.rs",
            "crates/register/src/issuer.rs",
            "crates/register/src/issuers.rs",
            // The right of a user is decided.
            "crates/users/src/access.rs",
            // An operator names a tenant; the first of these files checks the signature of the operator's own scheduler
            // before.
            "crates/api/src/agent_cron/relay.rs",
            "crates/nightdesk/src/command/names.rs",
            "crates/nightdesk/src/command/dev.rs",
        ],
        "a scope is made only where its right was just proven",
    ),
    (
        "tokio::spawn(",
        &[
            // Database work has its own task, so that no caller can drop it.
            "crates/store-pg/src/operation.rs",
        ],
        "a task has an owner: spawn it on a tracker",
    ),
    (
        "AssertSqlSafe(",
        &[
            // The text that begins a transaction contains ids and no other values.
            "crates/store-pg/src/operation.rs",
        ],
        "a query is known when compiling: bind its values",
    ),
];

/// This file.
const RULES: &str = "xtask/src/tidy/calls.rs";

/// Beginning of the inline tests of a file.
const TESTS: &str = "#[cfg(test)]";

/// Finds calls in files that may not make them.
pub(super) fn check(file: &RustFile) -> Vec<Finding> {
    let ours = file.path.starts_with("crates/") || file.path.starts_with("platforms/");
    if !ours || is_test(&file.path) {
        return Vec::new();
    }
    let code = file.masked.code.lines().enumerate();
    code.take_while(|(_, code)| !code.contains(TESTS))
        .flat_map(|(line, code)| check_line(&file.path, line, code))
        .collect()
}

/// Finds rules whose call is made nowhere: after a rename, such a rule would find nothing.
pub(super) fn check_rules(files: &[RustFile]) -> Vec<Finding> {
    let unused = ONLY_IN.iter().filter(|(call, places, _)| {
        let mut allowed =
            files.iter().filter(|file| places.iter().any(|place| file.path.starts_with(place)));
        !allowed.any(|file| file.masked.code.contains(call))
    });
    unused
        .map(|(call, ..)| Finding::in_file(RULES, format!("no allowed file calls `{call}…)`")))
        .collect()
}

fn check_line(path: &str, line: usize, code: &str) -> Vec<Finding> {
    ONLY_IN
        .iter()
        .filter(|(call, places, _)| {
            code.contains(call) && !places.iter().any(|place| path.starts_with(place))
        })
        .map(|(_, _, why)| Finding::in_line(path, line, *why))
        .collect()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&RustFile::new(path, text)).len()
    }

    #[test]
    fn a_call_is_made_only_in_its_places() {
        let scope = "let scope = TenantScope::for_tenant(tenant);";
        let spawn = "tokio::spawn(work);";
        let query = "sqlx::query(AssertSqlSafe(text))";
        let cases = [
            ("a row is read", "crates/store-pg/src/gate.rs", scope, 0),
            ("a body is believed", "crates/api/src/hooks.rs", scope, 1),
            ("a test", "crates/api/tests/street.rs", scope, 0),
            ("a suite", "testing/conformance/src/lib.rs", scope, 0),
            ("work nobody may drop", "crates/store-pg/src/operation.rs", spawn, 0),
            ("a task nobody owns", "crates/line/src/upgrade.rs", spawn, 1),
            ("a computed query", "crates/store-pg/src/gate.rs", query, 1),
            ("a comment", "crates/line/src/upgrade.rs", "// not tokio::spawn(work)", 0),
        ];
        for (name, path, text, want) in cases {
            assert_eq!(found(path, text), want, "{name}");
        }
    }

    #[test]
    fn a_rule_whose_call_was_renamed_is_found() {
        let spawns = RustFile::new("crates/store-pg/src/operation.rs", "tokio::spawn(work);");

        let found: Vec<String> = check_rules(&[spawns]).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "xtask/src/tidy/calls.rs: no allowed file calls `TenantScope::for_tenant(…)`",
                "xtask/src/tidy/calls.rs: no allowed file calls `AssertSqlSafe(…)`",
            ]
        );
    }

    #[test]
    fn inline_tests_may_make_any_call() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { tokio::spawn(c()); } }\n";

        assert_eq!(found("crates/line/src/upgrade.rs", text), 0);
    }
}
