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

/// The file system in memory, and the room that a run of all tests needs there: it writes 6 GiB.
const MEMORY: &str = "/dev/shm";
const MEMORY_FREE_MIN: u64 = 12 * 1024 * 1024 * 1024;

/// A guarded folder. Removed when dropped, and when this process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    guard: Child,
}

impl Folder {
    /// Creates a folder; processes that run in it at the end get this signal.
    pub(crate) fn create(prefix: &str, signal: Signal) -> Result<Self> {
        Self::create_in(&std::env::temp_dir(), prefix, signal)
    }

    /// Creates a folder in memory if there is much room. The thousands of databases of a test run are hundreds of
    /// thousands of files, and some disks need minutes to remove them.
    pub(crate) fn create_in_memory(prefix: &str, signal: Signal) -> Result<Self> {
        let parent =
            if has_room_in_memory() { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
        Self::create_in(&parent, prefix, signal)
    }

    fn create_in(parent: &Path, prefix: &str, signal: Signal) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
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

fn has_room_in_memory() -> bool {
    // A container may have a file system in memory that is far smaller than the memory.
    let Ok(room) = rustix::fs::statvfs(MEMORY) else { return false };
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let free = kib.unwrap_or(0).saturating_mul(1024).min(room.f_bavail * room.f_frsize);
    free >= MEMORY_FREE_MIN
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
