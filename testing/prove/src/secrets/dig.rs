//! Tries to read the desk's memory, which contains opened keys.
//!
//! It tries with another process of the same user, which like the desk has no capabilities, and with a core file. Each
//! attempt is first made on an ordinary process, where it succeeds.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::World;
use crate::procfs::signal;

/// Arguments that drop all Linux capabilities.
pub(super) const WITHOUT_RIGHTS: [&str; 3] =
    ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"];

/// Tries to read the memory. Returns the number of findings. The desk has ended afterwards.
pub fn dig(world: &mut World) -> Result<usize> {
    let (pid, folder) = (world.desk.pid(), world.cluster.folder().to_owned());
    let mut other = ordinary()?;
    let control = environment(other.id());
    other.kill().and_then(|()| other.wait()).context("could not end a process")?;
    ensure!(control?, "not even an ordinary process can be looked into: nothing was tried");
    let mut found = usize::from(environment(pid)?) + usize::from(core_by_debugger(pid, &folder)?);
    check_limit(pid)?;
    signal("ABRT", &[pid])?;
    world.desk.wait_until_it_ended()?;
    let files = fs::read_dir(&folder).context("could not look for core files")?;
    let names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    found += names.filter(|name| name.starts_with("core") || name.starts_with("dug")).count();
    Ok(found)
}

fn ordinary() -> Result<Child> {
    let mut sleep = without_rights("sleep");
    sleep.arg("60").stdin(Stdio::null()).spawn().context("could not run a process")
}

/// Returns true if a process's environment is readable.
fn environment(pid: u32) -> Result<bool> {
    let mut look = without_rights("cat");
    look.arg(format!("/proc/{pid}/environ")).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(look.status().context("could not run cat")?.success())
}

/// Returns true if a debugger gets a core file, and false if no debugger is installed.
fn core_by_debugger(pid: u32, folder: &Path) -> Result<bool> {
    let mut gcore = without_rights("gcore");
    gcore.arg("-o").arg(folder.join("dug")).arg(pid.to_string());
    gcore.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(gcore.status().context("could not run gcore")?.success())
}

fn without_rights(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(WITHOUT_RIGHTS).arg(program);
    command
}

fn check_limit(pid: u32) -> Result<()> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).context("no such process")?;
    let core = limits.lines().find(|line| line.starts_with("Max core file size"));
    let core = core.context("there is no limit of core files")?;
    ensure!(core.split_whitespace().filter(|word| *word == "0").count() == 2, "{core}");
    Ok(())
}
