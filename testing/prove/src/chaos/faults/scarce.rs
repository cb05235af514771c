//! Gives a node too little of the machine: processor time, memory, or open files.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::means::Cgroup;
use crate::chaos::world::World;
use crate::cluster::output;
use crate::desk::FILES_MAX;

/// A tenth of one core.
const PERIOD_US: u64 = 100_000;
const QUOTA_US: u64 = 10_000;

/// Duration of a shortage.
const SHORT_MS: (u64, u64) = (4_000, 6_000);

/// Memory limit of a group.
const MEMORY_MAX: u64 = 96 * 1024 * 1024;

/// Address space of the process that takes all memory of the group: a bound of its own, in case the group has none.
const EATER_MAX: u64 = 512 * 1024 * 1024;

/// The kernel ends the process with the highest value first.
const FIRST_TO_END: &str = "1000";

/// Time limit for the kernel to end the node.
const OUT_OF_MEMORY_WITHIN: Duration = Duration::from_secs(30);

/// Files that a node may open beyond those that it has.
const SPARE_FILES: usize = 8;

/// Percentage of lines that are reset, so that the node has to accept connections.
const RESET_PERCENT: u64 = 30;

/// Leaves a node a tenth of a core (F09).
pub(super) fn slow_processor(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut group = Cgroup::create("cpu")?;
    group.set("cpu.cfs_period_us", PERIOD_US)?;
    group.set("cpu.cfs_quota_us", QUOTA_US)?;
    let strike = world.strikes(number, world.nodes[node].name());
    group.take(pid(world, node)?)?;
    thread::sleep(dice.between_ms(SHORT_MS.0, SHORT_MS.1));
    drop(group);
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// Returns true if this machine can limit processor time.
pub(super) fn can_slow_processor() -> bool {
    Cgroup::is_possible("cpu")
}

/// Takes all memory of a node's group, so that the kernel ends the node (F10).
pub(super) fn out_of_memory(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut group = Cgroup::create("memory")?;
    group.set("memory.limit_in_bytes", MEMORY_MAX)?;
    let mut strike = world.strikes(number, world.nodes[node].name());
    let pid = pid(world, node)?;
    group.take(pid)?;
    fs::write(format!("/proc/{pid}/oom_score_adj"), FIRST_TO_END)
        .context("could not choose the process that the kernel ends")?;
    let eater = Eater::start(&group.processes())?;
    world.nodes[node].ends_within(OUT_OF_MEMORY_WITHIN)?;
    strike.at_ns = monotonic_ns();
    drop(eater);
    drop(group);
    thread::sleep(dice.between_ms(50, 500));
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// Returns true if this machine can limit memory.
pub(super) fn can_limit_memory() -> bool {
    Cgroup::is_possible("memory")
}

/// A process that takes all memory of its group. Dropping it ends the process.
#[derive(Debug)]
struct Eater(Child);

impl Eater {
    fn start(processes: &Path) -> Result<Self> {
        // `tail` collects a line that never ends.
        let script = "echo $$ > \"$1\" && exec prlimit --as=\"$2\" tail -n 1 /dev/zero";
        let child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(processes)
            .arg(EATER_MAX.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run a process that takes memory")?;
        Ok(Self(child))
    }
}

impl Drop for Eater {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Leaves a node hardly any file to open, and resets lines (F11). It accepts no more connections until it may.
pub(super) fn few_files(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let pid = pid(world, node)?;
    let open = fs::read_dir(format!("/proc/{pid}/fd")).context("could not count the files")?;
    let strike = world.strikes(number, world.nodes[node].name());
    let few = FewFiles::set(pid, open.count() + SPARE_FILES)?;
    world.gateways(&Order::Reset(RESET_PERCENT))?;
    thread::sleep(dice.between_ms(SHORT_MS.0, SHORT_MS.1));
    drop(few);
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// A process that may open few files. Dropping the value gives it back its limit.
#[derive(Debug)]
struct FewFiles {
    pid: u32,
}

impl FewFiles {
    fn set(pid: u32, files: usize) -> Result<Self> {
        limit_files(pid, files)?;
        Ok(Self { pid })
    }
}

impl Drop for FewFiles {
    fn drop(&mut self) {
        // A process that has ended needs no limit.
        limit_files(self.pid, FILES_MAX).ok();
    }
}

/// Sets the limit that a process may raise again itself.
fn limit_files(pid: u32, files: usize) -> Result<()> {
    let mut prlimit = Command::new("prlimit");
    output(prlimit.arg(format!("--pid={pid}")).arg(format!("--nofile={files}:"))).map(drop)
}

fn pid(world: &World, node: usize) -> Result<u32> {
    world.nodes[node].pid().context("the node does not run")
}
