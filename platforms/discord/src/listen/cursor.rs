//! The position in each session with Discord.

use serde::{Deserialize, Serialize};

/// The position in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionCursor {
    /// Discord's id of the session.
    pub(super) session: String,
    /// The address to resume at.
    pub(super) url: String,
    /// Sequence number of the last event.
    pub(super) seq: u64,
}

impl SessionCursor {
    /// Returns true if this position is at or after `other` in the same session.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.session == other.session && self.seq >= other.seq
    }
}

/// The position of each of a bot's sockets. A bot has one socket unless it is in very many servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SocketCursors(pub(super) Vec<Option<SessionCursor>>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredCursors {
    One(SessionCursor),
    Several { sockets: Vec<Option<SessionCursor>> },
}

impl SocketCursors {
    /// Returns initial positions for this number of sockets.
    pub(super) fn new(sockets: usize) -> Self {
        Self(vec![None; sockets])
    }

    pub(super) fn parse(text: Option<&str>) -> Self {
        match text.and_then(|text| serde_json::from_str(text).ok()) {
            Some(StoredCursors::One(cursor)) => Self(vec![Some(cursor)]),
            Some(StoredCursors::Several { sockets }) if !sockets.is_empty() => Self(sockets),
            Some(StoredCursors::Several { .. }) | None => Self::new(1),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let written = match self.0.as_slice() {
            [Some(one)] => StoredCursors::One(one.clone()),
            sockets => StoredCursors::Several { sockets: sockets.to_vec() },
        };
        // Serialization of strings and numbers cannot fail.
        serde_json::to_string(&written).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let one = SessionCursor { session: "s".to_owned(), url: "ws://x".to_owned(), seq: 7 };
        for cursors in [vec![Some(one.clone())], vec![None, Some(one), None], vec![None]] {
            let cursors = SocketCursors(cursors);
            assert_eq!(SocketCursors::parse(Some(&cursors.to_text())), cursors);
        }
        for nothing in [None, Some(""), Some("{}"), Some(r#"{"sockets":[]}"#)] {
            assert_eq!(SocketCursors::parse(nothing), SocketCursors::new(1), "{nothing:?}");
        }
    }
}
