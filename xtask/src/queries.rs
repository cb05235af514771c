//! The offline data of the checked queries: `crates/store-pg/.sqlx`.
//!
//! With a database URL and `SQLX_OFFLINE_DIR`, the query macros ask the database during compilation and write its
//! responses, one file per query. `cargo sqlx prepare` uses the same mechanism.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::Mode;
use crate::migrated::Migrated;
use crate::repo::Repo;

const PACKAGE: &str = "nightdesk-store-pg";
const CRATE: &str = "crates/store-pg";

/// Contents of the files, by name.
type Queries = BTreeMap<String, String>;

/// Writes the data, or compares it with the existing data.
pub(crate) fn run(repo: &Repo, mode: Mode) -> Result<ExitCode> {
    let kept = repo.path(CRATE).join(".sqlx");
    let fresh = tempfile::tempdir().context("could not make a temporary folder")?;
    compile(repo, fresh.path())?;
    let (old, new) = (read(&kept)?, read(fresh.path())?);
    match mode {
        Mode::Write => write(&kept, &old, &new)?,
        Mode::Check => compare(&old, &new)?,
    }
    println!("sqlx: {} queries", new.len());
    Ok(ExitCode::SUCCESS)
}

/// Compiles the crate anew against a migrated database; the macros fill the folder.
fn compile(repo: &Repo, into: &Path) -> Result<()> {
    let database = Migrated::start(repo)?;
    for root in crate_roots(&repo.path(CRATE)) {
        touch(&root)?;
    }
    let status = Command::new("cargo")
        .args(["check", "--quiet", "--all-targets", "--package", PACKAGE])
        .current_dir(repo.path(""))
        .env("DATABASE_URL", database.url())
        .env("SQLX_OFFLINE", "false")
        .env("SQLX_OFFLINE_DIR", into)
        .status()
        .context("could not run cargo check")?;
    if !status.success() {
        bail!("{PACKAGE} does not compile against the migrated database");
    }
    Ok(())
}

/// Returns the root files of cargo's targets: the library and each integration test.
fn crate_roots(folder: &Path) -> Vec<PathBuf> {
    let tests = fs::read_dir(folder.join("tests")).into_iter().flatten().flatten();
    let tests = tests.map(|entry| entry.path());
    let tests = tests.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    tests.chain([folder.join("src/lib.rs")]).collect()
}

/// Marks a file as changed. Cargo does not know that the macros read the environment, and would compile nothing.
#[expect(clippy::disallowed_methods, reason = "cargo compares files with the wall clock")]
fn touch(path: &Path) -> Result<()> {
    let file = File::options().append(true).open(path);
    file.and_then(|file| file.set_modified(SystemTime::now()))
        .with_context(|| format!("could not touch {}", path.display()))
}

fn read(folder: &Path) -> Result<Queries> {
    if !folder.exists() {
        return Ok(Queries::new());
    }
    let entries = fs::read_dir(folder).context("could not list the queries")?;
    entries
        .map(|entry| {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, fs::read_to_string(&path)?))
        })
        .collect::<std::io::Result<_>>()
        .context("could not read the queries")
}

fn write(folder: &Path, old: &Queries, new: &Queries) -> Result<()> {
    if !new.is_empty() {
        fs::create_dir_all(folder).context("could not make the folder for queries")?;
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        fs::remove_file(folder.join(name)).with_context(|| format!("could not remove {name}"))?;
    }
    for (name, query) in new.iter().filter(|(name, query)| old.get(*name) != Some(query)) {
        fs::write(folder.join(name), query).with_context(|| format!("could not write {name}"))?;
    }
    Ok(())
}

fn compare(old: &Queries, new: &Queries) -> Result<()> {
    let missing = new.iter().filter(|(name, query)| old.get(*name) != Some(query)).count();
    let stale = old.keys().filter(|name| !new.contains_key(*name)).count();
    if missing + stale > 0 {
        bail!("{missing} queries are missing or changed, {stale} are stale; run `just gen`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(of: &[(&str, &str)]) -> Queries {
        of.iter().map(|(name, query)| ((*name).to_owned(), (*query).to_owned())).collect()
    }

    #[test]
    fn writes_what_changed_and_removes_what_went() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join("kept");
        let (old, new) = (queries(&[("a", "1"), ("b", "1")]), queries(&[("a", "2"), ("c", "1")]));
        write(&kept, &Queries::new(), &old).expect("is written");

        write(&kept, &old, &new).expect("is written");
        assert_eq!(read(&kept).expect("is read"), new);
    }

    #[test]
    fn no_queries_need_no_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join("kept");

        write(&kept, &Queries::new(), &Queries::new()).expect("is written");
        assert!(!kept.exists());
        assert_eq!(read(&kept).expect("is read"), Queries::new());
    }

    #[test]
    fn tells_missing_changed_and_stale() {
        let old = queries(&[("a", "1"), ("b", "1"), ("d", "1")]);
        let new = queries(&[("a", "2"), ("b", "1"), ("c", "1")]);

        let error = compare(&old, &new).expect_err("they differ");
        let want = "2 queries are missing or changed, 1 are stale; run `just gen`";
        assert_eq!(error.to_string(), want);
        assert!(compare(&old, &old).is_ok());
    }
}
