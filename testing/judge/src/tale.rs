//! Builds test histories with a millisecond between two records.

use crate::check;
use crate::event::{EntryState, Event, Record};
use crate::history::History;

/// Nanoseconds in a millisecond.
const MILLI_NS: u64 = 1_000_000;

/// A history of a test.
#[derive(Clone, Debug)]
pub(crate) struct Tale {
    pub(crate) records: Vec<Record>,
    at_ns: u64,
}

/// The place of an event among those of its platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatPlace<'a> {
    pub(crate) chat: &'a str,
    /// The event's place in the chat's own order, if the chat has one.
    pub(crate) order: Option<u64>,
}

impl Tale {
    /// Creates a run without faults in which two agents each got their event.
    pub(crate) fn clean() -> Self {
        Self::begun(false)
    }

    /// Creates such a run with a fault that is over.
    pub(crate) fn with_faults() -> Self {
        let mut tale = Self::begun(true);
        tale.fault_on("f1", "redis").fault_off("f1");
        tale
    }

    fn begun(faults: bool) -> Self {
        let mut tale = Self { records: Vec::new(), at_ns: 0 };
        tale.note(Event::Begin { seed: 1, faults });
        tale.opened("c1", "alice").opened("c2", "bob");
        tale.said("n1", &["alice"]).said("n2", &["alice", "bob"]);
        for (conn, agent, nonce) in
            [("c1", "alice", "n1"), ("c1", "alice", "n2"), ("c2", "bob", "n2")]
        {
            tale.handed(conn, agent, nonce).acked(conn, agent, nonce);
        }
        tale
    }

    pub(crate) fn note(&mut self, ev: Event) -> &mut Self {
        self.at_ns += MILLI_NS;
        let n = self.records.len() as u64 + 1;
        self.records.push(Record { at_ns: self.at_ns, proc: "all".to_owned(), n, ev });
        self
    }

    pub(crate) fn note_all(&mut self, events: Vec<Event>) {
        for event in events {
            self.note(event);
        }
    }

    pub(crate) fn wait_ms(&mut self, ms: u64) -> &mut Self {
        self.at_ns += ms * MILLI_NS;
        self
    }

    /// Returns the time of the next record.
    pub(crate) const fn now_ns(&self) -> u64 {
        self.at_ns + MILLI_NS
    }

    pub(crate) fn said(&mut self, nonce: &str, expect: &[&str]) -> &mut Self {
        self.said_in_order(nonce, expect, None)
    }

    pub(crate) fn said_in_order(
        &mut self,
        nonce: &str,
        expect: &[&str],
        order: Option<u64>,
    ) -> &mut Self {
        self.said_in(nonce, expect, ChatPlace { chat: "chat", order })
    }

    /// Adds an event of a chat.
    pub(crate) fn said_in(
        &mut self,
        nonce: &str,
        expect: &[&str],
        place: ChatPlace<'_>,
    ) -> &mut Self {
        let ChatPlace { chat, order } = place;
        let id = format!("event-{nonce}");
        let [bot, chat, user, nonce] = ["bot", chat, "user", nonce].map(str::to_owned);
        let expect = expect.iter().map(|&agent| agent.to_owned()).collect();
        self.note(Event::PlatSend { id: id.clone(), bot, chat, user, nonce, expect, order });
        self.note(Event::PlatAck { id, attempt: 1, status: 200 })
    }

    pub(crate) fn opened(&mut self, conn: &str, agent: &str) -> &mut Self {
        let (conn, gateway, agent) = (conn.to_owned(), format!("g-{agent}"), agent.to_owned());
        self.note(Event::GwOpen { conn, gateway, agent })
    }

    pub(crate) fn closed(&mut self, conn: &str, code: u16) -> &mut Self {
        self.note(Event::GwClose { conn: conn.to_owned(), code, reason: String::new() })
    }

    pub(crate) fn handed(&mut self, conn: &str, agent: &str, nonce: &str) -> &mut Self {
        self.handed_bytes(conn, agent, nonce, 100)
    }

    pub(crate) fn handed_bytes(
        &mut self,
        conn: &str,
        agent: &str,
        nonce: &str,
        bytes: u32,
    ) -> &mut Self {
        self.handed_with(conn, agent, nonce, |event| {
            if let Event::GwRecv { bytes: b, .. } = event {
                *b = bytes;
            }
        })
    }

    /// Adds a receipt under a given id.
    pub(crate) fn handed_as(
        &mut self,
        conn: &str,
        agent: &str,
        nonce: &str,
        id: &str,
    ) -> &mut Self {
        self.handed_with(conn, agent, nonce, |event| {
            if let Event::GwRecv { buffer_id, .. } = event {
                id.clone_into(buffer_id);
            }
        })
    }

    /// Adds a receipt of a frame that clients do not ack.
    pub(crate) fn passed(&mut self, conn: &str, agent: &str, nonce: &str) -> &mut Self {
        self.handed_with(conn, agent, nonce, |event| {
            if let Event::GwRecv { passthrough, .. } = event {
                *passthrough = true;
            }
        })
    }

    fn handed_with(
        &mut self,
        conn: &str,
        agent: &str,
        nonce: &str,
        change: impl FnOnce(&mut Event),
    ) -> &mut Self {
        let buffer_id = id(agent, nonce);
        let [conn, agent, nonce] = [conn, agent, nonce].map(str::to_owned);
        let (bytes, passthrough) = (100, false);
        let mut event = Event::GwRecv { conn, agent, buffer_id, nonce, bytes, passthrough };
        change(&mut event);
        self.note(event)
    }

    pub(crate) fn acked(&mut self, conn: &str, agent: &str, nonce: &str) -> &mut Self {
        self.acked_as(conn, agent, &id(agent, nonce))
    }

    pub(crate) fn acked_as(&mut self, conn: &str, agent: &str, id: &str) -> &mut Self {
        let [conn, agent, buffer_id] = [conn, agent, id].map(str::to_owned);
        self.note(Event::GwAck { conn, agent, buffer_id })
    }

    pub(crate) fn inbox(
        &mut self,
        agent: &str,
        seq: u64,
        nonce: &str,
        state: EntryState,
    ) -> &mut Self {
        let buffer_id = id(agent, nonce);
        self.note(Event::Inbox { agent: agent.to_owned(), seq, buffer_id, state })
    }

    pub(crate) fn parked(&mut self, agent: &str, seq: u64, nonce: &str, reason: &str) -> &mut Self {
        let (buffer_id, reason) = (id(agent, nonce), reason.to_owned());
        self.note(Event::Parked { agent: agent.to_owned(), seq, buffer_id, reason })
    }

    pub(crate) fn fault_on(&mut self, id: &str, target: &str) -> &mut Self {
        let [id, fault, target] = [id, "cut", target].map(str::to_owned);
        self.note(Event::FaultOn { id, fault, target })
    }

    pub(crate) fn fault_off(&mut self, id: &str) -> &mut Self {
        self.note(Event::FaultOff { id: id.to_owned() })
    }

    /// Returns the numbers of the broken promises after the run is over.
    pub(crate) fn broken(&self) -> Vec<&'static str> {
        let mut tale = self.clone();
        tale.note(Event::Quiesce);
        tale.broken_so_far()
    }

    /// Returns the numbers of the broken promises without an end of the run.
    pub(crate) fn broken_so_far(&self) -> Vec<&'static str> {
        self.counts().into_iter().map(|(number, _)| number).collect()
    }

    /// Returns the broken promises with their numbers of violations.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let mut history = History::default();
        self.records.iter().for_each(|record| history.take(record));
        let counts = check::all(&history.finish()).counts;
        counts.into_iter().map(|(invariant, count)| (invariant.number(), count)).collect()
    }
}

/// Returns the default id of an entry.
fn id(agent: &str, nonce: &str) -> String {
    format!("{agent}-{nonce}")
}
