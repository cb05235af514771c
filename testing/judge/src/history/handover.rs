//! Computes when a gateway was done with each entry.

use std::mem;

use crate::history::History;
use crate::history::rows::{Answer, Ask, Close, Line, Mark, Receipt};
use crate::names::Name;

/// A line that still responds so long after a passthrough frame has handled it. Two seconds are for the network.
const PASSTHROUGH_DONE_MS: u64 = 45_000 - 2_000;

/// An event on a line, except its end.
#[derive(Clone, Copy)]
enum Step {
    /// A receipt, by its row.
    Received(usize),
    /// An ack of this entry.
    Acked(Name),
    /// A send to this chat, with its name.
    Asked(Name, Name),
    /// The result of the send with this name.
    Answered(Name),
}

impl History {
    /// Ends the lines of killed processes, which could not record it themselves.
    pub(super) fn end_lines_of_killed(&mut self) {
        let reason = self.names.of("killed");
        for killed in &self.killed {
            let open = |line: &&mut Line| line.proc == killed.proc && line.closed.is_none();
            for line in self.lines.iter_mut().filter(open) {
                line.closed = Some(Close { mark: killed.mark, code: 0, reason });
            }
        }
    }

    /// Computes for each receipt when its gateway was done with it.
    ///
    /// An ack counts only on the line that was given the entry. An entry that a client never acks is done when a later
    /// entry of the line is acked, when a send to its chat follows, or when the line lives on.
    pub(super) fn find_done(&mut self) {
        let mut receipts = mem::take(&mut self.receipts);
        for receipt in &mut receipts {
            receipt.is_never_acked = receipt.passthrough && !self.is_posted(receipt.agent);
        }
        for line in self.steps(&receipts).chunk_by(|(a, ..), (b, ..)| a == b) {
            self.follow(line, &mut receipts);
        }
        for receipt in receipts.iter_mut().filter(|receipt| receipt.is_never_acked) {
            let outlived = self.outlived(receipt);
            receipt.done = receipt.done.into_iter().chain(outlived).min();
        }
        self.receipts = receipts;
    }

    /// Returns the events of all lines: line by line, in order of time.
    fn steps(&self, receipts: &[Receipt]) -> Vec<(Name, Mark, Step)> {
        let received = receipts.iter().enumerate();
        let mut steps: Vec<_> =
            received.map(|(row, r)| (r.conn, r.mark, Step::Received(row))).collect();
        steps.extend(self.acks.iter().map(|ack| (ack.conn, ack.mark, Step::Acked(ack.buffer))));
        let asked = |ask: &Ask| (ask.conn, ask.mark, Step::Asked(ask.chat, ask.request));
        steps.extend(self.asks.iter().map(asked));
        let answered = |answer: &Answer| (answer.conn, answer.mark, Step::Answered(answer.request));
        steps.extend(self.answers.iter().map(answered));
        steps.sort_unstable_by_key(|&(conn, mark, _)| (conn, mark));
        steps
    }

    fn follow(&self, steps: &[(Name, Mark, Step)], receipts: &mut [Receipt]) {
        // Rows in order of time.
        let mut held: Vec<usize> = Vec::new();
        let mut asking: Vec<(Name, Name)> = Vec::new();
        for &(_, mark, step) in steps {
            let done: Vec<usize> = match step {
                Step::Received(row) => {
                    held.push(row);
                    let receipt = &mut receipts[row];
                    let chat = self.chat(receipt.nonce);
                    receipt.crossed = receipt.is_never_acked
                        && asking.iter().any(|(asked, _)| chat == Some(*asked));
                    continue;
                }
                Step::Acked(buffer) => done_by_ack(&held, receipts, buffer),
                Step::Answered(request) => {
                    asking.retain(|(_, asked)| *asked != request);
                    continue;
                }
                Step::Asked(chat, request) => {
                    asking.push((chat, request));
                    let is_done = |row: &usize| {
                        let receipt = &receipts[*row];
                        receipt.is_never_acked && self.chat(receipt.nonce) == Some(chat)
                    };
                    held.iter().copied().filter(is_done).collect()
                }
            };
            held.retain(|row| !done.contains(row));
            for row in done {
                receipts[row].done = Some(mark);
            }
        }
    }

    fn chat(&self, nonce: Name) -> Option<Name> {
        self.send(nonce).map(|send| send.chat)
    }

    /// Returns the time when an entry is done because its line lives on, if it does.
    fn outlived(&self, receipt: &Receipt) -> Option<Mark> {
        let line = self.line(receipt.conn)?;
        let end = line.closed.map_or(self.last, |close| Some(close.mark))?;
        let done = receipt.mark.plus_ms(PASSTHROUGH_DONE_MS);
        (end.at_ns >= done.at_ns).then_some(done)
    }
}

/// Returns the acked receipt and the earlier receipts that are never acked.
fn done_by_ack(held: &[usize], receipts: &[Receipt], buffer: Name) -> Vec<usize> {
    let Some(acked) = held.iter().copied().find(|&row| receipts[row].buffer == buffer) else {
        return Vec::new();
    };
    let is_done = |&row: &usize| row == acked || receipts[row].is_never_acked && row < acked;
    held.iter().copied().filter(is_done).collect()
}
