//! I19: a line holds no more than its window.

use super::{Findings, Invariant};
use crate::history::{History, Mark, Receipt};

/// Maximum unacked entries on one line.
const WINDOW_ENTRIES_MAX: usize = 12;

/// Maximum bytes of the unacked entries on one line.
const WINDOW_BYTES_MAX: u64 = 1 << 20;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut receipts: Vec<&Receipt> = history.receipts.iter().collect();
    receipts.sort_unstable_by_key(|receipt| (receipt.conn, receipt.mark));
    for line in receipts.chunk_by(|a, b| a.conn == b.conn) {
        check_line(history, findings, line);
    }
}

/// Reports the first time that a line holds too much.
fn check_line(history: &History, findings: &mut Findings, line: &[&Receipt]) {
    let mut held: Vec<&Receipt> = Vec::new();
    for &receipt in line {
        held.retain(|held| held.may_be_done().is_none_or(|done| done > receipt.mark));
        held.push(receipt);
        let bytes: u64 = held.iter().map(|held| u64::from(held.bytes)).sum();
        if held.len() > WINDOW_ENTRIES_MAX || bytes > WINDOW_BYTES_MAX {
            let marks: Vec<Mark> = held.iter().map(|held| held.mark).collect();
            return findings.add(Invariant::Window, marks, || {
                let (conn, entries) = (history.text(receipt.conn), held.len());
                format!("line {conn} holds {entries} entries with {bytes} bytes unacknowledged")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, OutResult};
    use crate::tale::Tale;

    fn handed_at_once(count: usize, bytes: u32) -> Tale {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol");
        let nonces: Vec<String> = (0..count).map(|at| format!("w{at}")).collect();
        for nonce in &nonces {
            tale.said(nonce, &["carol"]).handed_bytes("c9", "carol", nonce, bytes);
        }
        for nonce in &nonces {
            tale.acked("c9", "carol", nonce);
        }
        tale
    }

    #[test]
    fn a_line_holds_as_many_entries_as_its_window_and_no_more() {
        assert_eq!(handed_at_once(WINDOW_ENTRIES_MAX, 10).broken(), [""; 0]);
        assert_eq!(handed_at_once(WINDOW_ENTRIES_MAX + 1, 10).broken(), ["I19"]);
    }

    #[test]
    fn what_a_send_to_its_chat_crossed_on_the_wire_may_have_left_the_window() {
        let request = || "r9".to_owned();
        let asked = || {
            let [conn, agent, chat, nonce] = ["c9", "carol", "chat", "s9"].map(str::to_owned);
            Event::OutReq { conn, agent, request: request(), chat, nonce }
        };
        let answered = || Event::OutRes {
            conn: "c9".to_owned(),
            request: request(),
            result: OutResult::Failed,
        };
        let crosses = [vec![asked()], vec![asked(), answered()], vec![]];
        let broken = crosses.map(|sends| {
            let mut tale = Tale::clean();
            tale.opened("c9", "carol").said("w0", &["carol"]).note_all(sends);
            tale.passed("c9", "carol", "w0");
            let nonces: Vec<String> = (1..=WINDOW_ENTRIES_MAX).map(|at| format!("w{at}")).collect();
            for nonce in &nonces {
                tale.said(nonce, &["carol"]).handed("c9", "carol", nonce);
            }
            tale.acked("c9", "carol", "w0").broken_so_far()
        });
        assert_eq!(broken, [vec![], vec!["I19"], vec!["I19"]]);
    }

    #[test]
    fn a_line_holds_as_many_bytes_as_its_window_and_no_more() {
        assert_eq!(handed_at_once(2, 1 << 19).broken(), [""; 0]);
        assert_eq!(handed_at_once(2, (1 << 19) + 1).broken(), ["I19"]);
    }
}
