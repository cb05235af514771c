//! Disturbs the surroundings of a node: nothing reads its log, or its own disk is full or read-only.

use std::fs::File;
use std::io::{self, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::means::SmallDisk;
use crate::chaos::world::World;
use crate::desk::Surroundings;

/// Duration of the fault.
const LASTS_MS: (u64, u64) = (4_000, 6_000);

/// Size of the node's disk.
const DISK_MIB: usize = 1;

/// Bytes of one write into a pipe: not more than the smallest pipe holds.
const PIPE_WRITE: usize = 4_096;

/// A pipe is full if no write succeeded for this long.
const FULL_AFTER: Duration = Duration::from_millis(200);

/// Time limit for a pipe to be full.
const FULL_WITHIN: Duration = Duration::from_secs(5);

/// Starts a node whose log is a full pipe that nothing reads (F50). It drops log lines, and serves.
pub(super) fn log_unread(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    let pipe = FullPipe::open()?;
    let log = pipe.end()?;
    world.nodes[node].start_in(Surroundings { log: Some(log), ..Surroundings::default() })?;
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(LASTS_MS.0, LASTS_MS.1));
    ensure!(!world.nodes[node].has_ended()?, "a node ended because nothing read its log");
    world.nodes[node].kill()?;
    drop(pipe);
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// A pipe that is full. A thread writes into it until the reader is gone.
#[derive(Debug)]
struct FullPipe {
    /// It is never read. When it is dropped, the thread ends.
    _reader: PipeReader,
    end: OwnedFd,
}

impl FullPipe {
    fn open() -> Result<Self> {
        let (reader, writer) = io::pipe().context("could not open a pipe")?;
        let end = OwnedFd::from(writer.try_clone().context("could not open a pipe twice")?);
        let written = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&written);
        // Not joined: it ends when nothing can be read any more.
        drop(thread::spawn(move || {
            let mut writer = writer;
            while writer.write_all(&[b'\n'; PIPE_WRITE]).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }));
        until_full(&written)?;
        Ok(Self { _reader: reader, end })
    }

    /// Returns the end that a process writes to.
    fn end(&self) -> Result<OwnedFd> {
        self.end.try_clone().context("could not pass a pipe on")
    }
}

fn until_full(written: &AtomicUsize) -> Result<()> {
    let deadline = Instant::now() + FULL_WITHIN;
    let mut before = 0;
    loop {
        thread::sleep(FULL_AFTER);
        let now = written.load(Ordering::Relaxed);
        if now > 0 && now == before {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "a pipe is never full");
        before = now;
    }
}

/// Fills the disk of a node's folder and of its log, and then makes the disk of its folder read-only (F51). The node
/// serves.
pub(super) fn no_disk(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    for is_full in [true, false] {
        let mut strike = world.strikes(number, world.nodes[node].name());
        world.nodes[node].kill()?;
        let disk = SmallDisk::mount(&world.folder.join("node-disk"), DISK_MIB)?;
        let log = is_full.then(|| File::create(disk.folder().join("log"))).transpose();
        let log = log.context("could not make a log")?.map(OwnedFd::from);
        let folder = Some(disk.folder());
        world.nodes[node].start_in(Surroundings { folder, log, ..Surroundings::default() })?;
        if is_full {
            disk.fill(DISK_MIB + 1)?;
        } else {
            disk.set_read_only()?;
        }
        strike.at_ns = monotonic_ns();
        thread::sleep(dice.between_ms(LASTS_MS.0, LASTS_MS.1));
        ensure!(!world.nodes[node].has_ended()?, "a node ended because of its disk");
        world.nodes[node].kill()?;
        drop(disk);
        world.nodes[node].start()?;
        world.healed(strike);
    }
    Ok(())
}

/// Returns true if this machine permits a small disk.
pub(super) fn can_fill_disk(world: &World) -> bool {
    SmallDisk::is_possible(&world.folder)
}
