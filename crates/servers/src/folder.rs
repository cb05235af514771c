//! A temporary folder that goes when we go, with every process that runs in it.
//!
//! A destructor does not run when a process is killed. So the removing is not ours: a guard, a
//! small shell process, waits at the other end of a pipe. The pipe closes when the folder is
//! dropped and when we die, however we die; then the guard ends what still runs in the folder and
//! removes it. There is one way to clean up, and it is the way that runs every day.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::process::Signal;

/// What the guard does; see the script.
const GUARD: &str = include_str!("guard.sh");

/// A guarded folder. Removed when dropped, and when this process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    guard: Child,
}

impl Folder {
    /// Makes a folder; what runs in it at the end is asked to end by the signal.
    pub(crate) fn create(prefix: &str, signal: Signal) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let folder = folder.context("could not make a temporary folder")?;
        // The guard compares it with what the kernel says, which knows no symbolic links.
        let path = folder.path().canonicalize().context("could not resolve the folder")?;
        let guard = guard(&path, signal).context("could not run the folder's guard")?;
        // From here on the guard removes it.
        let _kept = folder.keep();
        Ok(Self { path, guard })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // If the guard was killed, nothing is left that we could do here.
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
        // A group of its own: it outlives Ctrl-C.
        .process_group(0)
        .spawn()
}
