//! Limits the resources of processes with a control group (version 1) of the kernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Folder of all controllers.
const ROOT: &str = "/sys/fs/cgroup";

/// File of a group with its processes.
const PROCESSES: &str = "cgroup.procs";

/// Time limit for the last process of a group to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A control group. Dropping it moves its processes back and removes it.
#[derive(Debug)]
pub(in crate::chaos) struct Cgroup {
    controller: &'static str,
    folder: PathBuf,
    /// Processes, each with the group that it was in before.
    moved: Vec<(u32, PathBuf)>,
}

impl Cgroup {
    /// Returns true if this machine permits groups of a controller.
    pub(in crate::chaos) fn is_possible(controller: &'static str) -> bool {
        Self::create(controller).is_ok_and(|group| group.processes().is_file())
    }

    /// Creates an empty group.
    pub(in crate::chaos) fn create(controller: &'static str) -> Result<Self> {
        let name = format!("nightdesk-{}", std::process::id());
        let folder = Path::new(ROOT).join(controller).join(name);
        fs::create_dir(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        Ok(Self { controller, folder, moved: Vec::new() })
    }

    /// Sets a limit.
    pub(in crate::chaos) fn set(&self, file: &str, value: u64) -> Result<()> {
        write(&self.folder.join(file), value)
    }

    /// Returns the file to which a process writes its id to join the group.
    pub(in crate::chaos) fn processes(&self) -> PathBuf {
        self.folder.join(PROCESSES)
    }

    /// Moves a process into the group.
    pub(in crate::chaos) fn take(&mut self, pid: u32) -> Result<()> {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup"))
            .with_context(|| format!("could not look at process {pid}"))?;
        let former = group_in(&groups, self.controller)
            .with_context(|| format!("process {pid} is in no group of {}", self.controller))?;
        let former = Path::new(ROOT).join(self.controller).join(former.trim_start_matches('/'));
        self.moved.push((pid, former));
        write(&self.processes(), u64::from(pid))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for (pid, former) in &self.moved {
            // A process that has ended is in no group.
            write(&former.join(PROCESSES), u64::from(*pid)).ok();
        }
        let deadline = Instant::now() + GONE_WITHIN;
        // The kernel removes a group only when it is empty.
        while fs::remove_dir(&self.folder).is_err() && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
    }
}

fn write(file: &Path, value: u64) -> Result<()> {
    fs::write(file, value.to_string()).with_context(|| format!("could not set {}", file.display()))
}

/// Returns the group of a controller in the text of `/proc/PID/cgroup`.
fn group_in<'t>(groups: &'t str, controller: &str) -> Option<&'t str> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let is_it = fields.next()?.split(',').any(|name| name == controller);
        fields.next().filter(|_| is_it)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_group_of_a_process() {
        let groups = "9:name=systemd:/\n4:memory:/a/b:c\n3:cpu,cpuacct:/d\n0::/\n";

        assert_eq!(group_in(groups, "memory"), Some("/a/b:c"));
        assert_eq!(group_in(groups, "cpu"), Some("/d"));
        assert_eq!(group_in(groups, "pids"), None);
    }
}
