//! Compares the events that the desk acknowledged with the entries that the gateways acked.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

/// One event and its agent, by their numbers in this proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Index of the agent among the members of the cast.
    pub agent: usize,
    /// Number of the event.
    pub event: u64,
}

/// The records of one process in order, with their times by the clock that all processes share.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<(Seen, u64)>>);

impl Ledger {
    /// Records events with the current time.
    pub fn note(&self, seen: &[Seen]) {
        self.note_at(monotonic_ns(), seen);
    }

    /// Records events that began at that time.
    pub fn note_at(&self, at_ns: u64, seen: &[Seen]) {
        self.lock().extend(seen.iter().map(|seen| (*seen, at_ns)));
    }

    /// Returns the number of records.
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    /// Writes all records to a file, for the comparing process.
    pub fn save(&self, file: &Path) -> Result<()> {
        let mut text = String::new();
        for (Seen { agent, event }, at_ns) in self.lock().iter() {
            writeln!(text, "{agent} {event} {at_ns}").context("could not write into memory")?;
        }
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Seen, u64)>> {
        // The list is consistent at every step, also if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the events of a file that [`Ledger::save`] wrote.
pub fn load(file: &Path) -> Result<Vec<Seen>> {
    Ok(load_timed(file)?.into_iter().map(|(seen, _)| seen).collect())
}

/// Reads the events and their times.
pub fn load_timed(file: &Path) -> Result<Vec<(Seen, u64)>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    let seen = |line: &str| {
        let mut parts = line.split(' ');
        let seen = Seen { agent: parts.next()?.parse().ok()?, event: parts.next()?.parse().ok()? };
        Some((seen, parts.next()?.parse().ok()?))
    };
    let lines: Option<Vec<(Seen, u64)>> = text.lines().map(seen).collect();
    lines.with_context(|| format!("{} is not a history", file.display()))
}

/// Returns the number of acknowledged events that no gateway of their agent acked, and the number of repeated acks.
pub fn lost_and_again(told: &[Seen], acked: &[Seen]) -> (usize, usize) {
    let acks = acked.len();
    let (told, mut acked) = (sorted(told), sorted(acked));
    acked.dedup();
    (missing(&told, &acked), acks - acked.len())
}

/// Checks that every acknowledged event was acked once, by its own agent's gateway, and that there are no other acks.
pub fn check(told: &[Seen], acked: &[Seen]) -> Result<()> {
    let (told, acked) = (sorted(told), sorted(acked));
    let doubled = acked.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let lost = missing(&told, &acked);
    let astray = missing(&acked, &told);
    ensure!(
        lost == 0 && doubled == 0 && astray == 0,
        "of {} events told \"ok\", {lost} were not acked by their gateway; \
         {doubled} were acked twice, {astray} by a gateway they were not for",
        told.len()
    );
    Ok(())
}

fn sorted(seen: &[Seen]) -> Vec<Seen> {
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Returns the number of elements that are missing in the other list. Both are sorted.
fn missing(of: &[Seen], from: &[Seen]) -> usize {
    of.iter().filter(|seen| from.binary_search(seen).is_err()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Seen = Seen { agent: 0, event: 1 };
    const TWO: Seen = Seen { agent: 1, event: 2 };

    #[test]
    fn finds_what_is_lost_doubled_or_astray() {
        let astray = Seen { agent: 0, event: 2 };
        let cases: [(&str, &[Seen], &[Seen], bool); 5] = [
            ("whole, in any order", &[ONE, TWO], &[TWO, ONE], true),
            ("lost", &[ONE, TWO], &[ONE], false),
            ("doubled", &[ONE], &[ONE, ONE], false),
            ("at another agent", &[ONE, TWO], &[ONE, astray], false),
            ("from nowhere", &[ONE], &[ONE, TWO], false),
        ];
        for (name, told, acked, want) in cases {
            assert_eq!(check(told, acked).is_ok(), want, "{name}");
        }
    }

    #[test]
    fn what_is_handed_over_again_is_not_lost() {
        let cases: [(&str, &[Seen], (usize, usize)); 3] = [
            ("whole", &[TWO, ONE], (0, 0)),
            ("one twice", &[ONE, TWO, ONE], (0, 1)),
            ("one twice, one never", &[ONE, ONE], (1, 1)),
        ];
        for (name, acked, want) in cases {
            assert_eq!(lost_and_again(&[ONE, TWO], acked), want, "{name}");
        }
    }

    #[test]
    fn a_history_survives_its_file() {
        let file = std::env::temp_dir().join(format!("nightdesk-history-{}", std::process::id()));
        let ledger = Ledger::default();
        ledger.note(&[ONE, TWO]);
        ledger.note_at(7, &[ONE]);
        ledger.save(&file).unwrap();

        let (loaded, timed) = (load(&file).unwrap(), load_timed(&file).unwrap());
        fs::remove_file(&file).unwrap();
        assert_eq!((loaded, ledger.count()), (vec![ONE, TWO, ONE], 3));
        assert_eq!(timed[2], (ONE, 7));
    }
}
