//! Finds the servers' binaries on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The oldest supported PostgreSQL.
const POSTGRES_MAJOR_MIN: u32 = 15;

/// Binaries that this crate or its users call from the folder.
const POSTGRES_BINARIES: [&str; 5] = ["initdb", "postgres", "pg_isready", "psql", "pg_dump"];

/// Folders in which packages put one folder per version, and the prefix of the version in its name.
const POSTGRES_PLACES: [(&str, &str); 3] =
    [("/usr/lib/postgresql", ""), ("/usr", "pgsql-"), ("/opt/homebrew/opt", "postgresql@")];

/// Returns the folder with `postgres` and `initdb`: the one on the path, or the newest installed one.
pub(crate) fn postgres_bin_dir() -> Result<PathBuf> {
    let on_path = path_dirs().iter().filter_map(|dir| postgres_in(dir)).collect();
    let packaged = packaged_dirs().iter().filter_map(|dir| postgres_in(dir)).collect();
    pick(on_path).or_else(|| pick(packaged)).with_context(|| {
        format!(
            "no PostgreSQL {POSTGRES_MAJOR_MIN} or newer found; on Debian: \
             apt-get install postgresql-{POSTGRES_MAJOR_MIN}"
        )
    })
}

/// Returns the Redis server, or Valkey, which has the same protocol.
pub(crate) fn redis_server() -> Result<PathBuf> {
    let names = ["redis-server", "valkey-server"];
    let mut candidates = path_dirs().into_iter().flat_map(|dir| names.map(|name| dir.join(name)));
    candidates
        .find(|candidate| candidate.is_file())
        .context("no redis-server found on the path; on Debian: apt-get install redis-server")
}

/// Returns the newest PostgreSQL that is new enough.
fn pick(found: Vec<(u32, PathBuf)>) -> Option<PathBuf> {
    let fit = found.into_iter().filter(|(major, _)| *major >= POSTGRES_MAJOR_MIN);
    fit.max_by_key(|(major, _)| *major).map(|(_, dir)| dir)
}

/// Returns the folder's PostgreSQL and its version, if all required binaries exist.
fn postgres_in(dir: &Path) -> Option<(u32, PathBuf)> {
    let server = dir.join("postgres");
    let output = Command::new(&server).arg("--version").output().ok()?;
    let major = major_of(&String::from_utf8(output.stdout).ok()?)?;
    // The path may contain links to only some of the binaries; the rest is in the link's target.
    let dir = server.canonicalize().ok()?.parent()?.to_owned();
    let is_complete = POSTGRES_BINARIES.iter().all(|binary| dir.join(binary).is_file());
    is_complete.then_some((major, dir))
}

/// Parses `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` as 15.
fn major_of(version: &str) -> Option<u32> {
    let number = version.split(") ").nth(1)?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn path_dirs() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

fn packaged_dirs() -> Vec<PathBuf> {
    POSTGRES_PLACES.iter().flat_map(|(root, prefix)| versions_in(Path::new(root), prefix)).collect()
}

fn versions_in(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let versions = names.filter(|name| name.to_string_lossy().starts_with(prefix));
    versions.map(|name| root.join(name).join("bin")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_major_version() {
        let cases = [
            ("debian", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", Some(15)),
            ("plain", "postgres (PostgreSQL) 17.6\n", Some(17)),
            ("a beta", "postgres (PostgreSQL) 19beta1\n", Some(19)),
            ("something else", "pg 15\n", None),
        ];
        for (name, text, want) in cases {
            assert_eq!(major_of(text), want, "{name}");
        }
    }

    #[test]
    fn picks_the_newest_that_is_new_enough() {
        let found = |majors: &[u32]| {
            majors.iter().map(|major| (*major, PathBuf::from(major.to_string()))).collect()
        };
        let cases = [
            ("none", found(&[]), None),
            ("too old", found(&[13, 14]), None),
            ("at the limit", found(&[14, 15]), Some(PathBuf::from("15"))),
            ("newest", found(&[15, 17, 16]), Some(PathBuf::from("17"))),
        ];
        for (name, found, want) in cases {
            assert_eq!(pick(found), want, "{name}");
        }
    }
}
