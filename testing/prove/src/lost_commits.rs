//! Judges runs in which the database loses commits.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nightdesk_judge::{Invariant, Verdict};

/// The words of the log line with which a node begins to store events again.
const BEGINS: &str = " recent events again";

/// The words of the log line with which it ends.
const ENDS: &str = "events again that the database";

/// Promises that hold although commits were taken away.
const ALWAYS_HELD: [Invariant; 6] = [
    Invariant::NoLoss,
    Invariant::NoPhantom,
    Invariant::NoMisdelivery,
    Invariant::NoWrongRevocation,
    Invariant::NoHoneypot,
    Invariant::NoLeak,
];

/// Returns true if a promise holds although commits were taken away.
pub fn is_always_held(invariant: Invariant) -> bool {
    ALWAYS_HELD.contains(&invariant)
}

/// Returns the broken promises that have no exception.
pub fn broken_always(verdict: &Verdict) -> Vec<&'static str> {
    let broken = ALWAYS_HELD.into_iter().filter(|invariant| verdict.count(*invariant) > 0);
    broken.map(Invariant::number).collect()
}

/// Events that the nodes stored again, and those that they could not, by their logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAgain {
    /// Events that were stored again.
    pub stored: u64,
    /// Events that no agent may receive any more. The log names their number, and each has its record of refusal.
    pub refused: u64,
}

impl StoredAgain {
    /// Reads the logs of a run.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut sum = Self::default();
        for entry in fs::read_dir(folder).context("could not read the folder of the run")? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "log") {
                continue;
            }
            let log = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            for line in log.lines().filter(|line| line.contains(ENDS)) {
                sum.stored += number_before(line, " events again").unwrap_or(0);
                sum.refused += number_before(line, " are refused now").unwrap_or(0);
            }
        }
        Ok(sum)
    }
}

/// Returns how many times a node began to store events again, by its log.
pub fn count_begun(log: &str) -> usize {
    log.matches(BEGINS).count()
}

/// Returns true if a node has not finished storing events again, by its log.
pub fn is_storing_again(log: &str) -> bool {
    let last = log.lines().rfind(|line| line.contains(BEGINS) || line.contains(ENDS));
    last.is_some_and(|line| line.contains(BEGINS))
}

/// Returns the number that stands directly before these words.
fn number_before(line: &str, words: &str) -> Option<u64> {
    line.split(words).next()?.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_read_from_a_log_line() {
        let line = "WARN stored 12 events again that the database had lost; it still had 3, and 4 are refused now";

        assert_eq!(number_before(line, " events again"), Some(12));
        assert_eq!(number_before(line, " are refused now"), Some(4));
        assert_eq!(number_before("nothing", " events again"), None);
    }

    #[test]
    fn a_node_stores_again_until_its_log_says_that_it_has() {
        let begins = "WARN storing 7 recent events again: the database has another history\n";
        let ends = "WARN stored 7 events again that the database had lost; it still had 0, and 0 are refused now\n";

        assert!(is_storing_again(begins));
        assert!(is_storing_again(&[begins, ends, begins].concat()));
        assert!(!is_storing_again(&[begins, ends].concat()));
        assert!(!is_storing_again("WARN another line\n"));
        assert_eq!(count_begun(&[begins, ends, begins].concat()), 2);
    }
}
