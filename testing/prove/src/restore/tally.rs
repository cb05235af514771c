//! Counts what a restore took away, and what it may not take away.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::{EntryState, Event, Record};
use nightdesk_types::{EntryId, Incarnation};

/// The response that confirms an event.
const OK: u16 = 200;

/// The moments of a restore, on the clock of the histories.
#[derive(Clone, Copy, Debug)]
pub struct RestoreMoments {
    /// The start of the restored server.
    pub started_ns: u64,
    /// The history that began with it.
    pub incarnation: Incarnation,
}

/// The counts of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreTally {
    /// Events that were confirmed after the restore, and that an agent did not receive.
    pub lost_after: u64,
    /// Events that were confirmed before the restore, and that an agent did not receive.
    pub lost_before: u64,
    /// Entries of the new history that its cursors passed although no gateway acknowledged them. An acknowledgement
    /// of the old history was counted for each.
    pub stale_acks: u64,
    /// The time from the start of the restored server to the first delivery, if there was one.
    pub first_delivery: Option<Duration>,
}

/// Reads the histories of a run.
pub(super) fn read(folder: &Path, moments: RestoreMoments) -> Result<RestoreTally> {
    let mut counter = Counter::new(moments);
    for entry in fs::read_dir(folder).context("could not read the folder of the run")? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        for line in BufReader::new(file).lines() {
            let line = line.with_context(|| path.display().to_string())?;
            let record = serde_json::from_str(&line)
                .with_context(|| format!("{} has an odd line: {line}", path.display()))?;
            counter.observe(record);
        }
    }
    Ok(counter.finish())
}

/// The relevant part of the histories.
#[derive(Debug)]
struct Counter {
    moments: RestoreMoments,
    /// The agents that must receive an event, by its nonce.
    expected: BTreeMap<String, Vec<String>>,
    /// The time of the first confirmation of an event.
    confirmed: BTreeMap<String, u64>,
    received: BTreeSet<(String, String)>,
    /// Entries that gateways acknowledged or never acknowledge, and those that were parked.
    settled: BTreeSet<String>,
    /// Entries of the new history that its cursors passed.
    passed: BTreeSet<String>,
    first_delivery_ns: Option<u64>,
}

impl Counter {
    fn new(moments: RestoreMoments) -> Self {
        Self {
            moments,
            expected: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            received: BTreeSet::new(),
            settled: BTreeSet::new(),
            passed: BTreeSet::new(),
            first_delivery_ns: None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the judge reads the other events")]
    fn observe(&mut self, Record { at_ns, ev, .. }: Record) {
        match ev {
            // The id of an event is its nonce, too.
            Event::PlatSend { id, expect, .. } => {
                self.expected.insert(id, expect);
            }
            Event::PlatAck { id, status: OK, .. } => {
                self.confirmed.entry(id).or_insert(at_ns);
            }
            Event::GwRecv { agent, nonce, buffer_id, passthrough, .. } => {
                if at_ns >= self.moments.started_ns {
                    let first = self.first_delivery_ns.get_or_insert(at_ns);
                    *first = at_ns.min(*first);
                }
                if passthrough {
                    self.settled.insert(buffer_id);
                }
                self.received.insert((agent, nonce));
            }
            Event::GwAck { buffer_id, .. } | Event::Parked { buffer_id, .. } => {
                self.settled.insert(buffer_id);
            }
            Event::Inbox { buffer_id, state: EntryState::Acked, .. } => {
                let id = buffer_id.parse::<EntryId>();
                if id.is_ok_and(|id| id.incarnation == self.moments.incarnation) {
                    self.passed.insert(buffer_id);
                }
            }
            _ => {}
        }
    }

    fn finish(self) -> RestoreTally {
        let started_ns = self.moments.started_ns;
        let lost = |since: u64, until: u64| {
            let confirmed = self.confirmed.iter().filter(|(_, at)| (since..until).contains(*at));
            let pairs = confirmed.flat_map(|(id, _)| {
                let agents = self.expected.get(id).into_iter().flatten();
                agents.map(move |agent| (agent.clone(), id.clone()))
            });
            pairs.filter(|pair| !self.received.contains(pair)).count() as u64
        };
        let after = self.first_delivery_ns.map(|first| Duration::from_nanos(first - started_ns));
        RestoreTally {
            lost_before: lost(0, started_ns),
            lost_after: lost(started_ns, u64::MAX),
            stale_acks: self.passed.difference(&self.settled).count() as u64,
            first_delivery: after,
        }
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, Seq};
    use uuid::Uuid;

    use super::*;

    const OLD: Incarnation = Incarnation::new(5);
    const NEW: Incarnation = Incarnation::new(6);
    const MOMENTS: RestoreMoments = RestoreMoments { started_ns: 200, incarnation: NEW };

    fn entry(incarnation: Incarnation, seq: i64) -> String {
        let agent = AgentId::from_uuid(Uuid::from_u128(1));
        EntryId { agent, incarnation, seq: Seq::new(seq) }.to_string()
    }

    fn sent(at_ns: u64, id: &str) -> [(u64, Event); 2] {
        let id = id.to_owned();
        let sent = Event::PlatSend {
            id: id.clone(),
            bot: String::new(),
            chat: String::new(),
            user: String::new(),
            nonce: id.clone(),
            expect: vec!["agent-1".to_owned()],
            order: None,
        };
        [(at_ns, sent), (at_ns + 1, Event::PlatAck { id, attempt: 1, status: OK })]
    }

    fn received(at_ns: u64, nonce: &str, buffer_id: String) -> (u64, Event) {
        let received = Event::GwRecv {
            conn: String::new(),
            agent: "agent-1".to_owned(),
            buffer_id,
            nonce: nonce.to_owned(),
            bytes: 1,
            passthrough: false,
        };
        (at_ns, received)
    }

    fn acked(at_ns: u64, buffer_id: String) -> (u64, Event) {
        (at_ns, Event::GwAck { conn: String::new(), agent: "agent-1".to_owned(), buffer_id })
    }

    fn passed(buffer_id: String) -> (u64, Event) {
        let agent = "agent-1".to_owned();
        (900, Event::Inbox { agent, seq: 1, buffer_id, state: EntryState::Acked })
    }

    fn tally(events: Vec<(u64, Event)>) -> RestoreTally {
        let mut counter = Counter::new(MOMENTS);
        for (at_ns, ev) in events {
            counter.observe(Record { at_ns, proc: "p".to_owned(), n: 1, ev });
        }
        counter.finish()
    }

    #[test]
    fn a_clean_restore_counts_nothing() {
        let mut events = [sent(10, "before"), sent(300, "after")].concat();
        events.push(received(20, "before", entry(OLD, 1)));
        events.push(received(260, "before", entry(NEW, 1)));
        events.push(received(320, "after", entry(NEW, 2)));
        events.extend([1, 2].map(|seq| acked(330, entry(NEW, seq))));
        events.extend([1, 2].map(|seq| passed(entry(NEW, seq))));

        let first_delivery = Some(Duration::from_nanos(60));
        let clean = RestoreTally { lost_after: 0, lost_before: 0, stale_acks: 0, first_delivery };
        assert_eq!(tally(events), clean);
    }

    #[test]
    fn an_event_that_no_agent_received_is_lost() {
        let counted = tally([sent(10, "before"), sent(300, "after")].concat());

        assert_eq!((counted.lost_before, counted.lost_after), (1, 1));
        assert_eq!(counted.first_delivery, None);
    }

    #[test]
    fn a_cursor_that_passed_an_entry_without_its_ack_is_a_stale_ack() {
        let acked_before = acked(50, entry(OLD, 2));
        let counted = tally(vec![acked_before, passed(entry(NEW, 2)), passed(entry(OLD, 3))]);

        assert_eq!(counted.stale_acks, 1);
    }
}
