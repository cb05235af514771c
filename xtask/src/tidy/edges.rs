//! The table of allowed dependencies between the project's crates.
//!
//! A new edge is a decision: change the table and give the reason in the same commit.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;

/// Prefix of every crate's name, except for the binary and xtask.
const PREFIX: &str = "nightdesk-";

/// Each crate, and the project's crates on which it may depend. Names without the prefix.
///
/// A stop knows only the previous stop, for the type that it receives, so the graph is the data path.
pub(super) const EDGES: &[(&str, &[&str])] = &[
    // shared types
    ("types", &[]),
    ("protocol", &["types"]),
    // the way in
    ("intake", &["types", "port"]),
    ("gate", &["types", "port", "intake"]),
    // an entry is stored in its wire format
    ("inbox", &["types", "protocol", "gate"]),
    // a line listens for the bell
    ("line", &["types", "protocol", "bus", "inbox"]),
    // the way out; the bot's owner makes the calls, is notified by the bell, and may use a platform's capability
    ("egress", &["types", "port", "gate", "bus", "lease", "vault"]),
    // the crates around the stops; the register issues gateways and bots
    ("register", &["types", "protocol", "port", "vault"]),
    ("vault", &["types"]),
    ("bus", &["types"]),
    ("lease", &["types"]),
    // URLs of tenants are called through one guarded client
    ("outside", &["types"]),
    ("wake", &["types", "outside"]),
    ("schedule", &["types", "inbox", "outside"]),
    // letters in their wire format; the gate admits them, the inbox gathers writers, the bell announces letters and
    // replies, and some letters go to URLs of tenants
    ("letters", &["types", "protocol", "bus", "outside", "gate", "inbox"]),
    ("media", &["types"]),
    ("shelf", &["types"]),
    // users log in with secrets as gateways have them, and with ID tokens that the register verifies
    ("users", &["types", "vault", "register"]),
    // the rules of alerts and the contract of their store
    ("alerts", &["types"]),
    // the only crate that knows two stops at once; it posts entries and alerts to URLs of tenants
    (
        "desk",
        &[
            "types", "protocol", "port", "bus", "intake", "gate", "inbox", "line", "egress",
            "register", "vault", "lease", "outside", "wake", "schedule", "letters", "media",
            "shelf", "alerts",
        ],
    ),
    // what every page needs
    ("pages", &[]),
    // the functions of operators and tenants, behind the API and the dashboard; it checks URLs of tenants, and connects
    // bots
    (
        "office",
        &[
            "types", "port", "desk", "gate", "inbox", "letters", "outside", "register", "schedule",
            "shelf", "users", "vault", "wake", "alerts",
        ],
    ),
    // pages over the same functions, whose arguments are of the register, the letters and the shelf; they find the clock and
    // the count of failed logins in the context of lines
    ("dashboard", &["types", "line", "letters", "office", "pages", "register", "shelf", "users"]),
    // the implementation of the ports; it reads entries in the format in which they were written, and the records of
    // pages for the office
    (
        "store-pg",
        &[
            "types", "protocol", "port", "gate", "inbox", "line", "egress", "register", "vault",
            "lease", "wake", "schedule", "letters", "media", "shelf", "users", "webchat", "office",
            "alerts",
        ],
    ),
    ("bus-redis", &["types", "bus"]),
    // the protocol of tools, not the tools
    ("mcp", &["types"]),
    // the public side; the API opens lines, receives webhooks, serves the webchat pages, and calls the register
    (
        "api",
        &[
            "types", "protocol", "port", "bus", "vault", "line", "register", "schedule", "letters",
            "media", "shelf", "mcp", "desk", "webchat", "office", "pages", "users",
        ],
    ),
    // the binary wires everything, runs its own agent on a trial desk, and can be built with the scripted platform; its
    // tests sign upgrade tokens
    (
        "nightdesk",
        &[
            "types",
            "protocol",
            "port",
            "bus",
            "gate",
            "inbox",
            "line",
            "egress",
            "register",
            "vault",
            "lease",
            "outside",
            "wake",
            "schedule",
            "letters",
            "media",
            "shelf",
            "users",
            "alerts",
            "desk",
            "office",
            "dashboard",
            "store-pg",
            "bus-redis",
            "api",
            "sdk",
            "servers",
            "kit",
            "testkit",
        ],
    ),
    // the library for agents, which knows only the wire protocol
    ("sdk", &["protocol", "types"]),
    // platforms; a bot has its key. The other crates of that folder are like `PLATFORM`
    ("port", &["types", "vault"]),
    // adapters share it; it makes calls, and knows no platform
    ("kit", &["types", "port"]),
    // an open page is notified by the bell; its tests create keys
    ("webchat", &["types", "port", "bus", "vault", "pages"]),
    // the secret of its webhook is derived from its key
    ("telegram", &["types", "port", "kit", "vault"]),
    // Discord's capability to answer an interaction is a key
    ("discord", &["types", "port", "kit", "vault"]),
    // temporary servers, for `dev` and for tests
    ("servers", &[]),
    // testing; builders make events through the intake and the gate
    ("testkit", &["types", "port", "intake", "gate", "vault"]),
    // every port's store, with the clock of the test kit
    (
        "memory",
        &[
            "types", "protocol", "gate", "inbox", "line", "egress", "register", "vault", "lease",
            "wake", "schedule", "letters", "media", "shelf", "users", "webchat", "office",
            "alerts", "testkit",
        ],
    ),
    // every port, and the connectors that come with the desk, one of which calls URLs; the suites run on memory
    (
        "conformance",
        &[
            "types", "protocol", "port", "gate", "inbox", "line", "egress", "register", "vault",
            "lease", "outside", "wake", "schedule", "letters", "media", "shelf", "users",
            "webchat", "office", "alerts", "testkit", "memory",
        ],
    ),
    // a gateway's end of a line, with a token that its secret signs
    ("gateway", &["types", "protocol", "vault"]),
    // assembles the desk as the binary does, on memory
    (
        "testdesk",
        &[
            "types",
            "protocol",
            "port",
            "bus",
            "gate",
            "inbox",
            "line",
            "egress",
            "register",
            "vault",
            "lease",
            "outside",
            "wake",
            "schedule",
            "letters",
            "users",
            "desk",
            "office",
            "dashboard",
            "alerts",
            "api",
            "testkit",
            "memory",
            "gateway",
        ],
    ),
    // fakes know no adapter; their examples run one
    ("fake-telegram", &[]),
    ("fake-discord", &["types"]),
    // fuzzers pass bytes to the code that receives them first
    (
        "fuzz",
        &[
            "types", "protocol", "port", "intake", "gate", "inbox", "line", "register", "vault",
            "bus", "lease", "outside", "schedule", "letters", "api", "telegram", "discord",
            "testkit", "memory", "judge",
        ],
    ),
    // compiles files of other crates a second time, instead of knowing the crates
    ("interleavings", &["types"]),
    // the judge knows the records, and none of the observers
    ("judge", &[]),
    // proofs enter all identities through the register, and know the desk only from outside; the SDK is one of their
    // gateways. One of them measures the gate's decisions per second
    (
        "prove",
        &[
            "types",
            "protocol",
            "gate",
            "register",
            "vault",
            "lease",
            "schedule",
            "shelf",
            "store-pg",
            "servers",
            "testkit",
            "conformance",
            "fake-telegram",
            "fake-discord",
            "gateway",
            "judge",
            "sdk",
        ],
    ),
    // a simulation assembles nodes as the binary does, over its own ports, reads a source that no platform of the
    // binary has yet, and is judged like real processes
    (
        "sim",
        &[
            "types", "protocol", "port", "bus", "intake", "gate", "inbox", "line", "egress",
            "register", "vault", "lease", "wake", "schedule", "letters", "media", "shelf", "desk",
            "office", "outside", "api", "webchat", "testkit", "memory", "gateway", "judge",
        ],
    ),
    ("xtask", &["servers"]),
];

/// Further crates that a crate's tests may use: both ends of a line talk to each other in one test, the bell is tested
/// with a real Redis, due jobs are claimed by a live node, the configuration is mutated as fuzzers do, an example beside
/// each fake runs its platform's adapter, and the suites check every port on the simulated store.
const TESTS_EDGES: &[(&str, &[&str])] = &[
    ("sdk", &["inbox", "line"]),
    ("bus-redis", &["servers"]),
    ("schedule", &["lease"]),
    ("nightdesk", &["fuzz"]),
    ("sim", &["users", "alerts"]),
    ("fake-telegram", &["types", "port", "vault", "telegram"]),
    ("fake-discord", &["port", "vault", "discord"]),
];

/// Folders whose crates the tests of any crate may use.
const TESTING: [&str; 2] = ["testing", "fakes"];

/// Crates that a platform may use. Only the binary and its tests know platforms.
const PLATFORM: &[&str] = &["types", "port", "kit"];

/// One of the project's crates, as cargo describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    name: String,
    /// The parent folder: `crates`, `platforms`, `testing`, `fakes`.
    group: String,
    /// The project's crates that it depends on.
    needs: Vec<String>,
    /// The project's crates that only its tests depend on.
    tests_need: Vec<String>,
}

/// Reads the project's crates from `cargo metadata --no-deps`.
pub(super) fn read(metadata: &Value) -> Result<Vec<Package>> {
    let packages = metadata["packages"].as_array().context("cargo's metadata has no packages")?;
    packages.iter().map(read_package).collect()
}

fn read_package(package: &Value) -> Result<Package> {
    let name = package["name"].as_str().context("a package has no name")?;
    let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
    let group = manifest.rsplit('/').nth(2).unwrap_or_default();
    let (mut needs, mut tests_need) = (Vec::new(), Vec::new());
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        // Only a dependency with a path belongs to the project.
        let Some(name) = dependency["name"].as_str().filter(|_| dependency["path"].is_string())
        else {
            continue;
        };
        let list = if dependency["kind"] == "dev" { &mut tests_need } else { &mut needs };
        list.push(short(name).to_owned());
    }
    Ok(Package { name: short(name).to_owned(), group: group.to_owned(), needs, tests_need })
}

fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// Finds crates and edges that are not in the table.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_package(package, packages)).collect()
}

fn check_package(package: &Package, all: &[Package]) -> Vec<Finding> {
    let Some(allowed) = allowed(package) else {
        let what = format!("the table EDGES has no crate {}", package.name);
        return vec![Finding::in_file(&package.name, what)];
    };
    let may = |need: &str| allowed.contains(&need) || may_wire(package, need, all);
    let refused = |need: &&String| !may(need);
    let is_for_tests = |need: &str| TESTING.iter().any(|group| is_in(group, need, all));
    let tests_may = |need: &str| is_for_tests(need) || is_tests_edge(package, need);
    let tests_refused = |need: &&String| !may(need) && !tests_may(need);
    package
        .needs
        .iter()
        .filter(refused)
        .chain(package.tests_need.iter().filter(tests_refused))
        .map(|need| Finding::in_file(&package.name, format!("may not know {need} (table EDGES)")))
        .collect()
}

fn allowed(package: &Package) -> Option<&'static [&'static str]> {
    let listed = EDGES.iter().find(|(name, _)| *name == package.name);
    let platform = (package.group == "platforms").then_some(PLATFORM);
    listed.map(|(_, allowed)| *allowed).or(platform)
}

/// Returns true for the binary and for the desk of tests, which wire every platform.
fn may_wire(package: &Package, need: &str, all: &[Package]) -> bool {
    matches!(package.name.as_str(), "nightdesk" | "testdesk") && is_in("platforms", need, all)
}

fn is_tests_edge(package: &Package, need: &str) -> bool {
    TESTS_EDGES.iter().any(|(name, needs)| *name == package.name && needs.contains(&need))
}

fn is_in(group: &str, name: &str, all: &[Package]) -> bool {
    all.iter().any(|package| package.name == name && package.group == group)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, group: &str, needs: &[&str], tests_need: &[&str]) -> Package {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Package {
            name: name.to_owned(),
            group: group.to_owned(),
            needs: owned(needs),
            tests_need: owned(tests_need),
        }
    }

    fn found(packages: &[Package]) -> Vec<String> {
        check(packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_stop_may_not_know_a_later_one() {
        let packages = [
            package("gate", "crates", &["types", "intake"], &[]),
            package("intake", "crates", &["types", "gate"], &[]),
        ];

        assert_eq!(found(&packages), ["intake: may not know gate (table EDGES)"]);
    }

    #[test]
    fn tests_may_know_what_is_for_testing() {
        let testkit = package("testkit", "testing", &[], &[]);
        let fake = package("fake-discord", "fakes", &[], &[]);
        let fine = package("inbox", "crates", &[], &["testkit", "fake-discord"]);
        let shipped = package("inbox", "crates", &["testkit"], &[]);
        let sideways = package("inbox", "crates", &[], &["line"]);

        assert_eq!(found(&[testkit.clone(), fake, fine]), [""; 0]);
        assert_eq!(found(&[testkit, shipped]), ["inbox: may not know testkit (table EDGES)"]);
        assert_eq!(found(&[sideways]), ["inbox: may not know line (table EDGES)"]);
    }

    #[test]
    fn only_tests_of_the_sdk_know_the_other_end_of_the_line() {
        let fine = package("sdk", "crates", &["protocol", "types"], &["line"]);
        let shipped = package("sdk", "crates", &["line"], &[]);

        assert_eq!(found(&[fine]), [""; 0]);
        assert_eq!(found(&[shipped]), ["sdk: may not know line (table EDGES)"]);
    }

    #[test]
    fn only_the_binary_knows_platforms() {
        let telegram = package("telegram", "platforms", &["types", "port"], &[]);
        let binary = package("nightdesk", "crates", &["telegram"], &[]);
        let desk = package("desk", "crates", &["telegram"], &[]);
        let nosy = package("matrix", "platforms", &["telegram"], &[]);

        assert_eq!(found(&[telegram.clone(), binary]), [""; 0]);
        assert_eq!(found(&[telegram.clone(), desk]), ["desk: may not know telegram (table EDGES)"]);
        assert_eq!(found(&[telegram, nosy]), ["matrix: may not know telegram (table EDGES)"]);
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_found() {
        let stranger = package("utils", "crates", &[], &[]);

        assert_eq!(found(&[stranger]), ["utils: the table EDGES has no crate utils"]);
    }

    #[test]
    fn reads_what_cargo_says() {
        let metadata = json!({ "packages": [{
            "name": "nightdesk-gate",
            "manifest_path": "/a/nightdesk/crates/gate/Cargo.toml",
            "dependencies": [
                { "name": "nightdesk-types", "kind": null, "path": "/a/nightdesk/crates/types" },
                { "name": "nightdesk-testkit", "kind": "dev", "path": "/a/nightdesk/testing/testkit" },
                { "name": "moka", "kind": null },
            ],
        }]});

        let want = package("gate", "crates", &["types"], &["testkit"]);
        assert_eq!(read(&metadata).expect("is readable"), [want]);
    }
}
