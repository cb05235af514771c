//! Minimum versions of libraries with known vulnerabilities.
//!
//! The advisory database is incomplete, and its copy here has a fixed date; other known problems are recorded as
//! minimum versions. A minimum holds for every copy in the lock file.

use super::Finding;

const LOCK: &str = "Cargo.lock";

/// A version as three numbers. The part after a `-` or `+` is not compared.
type Version = (u64, u64, u64);

/// Crates by name, or by prefix if it ends in `*`; the minimum version; and the reason.
const FLOORS: [(&str, Version, &str); 11] = [
    ("jsonwebtoken", (10, 3, 0), "CVE-2026-25537, claims of a wrong type are let through"),
    ("h2", (0, 4, 16), "RUSTSEC-2026-0258, empty frames without end"),
    ("tungstenite", (0, 20, 1), "RUSTSEC-2023-0065, headers without end"),
    ("quick-xml", (0, 41, 0), "RUSTSEC-2026-0194 and 0195, input that costs too much"),
    ("hickory-*", (0, 26, 1), "RUSTSEC-2026-0119, names that cost too much"),
    ("rustls-webpki", (0, 103, 13), "RUSTSEC-2026-0104, a revocation list that panics"),
    ("tokio-postgres", (0, 7, 18), "RUSTSEC-2026-0178, a short row that panics"),
    ("postgres-protocol", (0, 6, 12), "RUSTSEC-2026-0179 and 0180, a login that costs too much"),
    ("bytes", (1, 11, 1), "RUSTSEC-2026-0007, an overflow when a buffer grows"),
    ("time", (0, 3, 47), "RUSTSEC-2026-0009, dates that exhaust the stack"),
    ("sqlx*", (0, 8, 1), "RUSTSEC-2024-0363, long values taken for protocol"),
];

/// Finds locked versions below the minimum.
pub(super) fn check(lock: &str) -> Vec<Finding> {
    locked(lock).into_iter().filter_map(|(name, version)| check_one(name, version)).collect()
}

fn check_one(name: &str, version: &str) -> Option<Finding> {
    let (_, floor, why) = FLOORS.iter().find(|(known, ..)| is_named(name, known))?;
    let (major, minor, patch) = *floor;
    (parse(version)? < *floor).then(|| {
        let floor = format!("{major}.{minor}.{patch}");
        Finding::in_file(LOCK, format!("{name} {version} is below {floor}: {why}"))
    })
}

fn is_named(name: &str, known: &str) -> bool {
    known.strip_suffix('*').map_or(name == known, |begin| name.starts_with(begin))
}

/// Returns name and version of every package in the lock file.
pub(crate) fn locked(lock: &str) -> Vec<(&str, &str)> {
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(|package| Some((value(package, "name")?, value(package, "version")?)))
        .collect()
}

fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    Some(line.trim_matches('"'))
}

fn parse(version: &str) -> Option<Version> {
    let mut numbers = version.split(['-', '+']).next()?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, version: &str) -> usize {
        check(&format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n"))
            .len()
    }

    #[test]
    fn a_version_may_be_the_floor_and_no_lower() {
        let cases = [
            ("at the floor", "bytes", "1.11.1", 0),
            ("below it", "bytes", "1.11.0", 1),
            ("above it by number, not by letter", "h2", "0.4.100", 0),
            ("a major above", "jsonwebtoken", "11.1.0", 0),
            ("a family", "hickory-resolver", "0.26.0", 1),
            ("with build data", "time", "0.3.46+x", 1),
            ("one we have no floor for", "anyhow", "0.0.1", 0),
            ("a longer name", "bytes-utils", "0.1.0", 0),
        ];
        for (case, name, version, want) in cases {
            assert_eq!(found(name, version), want, "{case}");
        }
    }

    #[test]
    fn every_copy_is_looked_at() {
        let package = |version| format!("[[package]]\nname = \"h2\"\nversion = \"{version}\"\n\n");
        let lock = format!("{}{}", package("0.3.27"), package("0.4.16"));

        let found = check(&lock);
        let want =
            "Cargo.lock: h2 0.3.27 is below 0.4.16: RUSTSEC-2026-0258, empty frames without end";
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [want]);
    }
}
