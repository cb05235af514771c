//! Moves the wall clock of a node: an hour ahead, back, two hours behind, and back. No token is valid there during
//! these jumps, so the clock is also wrong by half a minute in both directions. Moves the wall clock of PostgreSQL back and
//! ahead to the right time again: ahead of it, jobs would rightly be due too early.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::world::{Hit, World};

/// Folder of the packaged library, under one folder for each kind of machine.
const LIBRARIES: &str = "/usr/lib";
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// Offsets of the clock, one after the other.
const JUMPS: [&str; 6] = ["+1h", "+0", "-2h", "+30s", "-30s", "+0"];

/// Offsets of PostgreSQL's clock, one after the other.
const DATABASE_JUMPS: [&str; 4] = ["-30s", "+0", "-2h", "+0"];

/// Duration of each offset.
const EACH: Duration = Duration::from_secs(2);

/// Moves the clock of a node (F39). Only a node that was started with the library can have its clock moved.
pub(super) fn jump(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let clock = MovableClock::create(world.folder.join("clock"))?;
    let mut strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    world.nodes[node].start_with(&clock.environment())?;
    thread::sleep(EACH);
    if world.has_jobs() {
        (strike.hit, strike.at_ns) = (Hit::Fires, monotonic_ns());
    }
    clock.jump(&JUMPS)?;
    world.nodes[node].kill()?;
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// Moves the clock of PostgreSQL (F39).
pub(super) fn jump_of_database(
    world: &mut World,
    number: &'static str,
    _: &mut Dice,
) -> Result<()> {
    let clock = MovableClock::create(world.cluster.folder().join("clock"))?;
    let strike = world.strikes(number, "postgres");
    world.cluster.stop_immediate()?;
    world.cluster.start_again_in(&clock.environment())?;
    thread::sleep(EACH);
    clock.jump(&DATABASE_JUMPS)?;
    world.cluster.stop_immediate()?;
    world.cluster.start_again()?;
    world.healed(strike);
    Ok(())
}

/// A wall clock that a file moves, for processes that are started with its environment.
struct MovableClock {
    library: PathBuf,
    file: PathBuf,
}

impl MovableClock {
    fn create(file: PathBuf) -> Result<Self> {
        let clock = Self { library: library().context("there is no libfaketime")?, file };
        clock.set("+0")?;
        Ok(clock)
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string()),
            // Without these settings a jump back stops the whole process.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
        ]
    }

    /// Sets these offsets, one after the other.
    fn jump(&self, offsets: &[&str]) -> Result<()> {
        for offset in offsets {
            self.set(offset)?;
            thread::sleep(EACH);
        }
        Ok(())
    }

    fn set(&self, offset: &str) -> Result<()> {
        fs::write(&self.file, offset).context("could not move the clock")
    }
}

/// Returns true if the library is installed.
pub(super) fn is_possible() -> bool {
    library().is_some()
}

fn library() -> Option<PathBuf> {
    let kinds = fs::read_dir(LIBRARIES).ok()?.flatten();
    kinds.map(|kind| kind.path().join(LIBRARY)).find(|library| library.is_file())
}
