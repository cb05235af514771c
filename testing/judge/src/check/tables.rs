//! I7 and I8: the tables agree with the records of gateways.

use super::{Findings, Invariant};
use crate::history::{Entry, History, Mark};
use crate::names::{ByName, Name};

pub(super) fn check(history: &History, findings: &mut Findings) {
    if history.quiesced.is_some() {
        holes(history, findings);
    }
    ungated(history, findings);
}

/// I7: checks that an agent's numbers begin at 1 and have no holes.
fn holes(history: &History, findings: &mut Findings) {
    let entries = history.entries.iter().map(|entry| (entry.agent, entry.seq, entry.last));
    let parks = history.parks.iter().map(|park| (park.agent, park.seq, park.mark));
    let mut numbers: Vec<(Name, u64, Mark)> = entries.chain(parks).collect();
    numbers.sort_unstable();
    numbers.dedup_by_key(|(agent, seq, _)| (*agent, *seq));
    for same in numbers.chunk_by(|a, b| a.0 == b.0) {
        let missing = same.iter().zip(1..).find(|((_, seq, _), want)| seq != want);
        if let Some(((agent, seq, mark), want)) = missing {
            findings.add(Invariant::NoHoles, [*mark], || {
                format!("{} has no entry {want}, and has {seq}", history.text(*agent))
            });
        }
    }
}

/// I8: checks that no entry is acked without its gateway.
fn ungated(history: &History, findings: &mut Findings) {
    // The receipt of each entry that was done first.
    let mut firsts = ByName::default();
    let done_of = |row: usize| history.receipts[row].may_be_done();
    for (row, receipt) in history.receipts.iter().enumerate() {
        let done = receipt.may_be_done();
        let first = firsts.get(receipt.buffer).map(done_of);
        if done.is_some() && first.is_none_or(|first| done < first) {
            firsts.set(receipt.buffer, row);
        }
    }
    let done = |entry: &Entry| firsts.get(entry.buffer).and_then(done_of);
    for entry in &history.entries {
        let Some(acked) = entry.acked else { continue };
        let is_gated = done(entry).is_some_and(|done| done <= acked);
        if !is_gated && !is_parked(history, entry) {
            findings.add(Invariant::AckGated, done(entry).into_iter().chain([acked]), || {
                let (buffer, agent) = (history.text(entry.buffer), history.text(entry.agent));
                format!("{buffer} is acked in the tables, and {agent} had not acknowledged it")
            });
        }
    }
}

/// Returns true if an entry was parked: the cursor passes it without an ack.
fn is_parked(history: &History, entry: &Entry) -> bool {
    history.parks.iter().any(|park| park.buffer == entry.buffer)
}

#[cfg(test)]
mod tests {
    use crate::event::EntryState::Acked;
    use crate::event::Event;
    use crate::tale::Tale;

    type Follows = fn(&mut Tale, &Event);

    fn takes(tale: &mut Tale, nonce: &str) {
        tale.handed("c9", "carol", nonce).acked("c9", "carol", nonce);
    }

    #[test]
    fn a_missing_number_is_found() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n8", &["carol"]).said("n9", &["carol"]);
        takes(&mut tale, "n8");
        takes(&mut tale, "n9");
        tale.inbox("carol", 1, "n8", Acked).inbox("carol", 3, "n9", Acked);

        assert_eq!(tale.broken(), ["I7"]);
    }

    #[test]
    fn what_was_set_aside_is_no_hole() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
        tale.parked("carol", 1, "other", "expired").inbox("carol", 2, "n9", Acked);

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn the_cursor_goes_on_without_an_ack_over_what_was_set_aside() {
        let mut tale = Tale::clean();
        tale.parked("carol", 1, "n9", "expired").inbox("carol", 1, "n9", Acked);

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn an_entry_acked_by_nobody_is_found() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
        tale.inbox("carol", 1, "n9", Acked).acked("c9", "carol", "n9");
        tale.inbox("carol", 1, "n9", Acked);

        assert_eq!(tale.broken(), ["I8"], "the ack came after the first look");
    }

    #[test]
    fn a_posted_passthrough_is_done_by_its_own_ack_alone() {
        let mut tale = Tale::clean();
        tale.note(Event::Posted { agent: "carol".to_owned() }).opened("c9", "carol");
        tale.said("n8", &["carol"]).said("n9", &["carol"]).passed("c9", "carol", "n8");
        takes(&mut tale, "n9");
        tale.inbox("carol", 1, "n8", Acked).inbox("carol", 2, "n9", Acked);
        tale.acked("c9", "carol", "n8");

        assert_eq!(tale.broken(), ["I8"]);
    }

    #[test]
    fn what_is_never_acked_is_done_by_what_follows_on_its_line() {
        let ask = Event::OutReq {
            conn: "c9".to_owned(),
            agent: "carol".to_owned(),
            request: "r9".to_owned(),
            chat: "chat".to_owned(),
            nonce: "said-9".to_owned(),
        };
        let cases: [(&str, Follows, &[&str]); 4] = [
            ("nothing", |_, _| {}, &["I8"]),
            ("a send to its chat", |tale, ask| tale.note_all(vec![ask.clone()]), &[]),
            ("45 s of life", |tale, _| tale.wait_ms(45_000).note_all(Vec::new()), &[]),
            ("an ack of a later entry", |tale, _| takes(tale, "n9"), &[]),
        ];
        for (name, follows, want) in cases {
            let mut tale = Tale::clean();
            tale.opened("c9", "carol").said("n8", &["carol"]).said("n9", &["carol"]);
            tale.passed("c9", "carol", "n8");
            follows(&mut tale, &ask);
            tale.inbox("carol", 1, "n8", Acked);
            if name != "an ack of a later entry" {
                takes(&mut tale, "n9");
            }
            assert_eq!(tale.broken(), want, "{name}");
        }
    }
}
