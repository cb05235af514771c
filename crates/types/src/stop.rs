//! Requests to stop a running turn of an agent, and their results.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::STOP_ID_BYTES_MAX;

/// The id of one stop, by which the answer of a client finds the node that waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct StopId(String);

impl StopId {
    /// Accepts a short text of letters, digits, `-` and `_`.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let fits = (1..=STOP_ID_BYTES_MAX).contains(&text.len());
        (fits && text.bytes().all(is_plain)).then_some(Self(text))
    }

    /// Creates the id of a stop from a random number.
    pub fn from_random(random: u128) -> Self {
        Self(format!("{random:032x}"))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of a stop's result: the stop, and the node that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopReceiver {
    /// The stop.
    pub stop_id: StopId,
    /// The node.
    pub node: String,
}

/// The result of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopOutcome {
    /// The client stopped the running turn.
    Stopped,
    /// No turn of the session runs.
    NotRunning,
    /// The stop reached the client, which does not answer stops, or not in time.
    Delivered,
    /// The stop did not reach the client.
    Undelivered,
}

crate::slugs! {
    StopOutcome:
    Stopped = "stopped",
    NotRunning = "not-running",
    Delivered = "delivered",
    Undelivered = "undelivered",
}

impl StopOutcome {
    /// Returns the outcome that a client reports.
    pub const fn from_answer(stopped: bool) -> Self {
        if stopped { Self::Stopped } else { Self::NotRunning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_id_is_short_and_plain() {
        let longest = "a".repeat(STOP_ID_BYTES_MAX);

        assert!(StopId::new(longest.as_str()).is_some());
        for text in ["", "a b", "a/b", "\u{e9}", &format!("{longest}a")] {
            assert!(StopId::new(text).is_none(), "{text:?}");
        }
        let random = StopId::from_random(7);
        assert_eq!(StopId::new(random.as_str()), Some(random));
    }

    #[test]
    fn an_outcome_has_one_name_in_rows_and_on_the_wire() {
        for outcome in StopOutcome::ALL {
            assert_eq!(serde_json::json!(outcome), outcome.slug());
        }
    }
}
