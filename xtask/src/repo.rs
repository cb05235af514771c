//! The working copy, and its text files that are, or could be, committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The working copy in which this command runs.
#[derive(Debug)]
pub(crate) struct Repo {
    root: PathBuf,
}

/// A text file of the working copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    /// Path from the root, with `/` between the parts.
    pub(crate) path: String,
    /// Content of the file.
    pub(crate) text: String,
}

impl TextFile {
    /// Returns true if its name ends in a dot and the extension.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| own == extension)
    }
}

impl Repo {
    /// Returns the working copy in which this command runs. Cargo names it at run time; the path at build time may be
    /// that of another checkout with the same target folder.
    pub(crate) fn here() -> Result<Self> {
        let own = std::env::var_os("CARGO_MANIFEST_DIR").context("run it as cargo xtask")?;
        let root = Path::new(&own).parent();
        Ok(Self { root: root.context("xtask has no parent folder")?.to_owned() })
    }

    /// Returns a path under the root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Returns the text of one file.
    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        fs::read_to_string(self.path(relative))
            .with_context(|| format!("could not read {relative}"))
    }

    /// Returns the path of every file that git tracks, or would track.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let listed = self.output(Command::new("git").args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let paths = listed.split('\0').filter(|path| !path.is_empty());
        Ok(paths.map(str::to_owned).collect())
    }

    /// Returns every text file that git tracks, or would track.
    pub(crate) fn text_files(&self) -> Result<Vec<TextFile>> {
        Ok(self.files()?.iter().filter_map(|path| self.text_file(path)).collect())
    }

    /// Returns `None` for a binary file, and for a deleted file that is still in the index.
    fn text_file(&self, path: &str) -> Option<TextFile> {
        let text = fs::read_to_string(self.path(path)).ok()?;
        Some(TextFile { path: path.to_owned(), text })
    }

    /// Runs a command at the root and returns its output.
    pub(crate) fn output(&self, command: &mut Command) -> Result<String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.current_dir(&self.root).output();
        let output = output.with_context(|| format!("could not run {program}"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            bail!("{program} ended with {}: {stderr}", output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("{program} did not print text"))
    }
}
