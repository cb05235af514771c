//! Plays seeds, several at a time, each in a process of its own.
//!
//! A seed shares no process with another one. tokio numbers the tasks of a process, and the tasks of a node that crashes are
//! dropped in an order that follows from these numbers: two seeds in one process would change each other's histories.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nightdesk_judge::judge;
use nightdesk_sim::drive;

use crate::report::{Judged, is_good};

/// One seed in this many is played twice; both histories must be the same.
const REPEATED_EVERY: u64 = 50;

/// The longest that a seed may take. A seed takes a fraction of a second, so one that takes longer never ends.
const STUCK_AFTER: Duration = Duration::from_mins(1);

/// The pause between two looks at a process that plays a seed.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Plays a seed in this process, and leaves the histories in a folder.
pub(crate) fn play(seed: u64, folder: &Path) -> Judged {
    let played = catch_unwind(|| drive::play(seed, folder));
    match played {
        Ok(verdict) => verdict.map_err(|error| format!("{error:#}")),
        Err(_) => Err("panicked".to_owned()),
    }
}

/// Plays seeds with a mutant, or without one, until `enough` says so of a failure. Returns the failures.
pub(crate) fn play_until(
    seeds: Range<u64>,
    jobs: usize,
    mutant: Option<&str>,
    enough: impl Fn(&Judged) -> bool + Sync,
) -> BTreeMap<u64, Judged> {
    let (next, is_over) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let failures = Mutex::new(BTreeMap::new());
    let work = || {
        while !is_over.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let judged = play_apart(seed, mutant);
            if !is_good(&judged) {
                is_over.fetch_or(enough(&judged), Ordering::Relaxed);
                failures.lock().unwrap_or_else(PoisonError::into_inner).insert(seed, judged);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    failures.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Plays a seed in a process and a folder that are gone afterwards, and some seeds twice.
fn play_apart(seed: u64, mutant: Option<&str>) -> Judged {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let judged = play_in(seed, mutant, folder.path()).map_err(|error| format!("{error:#}"))?;
    if seed.is_multiple_of(REPEATED_EVERY) && is_good(&judged) {
        let again = tempfile::tempdir().map_err(|error| error.to_string())?;
        drop(play_in(seed, mutant, again.path()));
        let (one, two) = (histories(folder.path(), seed), histories(again.path(), seed));
        is_same(&one, &two).map_err(|error| error.to_string())?;
    }
    judged
}

/// Plays a seed in a process of its own, as a person who replays it does, and judges the histories.
fn play_in(seed: u64, mutant: Option<&str>, folder: &Path) -> Result<Judged> {
    let output = folder.join("output");
    let mut command = Command::new(std::env::current_exe().context("could not find this program")?);
    command.arg(seed.to_string()).arg("--histories").arg(folder);
    if let Some(number) = mutant {
        command.env("NIGHTDESK_MUTANT", number);
    }
    command.stdout(File::create(&output).context("could not make a file for the output")?);
    let ended = ended(command.spawn().context("could not start a process for a seed")?)?;
    Ok(match judge(&histories(folder, seed)) {
        Ok(verdict) if ended.success() || !verdict.violations.is_empty() => Ok(verdict),
        _ => Err(fs::read_to_string(output).context("could not read the output")?),
    })
}

fn ended(mut child: Child) -> Result<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < STUCK_AFTER {
        if let Some(status) = child.try_wait().context("could not wait for a process")? {
            return Ok(status);
        }
        thread::sleep(LOOK_EVERY);
    }
    child.kill().context("could not end a process")?;
    child.wait().context("could not wait for a process")?;
    bail!("time does not pass any more: a task spins")
}

/// The folder that a process puts the histories of a seed into.
pub(crate) fn histories(folder: &Path, seed: u64) -> PathBuf {
    folder.join(seed.to_string())
}

/// Checks that two folders of histories are the same, and shows the first line that is not.
fn is_same(one: &Path, two: &Path) -> io::Result<()> {
    for entry in fs::read_dir(one)? {
        let name = entry?.file_name();
        let (first, second) =
            (fs::read_to_string(one.join(&name))?, fs::read_to_string(two.join(&name))?);
        if first != second {
            let differ = first.lines().zip(second.lines()).find(|(first, second)| first != second);
            let name = name.to_string_lossy();
            let what = format!("played twice, {name} was not the same: {differ:#?}");
            return Err(io::Error::other(what));
        }
    }
    Ok(())
}
