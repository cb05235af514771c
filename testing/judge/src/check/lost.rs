//! I1 and I24: an accepted event arrives, and a minute after the last fault it has arrived.

use std::collections::BTreeMap;

use super::{Findings, Invariant};
use crate::event::EntryState;
use crate::history::{Entry, History, Mark, Pair, Receipt};
use crate::names::{ByName, Name};

/// Time limit of the recovery after the last fault.
const HEAL_MS: u64 = 60_000;

/// Time after a failed post before the next one, which a fault may cause at its end.
const POST_AGAIN_MS: u64 = 60_000;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut excuses = Excuses::new(history);
    let healed = healed(history);
    for pair in &history.pairs {
        if pair.done.is_none() && excuses.take(pair) {
            continue;
        }
        if pair.done.is_none() && history.quiesced.is_some() {
            lost(history, findings, pair);
        } else if let Some(healed) = healed.filter(|&healed| is_late(history, pair, healed)) {
            late(history, findings, pair, healed);
        }
    }
    pending(history, findings);
}

fn lost(history: &History, findings: &mut Findings, pair: &Pair) {
    findings.add(Invariant::NoLoss, evidence(history, pair), || {
        let (nonce, agent) = (history.text(pair.nonce), history.text(pair.agent));
        format!("{nonce} was taken for {agent}, who never acknowledged it")
    });
}

/// Reports entries that are still pending after the run is over.
fn pending(history: &History, findings: &mut Findings) {
    let Some(quiesced) = history.quiesced else { return };
    let is_pending = |entry: &&Entry| entry.state == EntryState::Pending && entry.last > quiesced;
    for entry in history.entries.iter().filter(is_pending) {
        findings.add(Invariant::NoLoss, [quiesced, entry.last], || {
            let (buffer, agent) = (history.text(entry.buffer), history.text(entry.agent));
            format!("{buffer} is still pending for {agent} though everybody had time to finish")
        });
    }
}

/// Returns the end of the recovery, if no fault is left on and the history is long enough.
fn healed(history: &History) -> Option<Mark> {
    let offs = history.faults.iter().map(|fault| fault.off).collect::<Option<Vec<_>>>()?;
    let healed = offs.into_iter().max()?.plus_ms(HEAL_MS);
    history.last.filter(|last| last.at_ns >= healed.at_ns).map(|_| healed)
}

/// Returns true if an event that was accepted before the last fault ended was not done in time. If the agent received
/// it since and left or was slow, the desk is not late.
fn is_late(history: &History, pair: &Pair, healed: Mark) -> bool {
    let mended = healed.minus_ms(HEAL_MS).at_ns;
    let more_ms = if history.is_posted(pair.agent) { POST_AGAIN_MS } else { 0 };
    let healed = healed.plus_ms(more_ms);
    let in_time = |receipt: &Receipt| (mended..=healed.at_ns).contains(&receipt.mark.at_ns);
    pair.told.at_ns <= mended
        && history.last.is_some_and(|last| last.at_ns >= healed.at_ns)
        && pair.done.is_none_or(|done| done.at_ns > healed.at_ns)
        && !history.receipts_of(pair.agent, pair.nonce).iter().any(in_time)
}

fn late(history: &History, findings: &mut Findings, pair: &Pair, healed: Mark) {
    // The mark's record is the end of the last fault.
    let marks = evidence(history, pair).into_iter().chain([healed]);
    findings.add(Invariant::Heals, marks, || {
        let (nonce, agent) = (history.text(pair.nonce), history.text(pair.agent));
        let secs = HEAL_MS / 1000;
        format!("{nonce} was not done by {agent} {secs} s after the last fault had ended")
    });
}

fn evidence(history: &History, pair: &Pair) -> Vec<Mark> {
    let receipts = history.receipts_of(pair.agent, pair.nonce);
    let ends = |receipt: &Receipt| history.line(receipt.conn)?.closed.map(|close| close.mark);
    let mut marks = vec![pair.sent, pair.told];
    marks.extend(pair.done);
    marks.extend(receipts.iter().map(|receipt| receipt.mark));
    marks.extend(receipts.iter().filter_map(ends));
    marks
}

/// Parked entries whose reasons were declared in advance.
struct Excuses<'a> {
    history: &'a History,
    reasons: BTreeMap<Name, Vec<Name>>,
    /// Parked entries that were never handed over, by agent and reason. Their nonces are not visible, so each excuses
    /// any one event.
    unseen: BTreeMap<(Name, Name), usize>,
}

impl<'a> Excuses<'a> {
    fn new(history: &'a History) -> Self {
        let mut reasons: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for may in &history.may_park {
            reasons.entry(may.nonce).or_default().push(may.reason);
        }
        let mut seen = ByName::default();
        if !history.parks.is_empty() {
            history.receipts.iter().for_each(|receipt| seen.set(receipt.buffer, 0));
        }
        let mut parks: BTreeMap<Name, (Name, Name)> = BTreeMap::new();
        let unseen_parks = history.parks.iter().filter(|park| seen.get(park.buffer).is_none());
        parks.extend(unseen_parks.map(|park| (park.buffer, (park.agent, park.reason))));
        let mut unseen: BTreeMap<_, usize> = BTreeMap::new();
        for key in parks.into_values() {
            *unseen.entry(key).or_default() += 1;
        }
        Self { history, reasons, unseen }
    }

    /// Returns true if an event was parked as declared.
    fn take(&mut self, pair: &Pair) -> bool {
        let Some(reasons) = self.reasons.get(&pair.nonce) else { return false };
        let receipts = self.history.receipts_of(pair.agent, pair.nonce);
        if !receipts.is_empty() {
            return self.history.parks.iter().any(|park| {
                reasons.contains(&park.reason)
                    && receipts.iter().any(|receipt| receipt.buffer == park.buffer)
            });
        }
        reasons.iter().any(|&reason| take_one(&mut self.unseen, (pair.agent, reason)))
    }
}

fn take_one(unseen: &mut BTreeMap<(Name, Name), usize>, key: (Name, Name)) -> bool {
    let Some(count) = unseen.get_mut(&key).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}

#[cfg(test)]
mod tests {
    use crate::event::EntryState::{Acked, Pending};
    use crate::event::Event;
    use crate::tale::Tale;

    fn may_park(reason: &str) -> Event {
        Event::MayPark { nonce: "n9".to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn a_clean_history_breaks_nothing() {
        assert_eq!(Tale::clean().broken(), [""; 0]);
        assert_eq!(Tale::with_faults().broken(), [""; 0]);
    }

    #[test]
    fn what_was_taken_and_never_acked_is_lost() {
        let mut unseen = Tale::clean();
        unseen.said("n9", &["carol"]);
        assert_eq!(unseen.broken(), ["I1"]);

        let mut unacked = Tale::clean();
        unacked.opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
        assert_eq!(unacked.broken(), ["I1"]);
        assert_eq!(unacked.broken_so_far(), [""; 0], "there is time yet");
    }

    #[test]
    fn what_a_platform_sends_again_is_lost_once() {
        let mut tale = Tale::clean();
        tale.said("n9", &["carol"]).said("n9", &["carol"]).note(Event::Quiesce);

        assert_eq!(tale.counts(), [("I1", 1)]);
    }

    #[test]
    fn each_agent_must_get_it() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["alice", "carol"]);
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");

        assert_eq!(tale.broken(), ["I1"]);
    }

    #[test]
    fn an_ack_on_another_line_does_not_count() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
        tale.closed("c9", 1006).opened("c10", "carol").acked("c10", "carol", "n9");

        assert_eq!(tale.broken(), ["I1"]);
    }

    #[test]
    fn what_was_refused_is_not_lost() {
        let mut tale = Tale::clean();
        let [id, bot, chat, user, nonce] = ["e9", "bot", "chat", "user", "n9"].map(str::to_owned);
        let expect = vec!["carol".to_owned()];
        tale.note(Event::PlatSend { id: id.clone(), bot, chat, user, nonce, expect, order: None });
        tale.note(Event::PlatAck { id: id.clone(), attempt: 1, status: 503 });
        assert_eq!(tale.broken(), [""; 0]);

        tale.note(Event::PlatAck { id, attempt: 2, status: 202 });
        assert_eq!(tale.broken(), ["I1"], "the second attempt was taken");
    }

    #[test]
    fn what_was_set_aside_is_excused_by_a_reason_named_in_advance() {
        for (foretold, want) in [("expired", &[][..]), ("full", &["I1"])] {
            let mut unseen = Tale::clean();
            unseen.note(may_park(foretold)).said("n9", &["carol"]);
            unseen.parked("carol", 1, "?", "expired").parked("carol", 1, "?", "expired");
            assert_eq!(unseen.broken(), want, "nobody was handed it, {foretold}");

            let mut seen = Tale::clean();
            seen.note(may_park(foretold)).opened("c9", "carol").said("n9", &["carol"]);
            seen.handed("c9", "carol", "n9").parked("carol", 1, "n9", "expired");
            assert_eq!(seen.broken(), want, "somebody was handed it, {foretold}");
        }
    }

    #[test]
    fn what_a_rate_limit_parked_is_lost_unless_it_was_declared() {
        let mut tale = Tale::clean();
        tale.said("n9", &["carol"]).parked("carol", 1, "?", "rate-limit");
        assert_eq!(tale.broken(), ["I1"]);

        let mut declared = Tale::clean();
        declared.note(may_park("rate-limit")).said("n9", &["carol"]);
        assert_eq!(declared.clone().broken(), ["I1"], "it is nowhere that the operator sees");
        assert_eq!(declared.parked("carol", 1, "?", "rate-limit").broken(), [""; 0]);
    }

    #[test]
    fn one_entry_set_aside_excuses_one_event() {
        let mut tale = Tale::clean();
        let other = Event::MayPark { nonce: "n8".to_owned(), reason: "expired".to_owned() };
        tale.note(may_park("expired")).note(other).said("n8", &["carol"]).said("n9", &["carol"]);
        tale.parked("carol", 1, "?", "expired");

        assert_eq!(tale.broken(), ["I1"]);
    }

    #[test]
    fn nothing_is_pending_when_everybody_had_time() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
        tale.inbox("carol", 1, "n9", Pending).note(Event::Quiesce);
        assert_eq!(tale.clone().inbox("carol", 1, "n9", Pending).broken_so_far(), ["I1"]);
        assert_eq!(tale.clone().inbox("carol", 1, "n9", Acked).broken_so_far(), [""; 0]);
        assert_eq!(tale.broken_so_far(), [""; 0], "nobody has looked since");
    }

    #[test]
    fn what_was_done_in_time_stays_well() {
        let mut tale = Tale::with_faults();
        tale.wait_ms(90_000);

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn a_minute_after_the_last_fault_everything_is_well() {
        for (late_ms, want) in [(59_000, &[][..]), (61_000, &["I24"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c9", "carol").fault_on("f9", "postgres").said("n9", &["carol"]);
            tale.fault_off("f9").wait_ms(late_ms);
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{late_ms} ms");
        }
    }

    #[test]
    fn what_was_posted_in_vain_has_a_minute_more() {
        for (late_ms, want) in [(119_000, &[][..]), (121_000, &["I24"])] {
            let mut tale = Tale::with_faults();
            tale.note(Event::Posted { agent: "carol".to_owned() }).opened("c9", "carol");
            tale.fault_on("f9", "postgres").said("n9", &["carol"]);
            tale.fault_off("f9").wait_ms(late_ms);
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{late_ms} ms");
        }
    }

    #[test]
    fn who_was_handed_it_in_time_and_left_is_late_themselves() {
        for (handed_ms, want) in [(30_000, &[][..]), (61_000, &["I24"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c8", "carol").fault_on("f9", "postgres").said("n9", &["carol"]);
            tale.fault_off("f9").wait_ms(handed_ms).handed("c8", "carol", "n9");
            tale.closed("c8", 1000).opened("c9", "carol").wait_ms(62_000 - handed_ms.min(61_000));
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{handed_ms} ms");
        }
    }
}
