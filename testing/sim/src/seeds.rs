//! Plays several seeds in parallel, each on one thread.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nightdesk_sim::drive;

use crate::report::{Judged, is_good};

/// One seed in so many is played twice, to check that both results are the same.
const REPEATED_EVERY: u64 = 50;

/// Time after which a seed counts as stuck. Normally it takes a fraction of a second.
const STUCK_AFTER: Duration = Duration::from_mins(1);

/// Interval of the check for stuck seeds.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Plays a seed. The histories remain in a folder.
pub(crate) fn play(seed: u64, folder: &Path) -> Judged {
    let played = catch_unwind(|| drive::play(seed, folder));
    match played {
        Ok(verdict) => verdict.map_err(|error| format!("{error:#}")),
        Err(_) => Err("panicked".to_owned()),
    }
}

/// Plays all seeds, and returns those that failed.
pub(crate) fn play_all(seeds: Range<u64>, jobs: usize) -> BTreeMap<u64, Judged> {
    play_until(seeds, jobs, |_| false)
}

/// Plays seeds until a failed one is sufficient, or one is stuck.
pub(crate) fn play_until(
    seeds: Range<u64>,
    jobs: usize,
    enough: impl Fn(&Judged) -> bool,
) -> BTreeMap<u64, Judged> {
    let (tell, told) = mpsc::channel();
    let next = Arc::new(AtomicU64::new(seeds.start));
    for _ in 0..jobs.max(1) {
        let (next, tell) = (Arc::clone(&next), tell.clone());
        // The thread is not joined: a stuck one ends with the process.
        thread::spawn(move || work(&next, seeds.end, &tell));
    }
    drop(tell);
    let (mut failed, mut under_way) = (BTreeMap::new(), BTreeMap::new());
    loop {
        match told.recv_timeout(LOOK_EVERY) {
            Ok(Told::Begun(seed)) => drop(under_way.insert(seed, Instant::now())),
            Ok(Told::Judged(seed, judged)) => {
                under_way.remove(&seed);
                let over = !is_good(&judged) && enough(&judged);
                if !is_good(&judged) {
                    failed.insert(seed, judged);
                }
                if over {
                    return failed;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return failed,
        }
        let is_stuck = |(_, since): &(&u64, &Instant)| since.elapsed() > STUCK_AFTER;
        if let Some((seed, _)) = under_way.iter().find(is_stuck) {
            failed.insert(*seed, Err("time does not pass any more: somebody spins".to_owned()));
            return failed;
        }
    }
}

/// A worker's message.
enum Told {
    Begun(u64),
    Judged(u64, Judged),
}

/// Plays the next seeds as long as the receiver exists.
fn work(next: &AtomicU64, end: u64, tell: &Sender<Told>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        let begun = seed < end && tell.send(Told::Begun(seed)).is_ok();
        if !begun || tell.send(Told::Judged(seed, play_aside(seed))).is_err() {
            return;
        }
    }
}

/// Plays a seed in a temporary folder; some seeds twice.
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

/// Checks that two folders of histories are equal.
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
