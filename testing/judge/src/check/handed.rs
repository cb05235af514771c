//! I2 and I3: an entry that is handed over was sent before, and to that agent.

use super::{Findings, Invariant};
use crate::history::History;

pub(super) fn check(history: &History, findings: &mut Findings) {
    for receipt in &history.receipts {
        let (nonce, agent) = (receipt.nonce, receipt.agent);
        let before = history.send(nonce).filter(|send| send.mark < receipt.mark);
        let Some(send) = before else {
            findings.add(Invariant::NoPhantom, [receipt.mark], || {
                let (nonce, agent) = (history.text(nonce), history.text(agent));
                format!("{agent} was handed {nonce}, which nobody had sent")
            });
            continue;
        };
        if !history.expected(send).contains(&agent) {
            findings.add(Invariant::NoMisdelivery, [send.mark, receipt.mark], || {
                let (nonce, agent) = (history.text(nonce), history.text(agent));
                format!("{agent} was handed {nonce}, which is not for them")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tale::Tale;

    #[test]
    fn a_phantom_is_found() {
        let mut tale = Tale::clean();
        tale.handed("c1", "alice", "ghost").acked("c1", "alice", "ghost");

        assert_eq!(tale.broken(), ["I2"]);
    }

    #[test]
    fn what_is_handed_over_before_it_was_sent_is_a_phantom() {
        let mut tale = Tale::clean();
        tale.handed("c1", "alice", "early").acked("c1", "alice", "early");
        tale.said("early", &["alice"]);

        assert_eq!(tale.broken(), ["I2"]);
    }

    #[test]
    fn what_is_for_somebody_else_is_found() {
        let mut tale = Tale::clean();
        tale.said("n9", &["alice"]).handed("c1", "alice", "n9").acked("c1", "alice", "n9");
        tale.handed_as("c2", "bob", "n9", "bob-n9").acked_as("c2", "bob", "bob-n9");

        assert_eq!(tale.broken(), ["I3"]);
    }
}
