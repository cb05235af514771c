//! Test suites of the contract for any store.
//!
//! The cases of the runtime's own suite are in `upstream`; the others cover its gaps. A case that no store can fail
//! proves nothing, so [`planted`] has stores with one fault each, and for each fault the case that must detect it.
//!
//! Begin with [`skill_store`] and [`data_store`].

mod skill;
mod data;
mod memory;
pub mod planted;

use std::fmt;

use async_trait::async_trait;
use nightdesk_shelf::{DataStore, DataStoreError, PublicKey, SkillStore, SkillStoreError};

pub use data::data_store;
pub use memory::MemoryShelves;
pub use skill::skill_store;

/// Creates stores of skills for the tests.
#[async_trait]
pub trait SkillHarness: Send + Sync {
    /// The tested store.
    type Store: SkillStore;

    /// Creates an empty store in unsecured mode.
    async fn fresh(&self) -> Self::Store;

    /// Creates an empty store in secured mode with this key, if the implementation supports it.
    async fn secured(&self, key: PublicKey) -> Option<Self::Store>;

    /// Replaces a skill's bytes and changes nothing else, not even their time. Returns true if that is possible.
    async fn edit_behind(&self, _store: &Self::Store, _name: &str, _source: &str) -> bool {
        false
    }
}

/// Creates stores of data for the tests.
#[async_trait]
pub trait DataHarness: Send + Sync {
    /// The tested store.
    type Store: DataStore;

    /// Creates an empty store.
    async fn fresh(&self) -> Self::Store;
}

/// The failure of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(String);

/// The result of a case.
pub type Outcome = Result<(), Failed>;

/// The result of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    cases: Vec<(&'static str, Outcome)>,
}

impl Report {
    /// Returns the number of cases.
    pub const fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Returns the number of passed cases.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|(_, outcome)| outcome.is_ok()).count()
    }

    /// Returns the names of the failed cases.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.cases.iter().filter(|(_, outcome)| outcome.is_err());
        failed.map(|(name, _)| *name).collect()
    }

    fn note(&mut self, case: &'static str, outcome: Outcome) {
        self.cases.push((case, outcome));
    }
}

/// Writes one line, and one more for each failed case.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cases={} passed={}", self.cases(), self.passed())?;
        for (name, outcome) in &self.cases {
            if let Err(failed) = outcome {
                write!(f, "\n  {name}: {failed}")?;
            }
        }
        Ok(())
    }
}

impl Failed {
    /// Creates a failure with this reason.
    pub fn because(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<SkillStoreError> for Failed {
    fn from(error: SkillStoreError) -> Self {
        Self(format!("{}: {error}", error.class()))
    }
}

impl From<DataStoreError> for Failed {
    fn from(error: DataStoreError) -> Self {
        Self(format!("{}: {error}", error.class()))
    }
}

impl From<serde_json::Error> for Failed {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// Fails the case unless the condition is true.
macro_rules! must {
    ($so:expr, $($what:tt)+) => {
        if !$so {
            return Err($crate::shelf_contract::Failed::because(format!($($what)+)));
        }
    };
}
use must;

/// Fails the case unless both values are equal.
macro_rules! same {
    ($is:expr, $want:expr, $what:literal) => {
        match (&$is, &$want) {
            (is, want) if *is != *want => {
                let what = format!("{}: {is:?}, not {want:?}", $what);
                return Err($crate::shelf_contract::Failed::because(what));
            }
            _ => {}
        }
    };
}
use same;

/// Runs cases one after the other and records each by its name.
macro_rules! cases {
    ($harness:expr, $($case:path),+ $(,)?) => {{
        let mut report = $crate::shelf_contract::Report::default();
        $(report.note($crate::shelf_contract::last(stringify!($case)), $case($harness).await);)+
        report
    }};
}
use cases;

/// Returns the last segment of a path.
fn last(path: &'static str) -> &'static str {
    path.rsplit("::").next().unwrap_or(path).trim()
}

/// Returns true if a text is three numbers separated by dots.
fn is_version(text: &str) -> bool {
    let numbers: Vec<_> = text.split('.').map(str::parse::<u32>).collect();
    numbers.len() == 3 && numbers.iter().all(Result::is_ok)
}
