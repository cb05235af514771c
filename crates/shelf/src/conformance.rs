//! Conformance: what the contract means, as cases that any store can be put to.
//!
//! The cases of the runtime's own suite are in `upstream`; the others ask what that suite leaves out. A
//! case that a store cannot fail proves nothing, so [`planted`] has stores with one fault each, and for
//! each the case that must notice it.
//!
//! Begin with [`skill_store`] and [`data_store`].

mod skill;
mod data;
pub mod planted;

use std::fmt;

use async_trait::async_trait;

use crate::approval::PublicKey;
use crate::contract::{DataStore, SkillStore};
use crate::error::{DataStoreError, SkillStoreError};

pub use data::data_store;
pub use skill::skill_store;

/// Makes stores of skills to be put to the test.
#[async_trait]
pub trait SkillHarness: Send + Sync {
    /// What is put to the test.
    type Store: SkillStore;

    /// An empty store in which whoever writes approves.
    async fn fresh(&self) -> Self::Store;

    /// An empty store in which this key approves, if there can be one.
    async fn secured(&self, key: PublicKey) -> Option<Self::Store>;

    /// Replaces a skill's bytes so that nothing but they change, not even when they were written. Answers
    /// whether that can be done.
    async fn edit_behind(&self, _store: &Self::Store, _name: &str, _source: &str) -> bool {
        false
    }
}

/// Makes stores of data to be put to the test.
#[async_trait]
pub trait DataHarness: Send + Sync {
    /// What is put to the test.
    type Store: DataStore;

    /// An empty store.
    async fn fresh(&self) -> Self::Store;
}

/// What a case found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(String);

/// What came of a case.
pub type Outcome = Result<(), Failed>;

/// What came of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    cases: Vec<(&'static str, Outcome)>,
}

impl Report {
    /// How many cases there were.
    pub const fn cases(&self) -> usize {
        self.cases.len()
    }

    /// How many passed.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|(_, outcome)| outcome.is_ok()).count()
    }

    /// The names of those that did not.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.cases.iter().filter(|(_, outcome)| outcome.is_err());
        failed.map(|(name, _)| *name).collect()
    }

    fn note(&mut self, case: &'static str, outcome: Outcome) {
        self.cases.push((case, outcome));
    }
}

/// One line, and one more for each case that failed.
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
    /// Says what is wrong.
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

/// Fails the case unless this is so.
macro_rules! must {
    ($so:expr, $($what:tt)+) => {
        if !$so {
            return Err($crate::conformance::Failed::because(format!($($what)+)));
        }
    };
}
use must;

/// Fails the case unless both are the same.
macro_rules! same {
    ($is:expr, $want:expr, $what:literal) => {
        match (&$is, &$want) {
            (is, want) if *is != *want => {
                let what = format!("{}: {is:?}, not {want:?}", $what);
                return Err($crate::conformance::Failed::because(what));
            }
            _ => {}
        }
    };
}
use same;

/// Puts a harness to cases, one after the other, each by its own name.
macro_rules! cases {
    ($harness:expr, $($case:path),+ $(,)?) => {{
        let mut report = $crate::conformance::Report::default();
        $(report.note($crate::conformance::last(stringify!($case)), $case($harness).await);)+
        report
    }};
}
use cases;

/// The last word of a path.
fn last(path: &'static str) -> &'static str {
    path.rsplit("::").next().unwrap_or(path).trim()
}

/// Whether a text is three numbers with dots between them.
fn is_version(text: &str) -> bool {
    let numbers: Vec<_> = text.split('.').map(str::parse::<u32>).collect();
    numbers.len() == 3 && numbers.iter().all(Result::is_ok)
}
