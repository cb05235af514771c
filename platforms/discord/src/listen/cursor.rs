//! Cursor: a session with Discord, and how far it was heard.

use serde::{Deserialize, Serialize};

/// Where to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Discord's name for the session.
    pub(super) session: String,
    /// Where it goes on.
    pub(super) url: String,
    /// The number of the last event.
    pub(super) seq: u64,
}

impl Cursor {
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn write(&self) -> String {
        // Texts and a number can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether it stands at this one, or after it in the same session.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.session == other.session && self.seq >= other.seq
    }
}
