//! The promises, each a function over a history.

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

/// What must hold in every run, by its number in the list of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// I1: what was taken is handed over, or set aside for a reason named in advance.
    NoLoss,
    /// I2: nothing is handed over that nobody sent.
    NoPhantom,
    /// I3: nothing is handed to whom it is not for.
    NoMisdelivery,
    /// I4: nothing is handed over again after its ack.
    NoDuplicate,
    /// I5: an entry has one id.
    StableId,
    /// I6: entries come in order.
    Order,
    /// I7: numbers have no holes.
    NoHoles,
    /// I8: nothing is done without an ack.
    AckGated,
    /// I9: one owner at a time.
    OneOwner,
    /// I10: a fire is taken once, under one id, and never early.
    Fire,
    /// I11: what was cancelled is not told afterwards.
    Cancel,
    /// I12: who sleeps while entries wait is called.
    Wake,
    /// I13: a stop reaches the turn it names.
    Stop,
    /// I14: what was lent is used for whom it was lent to, and in time.
    Capability,
    /// I15: who was revoked gets nothing more.
    Revoked,
    /// I16: nobody else is told so.
    NoWrongRevocation,
    /// I17: a send is said once, and its gateway knows.
    Outbound,
    /// I18: nobody leads the desk where it must not go.
    NoHoneypot,
    /// I19: a line holds no more than its window.
    Window,
    /// I21: what was taken is stored.
    DurableBeforeAck,
    /// I22: no secret leaks.
    NoLeak,
    /// I23: what was done is told, and nobody changed it.
    AuditWhole,
    /// I24: a minute after the last fault everything is well.
    Heals,
    /// I25: who may write to an agent can, and who asks it gets one reply, or none, whenever they ask.
    Exchange,
    /// I26: what was put on a shelf is there, and each change of it once.
    Shelf,
}

impl Invariant {
    /// Its number in the list of promises.
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

/// How many violations of one promise are told in words. All are counted.
const TOLD_MAX: u64 = 25;

/// A promise that was not kept, and the records that show it.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) invariant: Invariant,
    pub(crate) what: String,
    pub(crate) records: Vec<u32>,
}

/// What was found.
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

/// Asks a history for every promise.
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
