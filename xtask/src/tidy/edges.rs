//! Who may know whom: the table of allowed edges between our crates.
//!
//! A new edge is a decision: change the table and say why in the same commit.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;

/// What every crate's name begins with, but for the binary's and xtask's.
const PREFIX: &str = "nightdesk-";

/// Each crate, and the crates of ours it may depend on. Names without the prefix.
///
/// A stop knows the one stop before it, for the type it receives: so the graph is the data path.
pub(super) const EDGES: &[(&str, &[&str])] = &[
    // words
    ("types", &[]),
    ("protocol", &["types"]),
    // the way in
    ("intake", &["types", "port"]),
    ("gate", &["types", "port", "intake"]),
    // an entry is kept as it goes on the wire
    ("inbox", &["types", "protocol", "gate"]),
    // a line listens for the bell
    ("line", &["types", "protocol", "bus", "inbox"]),
    // the way out; what is said through a bot is said by its owner, who is rung for, and perhaps with
    // what a platform lent us
    ("egress", &["types", "port", "gate", "bus", "lease", "vault"]),
    // the rooms behind the desk; the register gives out gateways and bots
    ("register", &["types", "protocol", "port", "vault"]),
    ("vault", &["types"]),
    ("bus", &["types"]),
    ("lease", &["types"]),
    // whoever a tenant names is called through one guarded client
    ("outside", &["types"]),
    ("wake", &["types", "outside"]),
    ("schedule", &["types", "outside"]),
    // letters, as they are on the wire; the gate admits them, the inbox gathers writers, and some go to URLs that
    // tenants name
    ("courier", &["types", "protocol", "outside", "gate", "inbox"]),
    ("media", &["types"]),
    ("shelf", &["types"]),
    // the only crate that knows two stops at once
    (
        "desk",
        &[
            "types", "protocol", "port", "bus", "intake", "gate", "inbox", "line", "egress",
            "register", "vault", "lease", "wake", "schedule", "courier", "media", "shelf",
        ],
    ),
    // what stands behind the ports; it reads entries back in the form they were written
    (
        "store-pg",
        &[
            "types", "protocol", "port", "gate", "inbox", "line", "egress", "register", "vault",
            "lease", "wake", "schedule", "courier", "media", "shelf", "webchat",
        ],
    ),
    ("bus-redis", &["types", "bus"]),
    // how tools are called, and not what they do
    ("mcp", &["types"]),
    // the street side; the API opens lines, hands webhooks in, serves our own pages, and gives out
    // what the register knows who to give to
    (
        "api",
        &[
            "types", "protocol", "port", "bus", "vault", "line", "register", "schedule", "courier",
            "media", "shelf", "mcp", "desk", "webchat",
        ],
    ),
    // the binary wires everything, runs an agent of its own on a desk to try, and can be built with
    // the scripted platform
    (
        "nightdesk",
        &[
            "types",
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
            "courier",
            "media",
            "shelf",
            "desk",
            "store-pg",
            "bus-redis",
            "api",
            "sdk",
            "servers",
            "testkit",
        ],
    ),
    // what agents build against: it knows the wire and nothing behind it
    ("sdk", &["protocol", "types"]),
    // platforms; a bot is lent its key. The other crates of that folder are like `PLATFORM`
    ("port", &["types", "vault"]),
    // whoever looks at a page is rung for; its tests make keys
    ("webchat", &["types", "port", "bus", "vault"]),
    // the secret of its webhook is made of its key
    ("telegram", &["types", "port", "vault"]),
    // what Discord lends for an answer is a key
    ("discord", &["types", "port", "vault"]),
    // throw-away servers, for `dev` and for tests
    ("servers", &[]),
    // testing
    (
        "testkit",
        &[
            "types", "protocol", "port", "bus", "intake", "gate", "inbox", "line", "egress",
            "register", "vault", "lease", "wake", "schedule", "courier", "media", "shelf", "desk",
            "api",
        ],
    ),
    // fuzzers hand bytes to whoever meets them first
    ("fuzz", &["types", "protocol", "port", "intake", "vault", "telegram", "discord"]),
    // a judge knows what was seen, and nobody who saw it
    ("judge", &[]),
    // proofs enter everybody through the register, and know the desk only from outside; the SDK is
    // one of their gateways. One of them counts what the gate alone decides in a second
    (
        "prove",
        &[
            "types", "protocol", "gate", "register", "vault", "lease", "schedule", "courier",
            "shelf", "store-pg", "servers", "testkit", "judge", "sdk",
        ],
    ),
    // a simulation puts nodes together as the binary does, over ports of its own, reads a source that
    // no platform of the binary has yet, and is judged as real processes are
    (
        "sim",
        &[
            "types", "protocol", "port", "bus", "intake", "gate", "inbox", "line", "egress",
            "register", "vault", "lease", "wake", "schedule", "courier", "media", "shelf", "desk",
            "api", "webchat", "testkit", "judge",
        ],
    ),
    ("xtask", &["servers"]),
];

/// What a crate's tests may know besides: the two ends of a line talk to each other in one, and
/// the bell is lost with a real Redis; what is due is claimed by a node that lives.
const TESTS_EDGES: &[(&str, &[&str])] =
    &[("sdk", &["inbox", "line"]), ("bus-redis", &["servers"]), ("schedule", &["lease"])];

/// What a platform may know. Of platforms only the binary knows, and what tests it.
const PLATFORM: &[&str] = &["types", "port"];

/// One of our crates, as cargo describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    name: String,
    /// The folder of folders it is in: `crates`, `platforms`, `testing`.
    group: String,
    /// Crates of ours that it is built with.
    needs: Vec<String>,
    /// Crates of ours that only its tests are built with.
    tests_need: Vec<String>,
}

/// Reads our crates out of `cargo metadata --no-deps`.
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
        // Only what has a path is ours.
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

/// Finds crates and edges that the table does not have.
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
    let tests_may = |need: &str| is_in("testing", need, all) || is_tests_edge(package, need);
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

/// The binary wires every platform in, and the test kit stands in for them.
fn may_wire(package: &Package, need: &str, all: &[Package]) -> bool {
    matches!(package.name.as_str(), "nightdesk" | "testkit") && is_in("platforms", need, all)
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
        let fine = package("inbox", "crates", &[], &["testkit"]);
        let shipped = package("inbox", "crates", &["testkit"], &[]);
        let sideways = package("inbox", "crates", &[], &["line"]);

        assert_eq!(found(&[testkit.clone(), fine]), [""; 0]);
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
