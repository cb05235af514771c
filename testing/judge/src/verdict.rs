//! The verdict: which promises were not kept, and what shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::check::{self, Finding, Invariant};
use crate::event::Record;
use crate::read::{ReadError, Run};

/// How many records are shown of one violation.
const SHOWN_MAX: usize = 20;

/// What the judge says of a run.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// How many records were read.
    pub events: u64,
    /// How often the desk used what was lent to it.
    pub followed_up: u64,
    /// How many fires agents took.
    pub fires: u64,
    /// How many letters were taken that ask for no reply.
    pub letters: u64,
    /// How many that ask were answered, or timed out.
    pub exchanges: u64,
    /// How many letters that may not be sent were refused.
    pub refused: u64,
    /// How often something was put on a shelf.
    pub shelved: u64,
    /// What went wrong, promise by promise; of each promise the first few.
    pub violations: Vec<Violation>,
    /// How often each promise was not kept, all counted.
    pub counts: BTreeMap<Invariant, u64>,
}

/// A promise that was not kept.
#[derive(Debug, Serialize)]
pub struct Violation {
    /// Which promise.
    pub invariant: Invariant,
    /// What happened, in a sentence.
    pub what: String,
    /// The records that show it, in the order of time.
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
    /// How often a promise was not kept.
    pub fn count(&self, invariant: Invariant) -> u64 {
        self.counts.get(&invariant).copied().unwrap_or_default()
    }

    /// Everything in one line, for a script to read.
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
/// A history that is not whole is not judged.
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
