//! The live sessions of an agent, which letters can address as `agent@session`.

use std::collections::BTreeSet;

use nightdesk_types::limits::{SESSION_NAME_BYTES_MAX, SESSIONS_MAX};
use serde::Serialize;

/// The names of an agent's live sessions: usable ones, each once, and not too many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SessionNames(BTreeSet<String>);

/// A list of sessions is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSessionNames {
    /// There are too many.
    #[error("an agent names at most {SESSIONS_MAX} live sessions")]
    TooMany,
    /// A name is empty, too long, or has control characters.
    #[error("a session's name has 1 to {SESSION_NAME_BYTES_MAX} bytes without control characters")]
    Unusable,
}

impl SessionNames {
    /// Checks every name.
    pub fn check(names: Vec<String>) -> Result<Self, BadSessionNames> {
        if names.len() > SESSIONS_MAX {
            return Err(BadSessionNames::TooMany);
        }
        if !names.iter().all(|name| is_usable(name)) {
            return Err(BadSessionNames::Unusable);
        }
        Ok(Self(names.into_iter().collect()))
    }

    /// Takes the usable names, at most [`SESSIONS_MAX`], as a frame has no response.
    pub fn from_usable(names: impl IntoIterator<Item = String>) -> Self {
        let usable = names.into_iter().filter(|name| is_usable(name));
        Self(usable.take(SESSIONS_MAX).collect())
    }

    /// Returns true if this session lives.
    pub fn contains(&self, session: &str) -> bool {
        self.0.contains(session)
    }

    /// Returns true if the agent names no session.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names, in order.
    pub fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }
}

fn is_usable(name: &str) -> bool {
    (1..=SESSION_NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_bounds_and_each_counts_once() {
        let long = "x".repeat(SESSION_NAME_BYTES_MAX);
        let many = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let one = |name: &str| vec![name.to_owned()];
        let cases = [
            ("none", Vec::new(), Ok(0)),
            ("twice the same", [one("a"), one("a"), one("b")].concat(), Ok(2)),
            ("the longest", one(&long), Ok(1)),
            ("a longer one", one(&(long.clone() + "x")), Err(BadSessionNames::Unusable)),
            ("empty", one(""), Err(BadSessionNames::Unusable)),
            ("a zero byte", one("a\0"), Err(BadSessionNames::Unusable)),
            ("the most", many(SESSIONS_MAX), Ok(SESSIONS_MAX)),
            ("one more", many(SESSIONS_MAX + 1), Err(BadSessionNames::TooMany)),
        ];
        for (case, names, want) in cases {
            let checked = SessionNames::check(names.clone());
            assert_eq!(
                checked.as_ref().map(|names| names.to_vec().len()),
                want.as_ref().copied(),
                "{case}"
            );
            let usable = SessionNames::from_usable(names);
            assert!(usable.to_vec().len() <= SESSIONS_MAX, "{case}");
            assert!(checked.is_err() || checked == Ok(usable), "{case}");
        }
    }
}
