//! Breaks the disk of PostgreSQL: the disk of its write-ahead log is full, or fails to store it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::means::SmallDisk;
use crate::chaos::world::World;
use crate::cluster::{Cluster, output};
use crate::procfs::signal;
use crate::stage::DATABASE;

/// Size of a segment of the write-ahead log.
const SEGMENT_MIB: usize = 16;

/// Room for new segments on the full disk, once it is freed.
const FREED_SEGMENTS: usize = 4;

/// Time limit for PostgreSQL to notice that its disk is broken.
const NOTICED_WITHIN: Duration = Duration::from_secs(30);

/// Time limit for `strace` to end.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Writes as much to the write-ahead log as a segment holds.
const WRITE_SEGMENT: &str =
    "select count(pg_logical_emit_message(false, 'chaos', repeat('x', 1048576)))
    from generate_series(1, 16)";

/// Returns true if this machine permits a small disk.
pub(super) fn can_fill(world: &World) -> bool {
    SmallDisk::is_possible(&world.folder)
}

/// Fills the disk of the write-ahead log (F19). PostgreSQL panics, and is started again when the disk is free.
pub(super) fn fill(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    world.cluster.ask("postgres", "checkpoint")?;
    let moving = world.strikes(number, "postgres");
    let log = SmallLog::put(&mut world.cluster)?;
    world.made_ready(&moving);
    thread::sleep(dice.between_ms(500, 1_500));

    let mut strike = world.strikes(number, "postgres");
    let panics = world.cluster.panics()?;
    log.disk.fill(FREED_SEGMENTS * SEGMENT_MIB)?;
    strike.at_ns = monotonic_ns();
    // Segments of earlier times are written before a new one is needed.
    for _ in 0..log.segments + FREED_SEGMENTS {
        if world.cluster.ask(DATABASE, WRITE_SEGMENT).is_err() {
            break;
        }
    }
    until_panic(world, panics)?;
    log.disk.free()?;
    world.cluster.recover()?;
    log.take_back(&mut world.cluster)?;
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// A write-ahead log on a small disk. If it is dropped, the disk lasts until the server ends.
#[derive(Debug)]
struct SmallLog {
    disk: SmallDisk,
    /// The folder in which the server looks for its log.
    place: PathBuf,
    /// Number of segments at the beginning.
    segments: usize,
}

impl SmallLog {
    /// Starts the server anew with its log on a small disk.
    fn put(cluster: &mut Cluster) -> Result<Self> {
        let place = cluster.data_dir().join("pg_wal");
        cluster.stop_immediate()?;
        let segments = fs::read_dir(&place).context("could not list the segments")?.count();
        // Beside the data, where the server's user may read.
        let mount = cluster.data_dir().with_file_name("wal-disk");
        let disk = SmallDisk::mount(&mount, (segments + FREED_SEGMENTS) * SEGMENT_MIB)?;
        copy(&place, disk.folder())?;
        fs::rename(&place, aside(&place)).context("could not move the log")?;
        symlink(disk.folder(), &place).context("could not lead to the small disk")?;
        cluster.start_again()?;
        Ok(Self { disk, place, segments })
    }

    /// Starts the server anew with its log beside its data.
    fn take_back(self, cluster: &mut Cluster) -> Result<()> {
        cluster.stop_immediate()?;
        let kept = aside(&self.place);
        for old in fs::read_dir(&kept).context("could not list the old segments")?.flatten() {
            // The folder of archive states stays: it is in the copy too.
            if old.path().is_file() {
                fs::remove_file(old.path()).context("could not remove an old segment")?;
            }
        }
        copy(self.disk.folder(), &kept)?;
        fs::remove_file(&self.place).context("could not remove the link")?;
        fs::rename(&kept, &self.place).context("could not move the log back")?;
        cluster.start_again()
    }
}

fn aside(place: &Path) -> PathBuf {
    place.with_file_name("pg_wal.beside")
}

/// Copies the contents of a folder, with owners and modes.
fn copy(from: &Path, to: &Path) -> Result<()> {
    output(Command::new("cp").arg("-a").arg(from.join(".")).arg(to)).map(drop)
}

/// Makes PostgreSQL's writes to disk fail (F20). It panics and recovers.
pub(super) fn fail_to_store(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    let mut strike = world.strikes(number, "postgres");
    let panics = world.cluster.panics()?;
    let failing = FailingDisk::of(&world.cluster.pids()?)?;
    strike.at_ns = monotonic_ns();
    until_panic(world, panics)?;
    drop(failing);
    world.cluster.recover()?;
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// Returns true if this machine can make calls of other processes fail.
pub(super) fn can_fail_to_store(_: &World) -> bool {
    // It traces a process that ends at once.
    let traced = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    traced.is_ok_and(|status| status.success())
}

/// Processes whose writes to disk fail. Dropping the value makes them work again.
#[derive(Debug)]
struct FailingDisk {
    strace: Child,
}

impl FailingDisk {
    fn of(pids: &[u32]) -> Result<Self> {
        let strace = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"])
            .args(["-e", "inject=fsync,fdatasync:error=EIO"])
            .args(pids.iter().map(|pid| format!("--attach={pid}")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run strace")?;
        Ok(Self { strace })
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
        // At this signal it lets go of the processes. If it has ended, there is nothing to do.
        signal("TERM", &[self.strace.id()]).ok();
        let deadline = Instant::now() + ENDS_WITHIN;
        while matches!(self.strace.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
        self.strace.kill().ok();
        self.strace.wait().ok();
    }
}

fn until_panic(world: &World, before: usize) -> Result<()> {
    let deadline = Instant::now() + NOTICED_WITHIN;
    while world.cluster.panics()? <= before {
        ensure!(Instant::now() < deadline, "PostgreSQL does not notice that its disk is broken");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
