//! Mounts small file systems in memory, which are soon full.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cluster::output;

/// Name of the file that fills a disk.
const FILLING: &str = "filling";

const MIB: usize = 1024 * 1024;

/// A small file system. Dropping it unmounts it and removes its folder.
#[derive(Debug)]
pub(in crate::chaos) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Returns true if this machine permits mounts; tries it below a folder.
    pub(in crate::chaos) fn is_possible(below: &Path) -> bool {
        Self::mount(&below.join("mount-trial"), 1).is_ok()
    }

    /// Mounts an empty file system of this size at a new folder.
    pub(in crate::chaos) fn mount(folder: &Path, mib: usize) -> Result<Self> {
        fs::create_dir(folder).with_context(|| format!("could not make {}", folder.display()))?;
        let size = format!("size={mib}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "nightdesk"]).arg(folder);
        let mounted = output(&mut mount);
        if mounted.is_err() {
            fs::remove_dir(folder).ok();
        }
        mounted?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Returns its folder.
    pub(in crate::chaos) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of this size, or until the disk is full.
    pub(in crate::chaos) fn fill(&self, mib_max: usize) -> Result<()> {
        let file = File::create(self.folder.join(FILLING)).context("could not fill a disk")?;
        let zeros = vec![0; MIB];
        for _ in 0..mib_max {
            if (&file).write_all(&zeros).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Removes the file that fills the disk.
    pub(in crate::chaos) fn free(&self) -> Result<()> {
        fs::remove_file(self.folder.join(FILLING)).context("could not free a disk")
    }

    /// Makes the disk read-only.
    pub(in crate::chaos) fn set_read_only(&self) -> Result<()> {
        output(Command::new("mount").args(["-o", "remount,ro"]).arg(&self.folder)).map(drop)?;
        let written = fs::write(self.folder.join("written"), "");
        ensure!(written.is_err(), "a disk that is read-only takes a file");
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process that still uses it keeps it until it ends.
        output(Command::new("umount").arg("-l").arg(&self.folder)).ok();
        fs::remove_dir(&self.folder).ok();
    }
}
