//! I4: an entry is not handed over again after its ack.
//!
//! In a run without faults no entry is handed over twice. With faults an ack may be lost: then the line that carried it
//! ended, or there was a fault on its path, before the desk had to have written it.

use super::{Findings, Invariant};
use crate::history::{History, Mark, Receipt};

/// Maximum time from an ack to the fault that excuses its loss. A node retries an ack until it is written: a statement
/// is given up after up to two seconds, a second passes, and the second statement may take as long.
const ACK_LOST_MS: u64 = 5_000;

/// The same for an entry that was posted: the desk stores the ack after the results of the answer's sends.
const POSTED_ACK_LOST_MS: u64 = 30_000 + ACK_LOST_MS;

pub(super) fn check(history: &History, findings: &mut Findings) {
    for same in history.receipts.chunk_by(|a, b| (a.agent, a.nonce) == (b.agent, b.nonce)) {
        // Nearly all entries are handed over once.
        for at in 1..same.len() {
            check_again(history, findings, &same[..at], &same[at]);
        }
    }
}

/// Checks a receipt against the earlier ones.
fn check_again(history: &History, findings: &mut Findings, before: &[Receipt], again: &Receipt) {
    let resubmitted = history.times_resubmitted(again.nonce) > 0;
    // An entry that an operator resubmitted is another entry.
    let is_same = |first: &&Receipt| !resubmitted || first.buffer == again.buffer;
    for first in before.iter().filter(is_same) {
        if let Some(why) = wrong(history, first, again) {
            return findings.add(Invariant::NoDuplicate, evidence(history, first, again), || {
                let (nonce, agent) = (history.text(again.nonce), history.text(again.agent));
                format!("{agent} was handed {nonce} again {why}")
            });
        }
    }
}

/// Returns the reason why a second receipt is a violation, if it is one.
fn wrong(history: &History, first: &Receipt, again: &Receipt) -> Option<&'static str> {
    if !history.faulty {
        return Some("though nothing was broken");
    }
    if first.conn == again.conn {
        return Some("on the same line");
    }
    if first.done.is_some_and(|ack| ack < again.mark && !may_be_lost(history, first, ack)) {
        return Some("after an ack that nothing can have lost");
    }
    was_stored(history, again).then_some("after its ack was seen in the tables")
}

fn may_be_lost(history: &History, first: &Receipt, ack: Mark) -> bool {
    let is_posted = history.is_posted(first.agent);
    let until = ack.plus_ms(if is_posted { POSTED_ACK_LOST_MS } else { ACK_LOST_MS });
    let Some(line) = history.line(first.conn) else { return false };
    line.closed.is_some_and(|close| close.mark.at_ns <= until.at_ns)
        || history.faults.iter().any(|f| f.was_on(ack, until) && f.is_on_path_of(line))
}

/// Returns true if the tables had the ack before the second line was opened. An observer cannot know when the frame was
/// sent.
fn was_stored(history: &History, again: &Receipt) -> bool {
    let acked = history.entry(again.buffer).and_then(|entry| entry.acked);
    let opened = history.line(again.conn).map(|line| line.opened);
    acked.zip(opened).is_some_and(|(acked, opened)| acked < opened)
}

fn evidence(history: &History, first: &Receipt, again: &Receipt) -> Vec<Mark> {
    let mut marks: Vec<Mark> =
        history.send(again.nonce).map(|send| send.mark).into_iter().collect();
    for receipt in [first, again] {
        marks.push(receipt.mark);
        marks.extend(receipt.done);
        marks.extend(history.line(receipt.conn).map(|line| line.opened));
        marks.extend(
            history.line(receipt.conn).and_then(|line| line.closed).map(|close| close.mark),
        );
    }
    marks.extend(history.entry(again.buffer).and_then(|entry| entry.acked));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EntryState, Event};
    use crate::tale::Tale;

    /// An entry is sent, handed over and acked on a line that ends so long after the ack.
    fn acked_on_a_line_that_ends(after_ms: u64) -> Tale {
        let mut tale = Tale::with_faults();
        tale.opened("c8", "carol").said("n8", &["carol"]);
        tale.handed("c8", "carol", "n8").acked("c8", "carol", "n8");
        tale.wait_ms(after_ms).closed("c8", 1006).opened("c9", "carol");
        tale
    }

    #[test]
    fn without_faults_nothing_comes_twice() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").closed("c9", 1006);
        tale.opened("c10", "carol").handed("c10", "carol", "n9").acked("c10", "carol", "n9");

        assert_eq!(tale.broken(), ["I4"]);
    }

    #[test]
    fn with_faults_the_unacked_tail_of_a_broken_line_comes_again() {
        let mut tale = Tale::with_faults();
        tale.opened("c9", "carol").said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").wait_ms(9_000).closed("c9", 1006);
        tale.opened("c10", "carol").handed("c10", "carol", "n9").acked("c10", "carol", "n9");

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn an_ack_is_lost_only_if_its_line_ends_before_it_had_to_be_written() {
        // The close itself takes a millisecond.
        for (after_ms, want) in [(0, &[][..]), (ACK_LOST_MS - 1, &[]), (ACK_LOST_MS, &["I4"])] {
            let mut tale = acked_on_a_line_that_ends(after_ms);
            tale.handed("c9", "carol", "n8").acked("c9", "carol", "n8");

            assert_eq!(tale.broken(), want, "{after_ms} ms");
        }
    }

    #[test]
    fn a_fault_on_the_way_of_the_ack_excuses_and_one_elsewhere_does_not() {
        for (target, want) in [("node-1", &[][..]), ("gateway:g-carol", &[]), ("redis", &["I4"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c8", "carol").said("n8", &["carol"]).fault_on("f9", target);
            tale.handed("c8", "carol", "n8").acked("c8", "carol", "n8").fault_off("f9");
            tale.wait_ms(9_000).closed("c8", 1006).opened("c9", "carol");
            tale.handed("c9", "carol", "n8").acked("c9", "carol", "n8");

            assert_eq!(tale.broken(), want, "{target}");
        }
    }

    #[test]
    fn a_fault_that_was_over_before_the_ack_excuses_nothing() {
        let mut tale = Tale::with_faults();
        tale.opened("c8", "carol").said("n8", &["carol"]).handed("c8", "carol", "n8");
        tale.fault_on("f9", "node-1").fault_off("f9").acked("c8", "carol", "n8");
        tale.wait_ms(9_000).closed("c8", 1006).opened("c9", "carol");
        tale.handed("c9", "carol", "n8").acked("c9", "carol", "n8");

        assert_eq!(tale.broken(), ["I4"]);
    }

    #[test]
    fn lines_of_a_process_that_was_killed_end_with_it() {
        for (after_ms, want) in [(0, &[][..]), (ACK_LOST_MS, &["I4"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c8", "carol").said("n8", &["carol"]);
            tale.handed("c8", "carol", "n8").acked("c8", "carol", "n8").wait_ms(after_ms);
            tale.note(Event::Killed { proc: "all".to_owned(), records: 0 }).opened("c9", "carol");
            tale.handed("c9", "carol", "n8").acked("c9", "carol", "n8");
            assert_eq!(tale.broken(), want, "{after_ms} ms");
        }
    }

    #[test]
    fn the_ack_of_a_posted_entry_is_written_after_its_answer() {
        for (after_ms, want) in [(POSTED_ACK_LOST_MS - 1, &[][..]), (POSTED_ACK_LOST_MS, &["I4"])] {
            let mut tale = acked_on_a_line_that_ends(after_ms);
            tale.note(Event::Posted { agent: "carol".to_owned() });
            tale.handed("c9", "carol", "n8").acked("c9", "carol", "n8");
            assert_eq!(tale.broken(), want, "{after_ms} ms");
        }
    }

    #[test]
    fn an_ack_that_the_tables_have_is_not_lost() {
        let mut tale = acked_on_a_line_that_ends(0);
        tale.inbox("carol", 1, "n8", EntryState::Acked);
        tale.opened("c10", "carol").handed("c10", "carol", "n8").acked("c10", "carol", "n8");

        assert_eq!(tale.broken(), ["I4"]);
    }

    #[test]
    fn one_line_never_carries_an_entry_twice() {
        let mut tale = Tale::with_faults();
        tale.opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");

        assert_eq!(tale.broken(), ["I4"]);
    }

    #[test]
    fn what_an_operator_put_in_again_is_another_entry() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
        tale.note(Event::Resubmitted { nonce: "n9".to_owned() });
        tale.handed_as("c9", "carol", "n9", "carol-n9-again").acked_as(
            "c9",
            "carol",
            "carol-n9-again",
        );

        assert_eq!(tale.broken(), [""; 0]);
    }
}
