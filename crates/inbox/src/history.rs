//! Recognises that a store lost commits.
//!
//! A failover to a standby that lagged, a restore and a snapshot that was put back take commits away, and the numbers of
//! lost entries and lines are given out again. The store then begins a new [`Incarnation`]: acks and reads of lines that
//! began earlier are refused, and an entry's id is never given out twice.

use nightdesk_types::Incarnation;

/// The history that a store has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedHistory {
    /// Its number.
    pub incarnation: Incarnation,
    /// The id of the server that wrote it.
    pub system_id: i64,
    /// The timeline of that server.
    pub timeline: i32,
}

/// The position of a server in its own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPosition {
    /// The server's id, which only a new cluster changes.
    pub system_id: i64,
    /// The timeline, which a promotion and a restore change.
    pub timeline: i32,
    /// The bytes of log that were ever written. They only grow, unless an older copy of the files was put back.
    pub log_bytes: i64,
}

/// The furthest position at which a node saw a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenPosition {
    /// The history.
    pub incarnation: Incarnation,
    /// The bytes of log that were written.
    pub log_bytes: i64,
}

/// The sign by which the end of a history was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryBreak {
    /// Another server serves the data.
    OtherServer,
    /// The server was promoted or restored.
    OtherTimeline,
    /// The server's log is shorter than it was.
    LogMovedBack,
    /// A line acknowledged an entry that the inbox does not have.
    AckBeyondHead,
}

nightdesk_types::slugs! {
    HistoryBreak:
    OtherServer = "other-server",
    OtherTimeline = "other-timeline",
    LogMovedBack = "log-moved-back",
    AckBeyondHead = "ack-beyond-head",
}

/// Returns the sign that the recorded history is over, if there is one. A position that was seen in an earlier history
/// proves nothing about this one.
pub fn find_break(
    recorded: RecordedHistory,
    server: ServerPosition,
    seen: Option<SeenPosition>,
) -> Option<HistoryBreak> {
    let was_further = |seen: SeenPosition| {
        seen.incarnation == recorded.incarnation && seen.log_bytes > server.log_bytes
    };
    if recorded.system_id != server.system_id {
        Some(HistoryBreak::OtherServer)
    } else if recorded.timeline != server.timeline {
        Some(HistoryBreak::OtherTimeline)
    } else if seen.is_some_and(was_further) {
        Some(HistoryBreak::LogMovedBack)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: RecordedHistory =
        RecordedHistory { incarnation: Incarnation::new(5), system_id: 1, timeline: 1 };
    const SERVER: ServerPosition = ServerPosition { system_id: 1, timeline: 1, log_bytes: 100 };

    const fn seen(incarnation: i64, log_bytes: i64) -> SeenPosition {
        SeenPosition { incarnation: Incarnation::new(incarnation), log_bytes }
    }

    #[test]
    fn a_server_that_goes_on_keeps_its_history() {
        for seen in [None, Some(seen(5, 99)), Some(seen(5, 100)), Some(seen(4, 101))] {
            assert_eq!(find_break(RECORDED, SERVER, seen), None, "{seen:?}");
        }
    }

    #[test]
    fn each_loss_of_commits_ends_the_history() {
        let promoted = ServerPosition { timeline: 2, ..SERVER };
        let copied = ServerPosition { system_id: 2, ..SERVER };
        assert_eq!(find_break(RECORDED, promoted, None), Some(HistoryBreak::OtherTimeline));
        assert_eq!(find_break(RECORDED, copied, None), Some(HistoryBreak::OtherServer));
        let further = Some(seen(5, 101));
        assert_eq!(find_break(RECORDED, SERVER, further), Some(HistoryBreak::LogMovedBack));
    }
}
