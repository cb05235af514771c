//! Seeds: played several at a time, each on one thread.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use nightdesk_sim::drive;

use crate::report::{Judged, is_good};

/// One seed in so many is played twice, to see that it is the same both times.
const REPEATED_EVERY: u64 = 50;

/// Plays a seed. The histories are left in a folder.
pub(crate) fn play(seed: u64, folder: &Path) -> Judged {
    let played = catch_unwind(|| drive::play(seed, folder));
    match played {
        Ok(verdict) => verdict.map_err(|error| format!("{error:#}")),
        Err(_) => Err("panicked".to_owned()),
    }
}

/// Plays them all, and answers with those that did not go well.
pub(crate) fn play_all(seeds: Range<u64>, jobs: usize) -> BTreeMap<u64, Judged> {
    play_until(seeds, jobs, |_| false)
}

/// Plays them until one that did not go well is enough.
pub(crate) fn play_until(
    seeds: Range<u64>,
    jobs: usize,
    enough: impl Fn(&Judged) -> bool + Sync,
) -> BTreeMap<u64, Judged> {
    let (next, over) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let failed = Mutex::new(BTreeMap::new());
    let work = || {
        while !over.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let judged = play_aside(seed);
            if !is_good(&judged) {
                over.fetch_or(enough(&judged), Ordering::Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).insert(seed, judged);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Plays a seed in a folder that is gone afterwards; some twice.
fn play_aside(seed: u64) -> Judged {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let judged = play(seed, folder.path());
    if seed.is_multiple_of(REPEATED_EVERY) && is_good(&judged) {
        let again = tempfile::tempdir().map_err(|error| error.to_string())?;
        drop(play(seed, again.path()));
        is_same(folder.path(), again.path()).map_err(|error| error.to_string())?;
    }
    judged
}

/// Checks that two folders of histories are the same.
fn is_same(one: &Path, two: &Path) -> io::Result<()> {
    for entry in fs::read_dir(one)? {
        let name = entry?.file_name();
        if fs::read(one.join(&name))? != fs::read(two.join(&name))? {
            let what = format!("played twice, {} was not the same", name.to_string_lossy());
            return Err(io::Error::other(what));
        }
    }
    Ok(())
}
