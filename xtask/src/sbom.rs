//! Compares the bill of materials of a release with the crates that cargo builds into its binary.
//!
//! `just release` derives the bill from the binary's own audit data, so a bill that can be read shows that the data can.
//! cargo auditable also names optional crates of the lock file that another feature would build in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::repo::Repo;
use crate::tidy::locked_packages;

/// A crate as `name version`.
type CrateVersion = String;

/// Checks that a `CycloneDX` file names every crate of a package's binary, and no crate that is not in the lock file.
pub(crate) fn run(repo: &Repo, file: &Path, package: &str) -> Result<ExitCode> {
    let bill =
        fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    let bill = serde_json::from_str(&bill).context("the bill of materials is not JSON")?;
    let tree = repo.output(Command::new("cargo").args([
        "tree",
        "--locked",
        "--offline",
        "--edges=normal,build",
        "--prefix=none",
        "--format={p}",
        "--package",
        package,
    ]))?;
    let lock = repo.read("Cargo.lock")?;
    let locked =
        locked_packages(&lock).into_iter().map(|(name, version)| format!("{name} {version}"));
    let crates = Crates {
        named: named_crates(&bill)?,
        built: built_crates(&tree),
        locked: locked.collect(),
    };
    let faults = crates.faults();
    for fault in &faults {
        println!("{}: {fault}", file.display());
    }
    let optional = crates.named.difference(&crates.built).count();
    println!("sbom: crates={} optional={optional} faults={}", crates.built.len(), faults.len());
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The crates that the bill names, that cargo builds in, and that the lock file has.
struct Crates {
    named: BTreeSet<CrateVersion>,
    built: BTreeSet<CrateVersion>,
    locked: BTreeSet<CrateVersion>,
}

impl Crates {
    fn faults(&self) -> Vec<String> {
        let missing = self.built.difference(&self.named);
        let unknown = self.named.difference(&self.locked);
        let missing = missing.map(|it| format!("{it} is built in and not named"));
        missing.chain(unknown.map(|it| format!("{it} is named and not in Cargo.lock"))).collect()
    }
}

/// Returns the crates that a bill names: its components, and the binary itself.
fn named_crates(bill: &Value) -> Result<BTreeSet<CrateVersion>> {
    let components = bill["components"].as_array().context("the bill has no components")?;
    let all = components.iter().chain([&bill["metadata"]["component"]]);
    all.map(|component| {
        let name = component["name"].as_str().context("a component has no name")?;
        let version = component["version"].as_str().context("a component has no version")?;
        Ok(format!("{name} {version}"))
    })
    .collect()
}

/// Reads the crates from the lines of `cargo tree`: a name, a version with a `v`, and remarks.
fn built_crates(tree: &str) -> BTreeSet<CrateVersion> {
    let lines = tree.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    lines
        .filter_map(|words| match *words {
            [name, version, ..] => Some(format!("{name} {}", version.strip_prefix('v')?)),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TREE: &str =
        "desk v0.1.0 (/a/b)\nserde v1.0.2\nquote v1.0.3 (proc-macro)\nserde v1.0.2 (*)\n";

    fn bill(crates: &[(&str, &str)]) -> Value {
        let components: Vec<Value> = crates
            .iter()
            .map(|(name, version)| json!({ "type": "library", "name": name, "version": version }))
            .collect();
        let desk = json!({ "type": "application", "name": "desk", "version": "0.1.0" });
        json!({ "components": components, "metadata": { "component": desk } })
    }

    #[test]
    fn a_bill_names_the_crates_that_are_built_in_and_none_that_is_not_locked() {
        type NamedCrates = [(&'static str, &'static str)];
        let cases: [(&str, &NamedCrates, &[&str]); 5] = [
            ("the same", &[("serde", "1.0.2"), ("quote", "1.0.3")], &[]),
            ("one less", &[("serde", "1.0.2")], &["quote 1.0.3 is built in and not named"]),
            ("an optional one", &[("serde", "1.0.2"), ("quote", "1.0.3"), ("ring", "1.0.0")], &[]),
            (
                "one more",
                &[("serde", "1.0.2"), ("quote", "1.0.3"), ("syn", "2.0.0")],
                &["syn 2.0.0 is named and not in Cargo.lock"],
            ),
            (
                "another version",
                &[("serde", "1.0.1"), ("quote", "1.0.3")],
                &[
                    "serde 1.0.2 is built in and not named",
                    "serde 1.0.1 is named and not in Cargo.lock",
                ],
            ),
        ];
        for (name, crates, want) in cases {
            let named = named_crates(&bill(crates)).expect("it is a bill");
            let built = built_crates(TREE);
            let mut locked = built.clone();
            locked.insert("ring 1.0.0".to_owned());
            assert_eq!(Crates { named, built, locked }.faults(), want, "{name}");
        }
    }

    #[test]
    fn a_bill_without_components_is_an_error() {
        assert!(named_crates(&json!({})).is_err());
        assert!(named_crates(&json!({ "components": [] })).is_err(), "the binary is not named");
    }
}
