//! Moves the wall clock of a node: an hour ahead, back, two hours behind, and back. No token is valid there during
//! these jumps, so the clock is also wrong by half a minute in both directions.

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

/// Duration of each offset.
const EACH: Duration = Duration::from_secs(2);

/// Moves the clock of a node (F39). Only a node that was started with the library can have its clock moved.
pub(super) fn jump(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let library = library().context("there is no libfaketime")?;
    let file = world.folder.join("clock");
    let says = |offset: &str| fs::write(&file, offset).context("could not move the clock");
    let mut strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    says("+0")?;
    world.nodes[node].start_with(&[
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        // Without these settings a jump back stops the whole process.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
    ])?;
    thread::sleep(EACH);
    if world.has_jobs() {
        (strike.hit, strike.at_ns) = (Hit::Fires, monotonic_ns());
    }
    for offset in JUMPS {
        says(offset)?;
        thread::sleep(EACH);
    }
    world.nodes[node].kill()?;
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// Returns true if the library is installed.
pub(super) fn is_possible() -> bool {
    library().is_some()
}

fn library() -> Option<PathBuf> {
    let kinds = fs::read_dir(LIBRARIES).ok()?.flatten();
    kinds.map(|kind| kind.path().join(LIBRARY)).find(|library| library.is_file())
}
