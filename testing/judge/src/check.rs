//! The promises, each checked by a function over a history.

mod cancel;
mod doubled;
mod exchange;
mod fire;
#[cfg(test)]
mod fire_tale;
mod handed;
mod ids;
mod jobs;
mod lent;
mod lost;
mod never;
mod order;
mod outbound;
mod owner;
mod plainly;
mod revoked;
mod shelf;
mod stop;
mod tables;
mod wake;
mod window;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::history::{History, Mark};

/// Promises that must hold in every run, by their numbers in the list of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// I1: an accepted event is handed over, or parked for a reason that the run declared in advance.
    NoLoss,
    /// I2: only events that a platform sent are handed over.
    NoPhantom,
    /// I3: events reach only agents that may have them.
    NoMisdelivery,
    /// I4: an entry is not handed over again after its ack.
    NoDuplicate,
    /// I5: an entry has one id.
    StableId,
    /// I6: entries arrive in order.
    Order,
    /// I7: sequence numbers have no holes.
    NoHoles,
    /// I8: an entry is done only after an ack.
    AckGated,
    /// I9: a resource has one owner at a time.
    OneOwner,
    /// I10: a fire is taken once, under one id, and never early.
    Fire,
    /// I11: a cancelled job is not delivered afterwards.
    Cancel,
    /// I12: an agent without a line is called while entries wait.
    Wake,
    /// I13: a stop reaches the turn that it names.
    Stop,
    /// I14: a capability is used for its own agent and before it expires.
    Capability,
    /// I15: a revoked gateway is no longer served.
    Revoked,
    /// I16: only a revoked gateway is closed as revoked.
    NoWrongRevocation,
    /// I17: a send is made once, and its gateway gets the true result.
    Outbound,
    /// I18: no URL leads the desk to a forbidden address.
    NoHoneypot,
    /// I19: a line holds no more than its window.
    Window,
    /// I21: a confirmed event is stored.
    DurableBeforeAck,
    /// I22: no secret leaks.
    NoLeak,
    /// I23: the audit chain verifies.
    AuditWhole,
    /// I24: a minute after the last fault every event is delivered.
    Heals,
    /// I25: a permitted letter is accepted, and a question gets one reply or none, the same on each read.
    Exchange,
    /// I26: an item on a shelf is as written, with one version per change.
    Shelf,
}

impl Invariant {
    /// Returns its number in the list of promises.
    pub const fn number(self) -> &'static str {
        match self {
            Self::NoLoss => "I1",
            Self::NoPhantom => "I2",
            Self::NoMisdelivery => "I3",
            Self::NoDuplicate => "I4",
            Self::StableId => "I5",
            Self::Order => "I6",
            Self::NoHoles => "I7",
            Self::AckGated => "I8",
            Self::OneOwner => "I9",
            Self::Fire => "I10",
            Self::Cancel => "I11",
            Self::Wake => "I12",
            Self::Stop => "I13",
            Self::Capability => "I14",
            Self::Revoked => "I15",
            Self::NoWrongRevocation => "I16",
            Self::Outbound => "I17",
            Self::NoHoneypot => "I18",
            Self::Window => "I19",
            Self::DurableBeforeAck => "I21",
            Self::NoLeak => "I22",
            Self::AuditWhole => "I23",
            Self::Heals => "I24",
            Self::Exchange => "I25",
            Self::Shelf => "I26",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

impl Serialize for Invariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.number())
    }
}

/// Maximum violations of one promise that are described. All are counted.
const TOLD_MAX: u64 = 25;

/// A broken promise, and the records that show it.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) invariant: Invariant,
    pub(crate) what: String,
    pub(crate) records: Vec<u32>,
}

/// All violations.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) told: Vec<Finding>,
    pub(crate) counts: BTreeMap<Invariant, u64>,
}

impl Findings {
    /// Adds a violation, and the records that show it.
    fn add(
        &mut self,
        invariant: Invariant,
        marks: impl IntoIterator<Item = Mark>,
        what: impl FnOnce() -> String,
    ) {
        let count = self.counts.entry(invariant).or_default();
        *count += 1;
        if *count <= TOLD_MAX {
            let mut records: Vec<u32> = marks.into_iter().map(|mark| mark.record).collect();
            records.sort_unstable();
            records.dedup();
            self.told.push(Finding { invariant, what: what(), records });
        }
    }
}

/// Checks a history for every promise.
pub(crate) fn all(history: &History) -> Findings {
    let mut findings = Findings::default();
    for check in [
        lost::check,
        handed::check,
        doubled::check,
        ids::check,
        order::check,
        tables::check,
        owner::check,
        fire::check,
        cancel::check,
        wake::check,
        stop::check,
        lent::check,
        plainly::check,
        revoked::check,
        outbound::check,
        window::check,
        exchange::check,
        shelf::check,
        never::check,
    ] {
        check(history, &mut findings);
    }
    findings
}
