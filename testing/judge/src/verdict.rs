//! The verdict: broken promises, and the records that show them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::check::{self, Finding, Invariant};
use crate::event::Record;
use crate::read::{ReadError, Run};

/// Maximum records that are shown of one violation.
const SHOWN_MAX: usize = 20;

/// The verdict on a run.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// Number of records.
    pub events: u64,
    /// Number of uses of a capability.
    pub followed_up: u64,
    /// Number of fires that agents took.
    pub fires: u64,
    /// Number of accepted letters without a question.
    pub letters: u64,
    /// Number of questions that were answered or timed out.
    pub exchanges: u64,
    /// Number of forbidden letters that were refused.
    pub refused: u64,
    /// Number of confirmed writes to shelves.
    pub shelved: u64,
    /// Violations by promise, the first few of each.
    pub violations: Vec<Violation>,
    /// Number of violations of each promise.
    pub counts: BTreeMap<Invariant, u64>,
}

/// A violation of a promise.
#[derive(Debug, Serialize)]
pub struct Violation {
    /// The promise.
    pub invariant: Invariant,
    /// A sentence that describes it.
    pub what: String,
    /// The records that show it, in order of time.
    pub history: Vec<Record>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)?;
        for record in &self.history {
            let secs = Duration::from_nanos(record.at_ns).as_secs_f64();
            write!(f, "\n    {secs:8.3} {} {:?}", record.proc, record.ev)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// Returns the number of violations of a promise.
    pub fn count(&self, invariant: Invariant) -> u64 {
        self.counts.get(&invariant).copied().unwrap_or_default()
    }

    /// Returns a summary in one line, for scripts.
    pub fn summary(&self) -> String {
        let broken: Vec<&str> = self.counts.keys().map(|invariant| invariant.number()).collect();
        format!(
            "judge: events={} lost={} doubled={} misdelivered={} misordered={} broken={}",
            self.events,
            self.count(Invariant::NoLoss),
            self.count(Invariant::NoDuplicate),
            self.count(Invariant::NoMisdelivery),
            self.count(Invariant::Order),
            if broken.is_empty() { "none".to_owned() } else { broken.join(",") },
        )
    }
}

/// Judges the run whose histories are in a folder.
///
/// # Errors
///
/// Returns an error if a history is incomplete.
pub fn judge(folder: &Path) -> Result<Verdict, ReadError> {
    let run = Run::read(folder)?;
    let mut found = check::all(&run.history);
    found.told.sort_by_key(|finding| finding.invariant);
    let show = |finding: Finding| {
        let records = finding.records.iter().take(SHOWN_MAX);
        let history = records.map(|&record| run.record(record)).collect::<Result<_, _>>()?;
        Ok(Violation { invariant: finding.invariant, what: finding.what, history })
    };
    let violations = found.told.into_iter().map(show).collect::<Result<_, ReadError>>()?;
    let (letters, exchanges) = run.history.letters_taken();
    Ok(Verdict {
        events: u64::from(run.history.events),
        followed_up: run.history.uses.len() as u64,
        fires: run.history.fires_taken(),
        letters,
        exchanges,
        refused: run.history.letters_refused,
        shelved: run.history.shelved(),
        violations,
        counts: found.counts,
    })
}
