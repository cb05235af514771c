//! I5: an event has one id at one agent, and an id belongs to one event at one agent.

use super::{Findings, Invariant};
use crate::history::{History, Receipt};

pub(super) fn check(history: &History, findings: &mut Findings) {
    for same in history.receipts.chunk_by(|a, b| (a.agent, a.nonce) == (b.agent, b.nonce)) {
        check_ids(history, findings, same);
    }
    let mut receipts: Vec<&Receipt> = history.receipts.iter().collect();
    receipts.sort_unstable_by_key(|receipt| (receipt.buffer, receipt.mark));
    for same in receipts.chunk_by(|a, b| a.buffer == b.buffer) {
        check_events(history, findings, same);
    }
}

/// Checks that receipts of one event have one id, plus one for each time it was resubmitted.
fn check_ids(history: &History, findings: &mut Findings, same: &[Receipt]) {
    let (first, last) = (&same[0], &same[same.len() - 1]);
    if same.iter().all(|receipt| receipt.buffer == first.buffer) {
        return;
    }
    let mut ids: Vec<_> = same.iter().map(|receipt| receipt.buffer).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > 1 + history.times_resubmitted(first.nonce) {
        findings.add(Invariant::StableId, same.iter().map(|receipt| receipt.mark), || {
            let (nonce, agent) = (history.text(last.nonce), history.text(last.agent));
            format!("{nonce} was handed to {agent} under {} ids", ids.len())
        });
    }
}

/// Checks that receipts of one id are of one event.
fn check_events(history: &History, findings: &mut Findings, same: &[&Receipt]) {
    let first = same[0];
    let other = same.iter().find(|r| (r.agent, r.nonce) != (first.agent, first.nonce));
    if let Some(other) = other {
        findings.add(Invariant::StableId, [first.mark, other.mark], || {
            let (buffer, nonce) = (history.text(other.buffer), history.text(other.nonce));
            format!("{buffer} is the id of {nonce} and of {}", history.text(first.nonce))
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::tale::Tale;

    #[test]
    fn another_id_for_the_same_event_is_found() {
        let mut tale = Tale::with_faults();
        tale.opened("c9", "carol").said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").closed("c9", 1006).opened("c10", "carol");
        tale.handed_as("c10", "carol", "n9", "other").acked_as("c10", "carol", "other");

        assert_eq!(tale.broken(), ["I5"]);
    }

    #[test]
    fn one_id_for_two_events_is_found() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n8", &["carol"]).said("n9", &["carol"]);
        tale.handed_as("c9", "carol", "n8", "same").acked_as("c9", "carol", "same");
        tale.handed_as("c9", "carol", "n9", "same").acked_as("c9", "carol", "same");

        assert_eq!(tale.broken(), ["I5"]);
    }
}
