//! Recognises that a store lost commits.
//!
//! A failover to a standby that lagged, a restore and a snapshot that was put back take commits away, and the numbers of
//! lost entries and lines are given out again. The store then begins a new [`Incarnation`]: acks and reads of lines that
//! began earlier are refused, and an entry's id is never given out twice.

use std::collections::VecDeque;

use nightdesk_types::Incarnation;

/// Number of ended histories that a node remembers; above it, the oldest are dropped.
const ENDED_MAX: usize = 64;

/// The history that a store has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedHistory {
    /// Its number.
    pub incarnation: Incarnation,
    /// The id of the server that wrote it.
    pub system_id: i64,
    /// The timeline of that server.
    pub timeline: i32,
    /// The id of the table into which it was written.
    pub table_id: i64,
}

/// The position of a server in its own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPosition {
    /// The server's id, which only a new cluster changes.
    pub system_id: i64,
    /// The timeline, which a promotion and a restore change.
    pub timeline: i32,
    /// The id of the table that has the recorded history. Loading a dump creates another table.
    pub table_id: i64,
    /// The bytes of log on the disk. They only grow, unless an older copy of the files was put back.
    pub log_bytes: i64,
}

/// The histories that a node saw.
#[derive(Clone, Debug, Default)]
pub struct SeenHistories {
    current: Option<SeenPosition>,
    ended: VecDeque<Incarnation>,
}

/// The furthest position at which a node saw a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeenPosition {
    incarnation: Incarnation,
    log_bytes: i64,
}

impl SeenHistories {
    /// Records a position of a history. Returns false if the history ended before: a connection was slow to say so.
    pub fn record(&mut self, incarnation: Incarnation, log_bytes: i64) -> bool {
        if self.ended.contains(&incarnation) {
            return false;
        }
        match &mut self.current {
            Some(seen) if seen.incarnation == incarnation => {
                seen.log_bytes = seen.log_bytes.max(log_bytes);
            }
            current => {
                let before = current.replace(SeenPosition { incarnation, log_bytes });
                self.ended.extend(before.map(|seen| seen.incarnation));
                if self.ended.len() > ENDED_MAX {
                    self.ended.pop_front();
                }
            }
        }
        true
    }
}

/// The sign by which the end of a history was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryBreak {
    /// Another server serves the data.
    OtherServer,
    /// The server was promoted or restored.
    OtherTimeline,
    /// The rows were loaded from a dump.
    OtherTable,
    /// The server's log is shorter than it was.
    LogMovedBack,
    /// The history ended before, and an older copy of the files has it again.
    EndedBefore,
    /// A line acknowledged an entry that the inbox does not have.
    AckBeyondHead,
    /// The operator said so: an older copy of the files was put back while no node ran.
    Declared,
}

nightdesk_types::slugs! {
    HistoryBreak:
    OtherServer = "other-server",
    OtherTimeline = "other-timeline",
    OtherTable = "other-table",
    LogMovedBack = "log-moved-back",
    EndedBefore = "ended-before",
    AckBeyondHead = "ack-beyond-head",
    Declared = "declared",
}

/// Returns the sign that the recorded history is over, if there is one. A position that was seen in an earlier history
/// proves nothing about this one.
pub fn find_break(
    recorded: RecordedHistory,
    server: ServerPosition,
    seen: &SeenHistories,
) -> Option<HistoryBreak> {
    let was_further = |seen: SeenPosition| {
        seen.incarnation == recorded.incarnation && seen.log_bytes > server.log_bytes
    };
    if recorded.system_id != server.system_id {
        Some(HistoryBreak::OtherServer)
    } else if recorded.timeline != server.timeline {
        Some(HistoryBreak::OtherTimeline)
    } else if recorded.table_id != server.table_id {
        Some(HistoryBreak::OtherTable)
    } else if seen.ended.contains(&recorded.incarnation) {
        Some(HistoryBreak::EndedBefore)
    } else if seen.current.is_some_and(was_further) {
        Some(HistoryBreak::LogMovedBack)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Incarnation = Incarnation::new(4);
    const SECOND: Incarnation = Incarnation::new(5);
    const RECORDED: RecordedHistory =
        RecordedHistory { incarnation: SECOND, system_id: 1, timeline: 1, table_id: 1 };
    const SERVER: ServerPosition =
        ServerPosition { system_id: 1, timeline: 1, table_id: 1, log_bytes: 100 };

    fn seen(positions: &[(Incarnation, i64)]) -> SeenHistories {
        let mut seen = SeenHistories::default();
        for (incarnation, log_bytes) in positions {
            assert!(seen.record(*incarnation, *log_bytes));
        }
        seen
    }

    #[test]
    fn a_server_that_goes_on_keeps_its_history() {
        let positions: [&[_]; 4] =
            [&[], &[(SECOND, 99)], &[(SECOND, 100), (SECOND, 98)], &[(FIRST, 101), (SECOND, 100)]];
        for positions in positions {
            assert_eq!(find_break(RECORDED, SERVER, &seen(positions)), None, "{positions:?}");
        }
    }

    #[test]
    fn each_loss_of_commits_ends_the_history() {
        let none = SeenHistories::default();
        let promoted = ServerPosition { timeline: 2, ..SERVER };
        let copied = ServerPosition { system_id: 2, ..SERVER };
        let loaded = ServerPosition { table_id: 2, ..SERVER };
        assert_eq!(find_break(RECORDED, promoted, &none), Some(HistoryBreak::OtherTimeline));
        assert_eq!(find_break(RECORDED, copied, &none), Some(HistoryBreak::OtherServer));
        assert_eq!(find_break(RECORDED, loaded, &none), Some(HistoryBreak::OtherTable));
        let further = seen(&[(SECOND, 101), (SECOND, 99)]);
        assert_eq!(find_break(RECORDED, SERVER, &further), Some(HistoryBreak::LogMovedBack));
    }

    #[test]
    fn a_history_that_ended_does_not_come_back() {
        let mut seen = seen(&[(SECOND, 50), (FIRST, 60)]);
        assert_eq!(find_break(RECORDED, SERVER, &seen), Some(HistoryBreak::EndedBefore));
        assert!(!seen.record(SECOND, 100), "a slow connection changes nothing");
        assert!(seen.record(FIRST, 61));
    }

    #[test]
    fn few_ended_histories_are_remembered() {
        let mut seen = SeenHistories::default();
        for number in 0..1000 {
            assert!(seen.record(Incarnation::new(number), 0));
        }
        assert_eq!(seen.ended.len(), ENDED_MAX);
    }
}
