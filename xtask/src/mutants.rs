//! Applies the mutants of `testing/mutants` to a copy of the working copy.
//!
//! Each patch adds one bug behind an environment variable that selects it, so all of them apply to one copy and share
//! its builds. Mutants in SQL are executed by the proofs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::repo::Repo;

/// The folder of the mutants.
const FOLDER: &str = "testing/mutants";

/// The patch that turns off the sealing of messages.
const UNSEALED: &str = "testing/without-sealing.patch";

/// Applies all patches to a temporary copy.
pub(crate) fn check(repo: &Repo) -> Result<ExitCode> {
    let patches = patches(repo)?;
    for patch in &patches {
        check_guard(patch)?;
    }
    patched(repo, &patches)?;
    patched(repo, &[repo.path(UNSEALED)])?;
    println!("mutants: {} patches apply", patches.len());
    Ok(ExitCode::SUCCESS)
}

/// Makes a folder a copy of the working copy with all patches. A file that does not change keeps its time, so that cargo
/// does not build it again.
pub(crate) fn copy(repo: &Repo, folder: &Path) -> Result<ExitCode> {
    copy_patched(repo, &patches(repo)?, folder)
}

/// Makes a folder a copy of the working copy that does not seal messages.
pub(crate) fn copy_unsealed(repo: &Repo, folder: &Path) -> Result<ExitCode> {
    copy_patched(repo, &[repo.path(UNSEALED)], folder)
}

fn copy_patched(repo: &Repo, patches: &[PathBuf], folder: &Path) -> Result<ExitCode> {
    let copy = patched(repo, patches)?;
    let wanted = files_below(copy.path())?;
    if folder.exists() {
        for file in files_below(folder)?.difference(&wanted) {
            fs::remove_file(folder.join(file))?;
        }
    }
    for file in &wanted {
        copy_changed(&copy.path().join(file), &folder.join(file))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the paths of all patches, in the order of their numbers.
fn patches(repo: &Repo) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(repo.path(FOLDER)).context("could not read the mutants")?;
    let paths: Result<BTreeSet<PathBuf>, _> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    Ok(paths?.into_iter().filter(|path| has_extension(path, "patch")).collect())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// Checks that a patch can be selected by the number in its name, and by no other.
fn check_guard(patch: &Path) -> Result<()> {
    let name = patch.file_stem().unwrap_or_default().to_string_lossy();
    let number: u32 =
        name.split('-').next().unwrap_or_default().parse().context(name.to_string())?;
    let text = fs::read_to_string(patch)?;
    let selected = format!("\"NIGHTDESK_MUTANT\").is_ok_and(|name| name == \"X{number}\")");
    let guards = text.matches("NIGHTDESK_MUTANT").count();
    ensure!(
        guards > 0 && text.matches(&selected).count() == guards,
        "{name} is not guarded by its number X{number}"
    );
    Ok(())
}

/// Returns a temporary copy of the working copy with these patches.
fn patched(repo: &Repo, patches: &[PathBuf]) -> Result<TempDir> {
    let copy = tempfile::tempdir()?;
    for file in repo.files()? {
        let from = repo.path(&file);
        // A deleted file may still be in the index.
        if from.exists() {
            copy_file(&from, &copy.path().join(&file))?;
        }
    }
    for patch in patches {
        apply(patch, copy.path())?;
    }
    Ok(copy)
}

/// Applies a patch to a folder. Git must not take the folder for a part of a repository around it.
fn apply(patch: &Path, folder: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn"]).arg(patch).current_dir(folder);
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    let output = git.output().context("could not run git")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{} does not apply: {}", patch.display(), stderr.trim());
    }
    Ok(())
}

/// Returns the paths of all files in a folder, relative to it.
fn files_below(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    Ok(files)
}

fn copy_changed(from: &Path, to: &Path) -> Result<()> {
    let is_same = fs::read(to).is_ok_and(|old| fs::read(from).is_ok_and(|new| new == old));
    if is_same { Ok(()) } else { copy_file(from, to) }
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("a file has a folder")?)?;
    fs::copy(from, to).with_context(|| format!("could not copy {}", from.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_file_keeps_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("deep/to"));
        fs::write(&from, "text").unwrap();
        copy_changed(&from, &to).unwrap();
        let first = fs::metadata(&to).unwrap().modified().unwrap();
        copy_changed(&from, &to).unwrap();

        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), first);
        assert_eq!(files_below(folder.path()).unwrap().len(), 2);
    }

    #[test]
    fn a_patch_is_guarded_by_its_own_number() {
        let folder = tempfile::tempdir().unwrap();
        let guard = |number| {
            format!(
                "+if std::env::var(\"NIGHTDESK_MUTANT\").is_ok_and(|name| name == \"X{number}\")"
            )
        };
        let cases = [
            ("its own", guard(7), true),
            ("twice", guard(7) + &guard(7), true),
            ("none", "+return;".to_owned(), false),
            ("another", guard(8), false),
            ("also another", guard(7) + &guard(8), false),
        ];
        for (case, text, want) in cases {
            let patch = folder.path().join("07-wrong.patch");
            fs::write(&patch, text).unwrap();
            assert_eq!(check_guard(&patch).is_ok(), want, "{case}");
        }
    }
}
