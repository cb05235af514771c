//! A temporary folder that is removed with this process, together with every process that runs in it.
//!
//! A destructor does not run when a process is killed. So a guard, a small shell process, removes the folder: it reads
//! from a pipe that closes when the folder is dropped and when this process dies in any way. Then the guard ends the
//! processes that still run in the folder and removes it. There is one cleanup path, and it runs every day.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::process::Signal;

/// The guard's script.
const GUARD: &str = include_str!("guard.sh");

/// A guarded folder. Removed when dropped, and when this process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    guard: Child,
}

impl Folder {
    /// Creates a folder; processes that run in it at the end get this signal.
    pub(crate) fn create(prefix: &str, signal: Signal) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let folder = folder.context("could not create a temporary folder")?;
        // The guard compares the path with the kernel's, which contains no symbolic links.
        let path = folder.path().canonicalize().context("could not resolve the folder")?;
        let guard = guard(&path, signal).context("could not run the folder's guard")?;
        // From here on the guard removes it.
        let _kept = folder.keep();
        Ok(Self { path, guard })
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // If the guard was killed, no cleanup is possible here.
        self.guard.wait().ok();
    }
}

fn guard(folder: &Path, signal: Signal) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", GUARD, "guard"])
        .arg(folder)
        .arg(signal.name())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        // In a separate process group the guard survives Ctrl-C.
        .process_group(0)
        .spawn()
}
