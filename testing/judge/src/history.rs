//! All records of a run in order of time, indexed for the checks.
//!
//! Texts become numbers and records become rows, so that ten million of them fit into memory.

mod faults;
mod handover;
mod letters;
mod rows;
mod take;
mod time;

pub(crate) use faults::{Fault, Kind};
pub(crate) use letters::{Came, Letter, LetterAnswer, Reply, ShelfLeak, ShelfPut, ShelfRow};
pub(crate) use rows::{
    About, Ack, Answer, Ask, Close, Entry, Epoch, Frozen, Line, Loan, Mark, MayPark, Owning, Pair,
    Park, Receipt, Said, Send, Socket, Stop, Use,
};
pub(crate) use time::{FireReceipt, FireRow, JobAsk, JobWish};

use crate::names::{ByName, Name, Names};

/// A whole run.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) names: Names,
    pub(crate) events: u32,
    /// Number of `Begin` events. A valid run has one.
    pub(crate) begins: u32,
    /// True if faults are to be expected.
    pub(crate) faulty: bool,
    pub(crate) quiesced: Option<Mark>,
    pub(crate) last: Option<Mark>,

    // the platforms
    pub(crate) sends: Vec<Send>,
    expected: Vec<Name>,
    send_by_id: ByName,
    send_by_nonce: ByName,
    pub(crate) missing: Vec<About>,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) said: Vec<Said>,
    pub(crate) loans: Vec<Loan>,
    pub(crate) uses: Vec<Use>,

    // the gateways
    /// By agent, nonce and time.
    pub(crate) receipts: Vec<Receipt>,
    acks: Vec<Ack>,
    pub(crate) lines: Vec<Line>,
    line_by_conn: ByName,
    pub(crate) stops: Vec<Stop>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) uses_asked: Vec<Use>,
    /// By agent and nonce.
    pub(crate) pairs: Vec<Pair>,

    // the targets
    pub(crate) calls: Vec<About>,
    pub(crate) honeypots: Vec<About>,

    // the agents that have jobs
    pub(crate) job_asks: Vec<JobAsk>,
    job_ask_by_request: ByName,
    pub(crate) fire_receipts: Vec<FireReceipt>,
    fire_by_receipt: ByName,

    // the agents that write to each other
    pub(crate) letters: Vec<Letter>,
    letter_by_id: ByName,
    pub(crate) letter_answers: Vec<LetterAnswer>,
    /// Number of forbidden letters that were refused.
    pub(crate) letters_refused: u64,
    /// Permitted letters that were refused.
    pub(crate) letters_denied: Vec<About>,
    pub(crate) replies: Vec<Reply>,
    pub(crate) shelf_puts: Vec<ShelfPut>,
    put_by_request: ByName,
    pub(crate) shelf_rows: Vec<ShelfRow>,
    pub(crate) shelf_leaks: Vec<ShelfLeak>,

    // the driver
    pub(crate) faults: Vec<Fault>,
    pub(crate) frozen: Vec<Frozen>,
    pub(crate) wakeable: Vec<About>,
    /// Agents to which the desk posts.
    pub(crate) posted: Vec<About>,
    pub(crate) may_park: Vec<MayPark>,
    pub(crate) resubmitted: Vec<About>,
    pub(crate) revoked: Vec<About>,
    pub(crate) bad_secrets: Vec<About>,
    pub(crate) stops_asked: Vec<Stop>,
    pub(crate) canaries: Vec<About>,
    pub(crate) audit_faults: Vec<About>,
    pub(crate) started: Vec<About>,
    pub(crate) killed: Vec<Killed>,

    // the tables and the nodes
    pub(crate) entries: Vec<Entry>,
    entry_by_buffer: ByName,
    pub(crate) parks: Vec<Park>,
    pub(crate) fire_rows: Vec<FireRow>,
    pub(crate) epochs: Vec<Epoch>,
}

/// A process that was killed on purpose, and the number of its records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Killed {
    pub(crate) mark: Mark,
    pub(crate) proc: Name,
    pub(crate) records: u64,
}

impl History {
    /// Builds the indexes after all records were added.
    pub(crate) fn finish(mut self) -> Self {
        self.end_lines_of_killed();
        self.find_done();
        self.receipts.sort_unstable_by_key(|r| (r.agent, r.nonce, r.mark));
        self.pairs = self.told_pairs();
        self
    }

    /// Returns the text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// Returns the event with this nonce.
    pub(crate) fn send(&self, nonce: Name) -> Option<&Send> {
        self.send_by_nonce.get(nonce).map(|row| &self.sends[row])
    }

    /// Returns the event with this id.
    pub(crate) fn send_of(&self, id: Name) -> Option<&Send> {
        self.send_by_id.get(id).map(|row| &self.sends[row])
    }

    /// Returns the agents of an event.
    pub(crate) fn expected(&self, send: &Send) -> &[Name] {
        &self.expected[send.expect_from as usize..][..send.expect_count as usize]
    }

    /// Returns the line with this name.
    pub(crate) fn line(&self, conn: Name) -> Option<&Line> {
        self.line_by_conn.get(conn).map(|row| &self.lines[row])
    }

    /// Returns an entry of the tables.
    pub(crate) fn entry(&self, buffer: Name) -> Option<&Entry> {
        self.entry_by_buffer.get(buffer).map(|row| &self.entries[row])
    }

    /// Returns an agent's receipts of one nonce, in order of time.
    pub(crate) fn receipts_of(&self, agent: Name, nonce: Name) -> &[Receipt] {
        let key = (agent, nonce);
        let from = self.receipts.partition_point(|r| (r.agent, r.nonce) < key);
        let count = self.receipts[from..].partition_point(|r| (r.agent, r.nonce) == key);
        &self.receipts[from..from + count]
    }

    /// Returns true if the desk posts an agent's entries.
    pub(crate) fn is_posted(&self, agent: Name) -> bool {
        self.posted.iter().any(|about| about.name == agent)
    }

    /// Returns the number of times that a nonce was resubmitted.
    pub(crate) fn times_resubmitted(&self, nonce: Name) -> usize {
        self.resubmitted.iter().filter(|about| about.name == nonce).count()
    }

    fn told_pairs(&self) -> Vec<Pair> {
        let told = self.sends.iter().filter_map(|send| Some((send, send.told?)));
        let mut pairs: Vec<Pair> = told
            .flat_map(|(send, told)| {
                self.expected(send).iter().map(move |&agent| (send, told, agent))
            })
            .map(|(send, told, agent)| {
                let (sent, nonce) = (send.mark, send.nonce);
                let receipts = self.receipts_of(agent, nonce);
                let done = receipts.iter().filter_map(Receipt::may_be_done).min();
                Pair { agent, nonce, sent, told, done }
            })
            .collect();
        pairs.sort_unstable_by_key(|pair| (pair.agent, pair.nonce));
        pairs
    }
}
