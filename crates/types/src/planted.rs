//! Planted bugs: mistakes made on purpose, so that a check can be seen to catch them.
//!
//! They exist only in builds with the feature `planted`, and there only the one named at
//! start is active. Without the feature every question is answered *no* at compile time.

/// The mistakes that can be planted, by their number in the list of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// X1: the source is told "ok" before the commit.
    AckBeforeCommit,
    /// X22: a source's batches are spread over several writers.
    SourceOnTwoWriters,
}

impl Bug {
    /// Every bug that can be planted.
    pub const ALL: [Self; 2] = [Self::AckBeforeCommit, Self::SourceOnTwoWriters];

    /// Its number in the list of promises.
    pub const fn number(self) -> &'static str {
        match self {
            Self::AckBeforeCommit => "X1",
            Self::SourceOnTwoWriters => "X22",
        }
    }
}

#[cfg(feature = "planted")]
mod active {
    use std::sync::OnceLock;

    use super::Bug;

    static PLANTED: OnceLock<Bug> = OnceLock::new();

    /// Plants the bug of this number for the rest of the process.
    ///
    /// Answers whether there is such a bug and no other was planted before.
    pub fn plant(number: &str) -> bool {
        let found = Bug::ALL.into_iter().find(|bug| bug.number() == number);
        found.is_some_and(|bug| PLANTED.set(bug).is_ok())
    }

    /// Whether this bug is planted.
    pub fn is_planted(bug: Bug) -> bool {
        PLANTED.get() == Some(&bug)
    }
}

#[cfg(feature = "planted")]
pub use active::{is_planted, plant};

/// Whether this bug is planted: never, in this build.
#[cfg(not(feature = "planted"))]
pub const fn is_planted(_bug: Bug) -> bool {
    false
}
