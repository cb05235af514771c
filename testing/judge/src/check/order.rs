//! I6: entries arrive in order.
//!
//! First receipts of an agent have rising numbers. All receipts on one line have rising numbers. Where the desk posts the
//! entries, both hold in each chat. If a platform has its own order, the events of each chat follow it. A passthrough
//! names no chat, so those that are posted have an order of their own.

use std::collections::BTreeMap;

use super::{Findings, Invariant};
use crate::history::{History, Receipt};
use crate::names::Name;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut late = Late::default();
    let firsts = firsts(history);
    late.find_in(history, firsts.clone(), |receipt| receipt.agent);
    late.find_in(history, history.receipts.iter().collect(), |receipt| receipt.conn);
    late.find_in_chats(history, firsts);
    late.tell(history, findings);
}

/// Returns the first receipt of each entry.
fn firsts(history: &History) -> Vec<&Receipt> {
    let same = history.receipts.chunk_by(|a, b| (a.agent, a.nonce) == (b.agent, b.nonce));
    same.flat_map(|same| {
        let is_first = |at: usize| same[..at].iter().all(|before| before.buffer != same[at].buffer);
        (0..same.len()).filter(move |&at| is_first(at)).map(move |at| &same[at])
    })
    .collect()
}

/// A chat, as far as the order of posts knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Chat {
    /// A chat of a bot.
    Of(Name, Name),
    /// The passthroughs of all chats.
    Unnamed,
}

impl Chat {
    /// Returns the chat in which a posted entry has its order. `None`: the agent's entries are not posted.
    fn of_post(history: &History, receipt: &Receipt) -> Option<Self> {
        if !history.is_posted(receipt.agent) {
            return None;
        }
        let send = history.send(receipt.nonce)?;
        Some(if receipt.passthrough { Self::Unnamed } else { Self::Of(send.bot, send.chat) })
    }
}

/// Receipts that came after one that should have come later, by record: each is reported once.
#[derive(Default)]
struct Late<'a>(BTreeMap<u32, (&'a Receipt, &'a Receipt)>);

impl<'a> Late<'a> {
    /// Finds receipts that are late among those of one agent, or of one line.
    fn find_in(
        &mut self,
        history: &History,
        mut receipts: Vec<&'a Receipt>,
        of: impl Fn(&Receipt) -> Name,
    ) {
        let chat = |receipt: &Receipt| Chat::of_post(history, receipt);
        receipts.sort_by_cached_key(|receipt| (of(receipt), chat(receipt), receipt.mark));
        for same in receipts.chunk_by(|a, b| (of(a), chat(a)) == (of(b), chat(b))) {
            self.find(same, |receipt| history.entry(receipt.buffer).map(|entry| entry.seq));
        }
    }

    /// Finds receipts whose number is lower than an earlier one.
    fn find(&mut self, receipts: &[&'a Receipt], number: impl Fn(&Receipt) -> Option<u64>) {
        let mut highest: Option<(u64, &Receipt)> = None;
        for &receipt in receipts {
            let Some(number) = number(receipt) else { continue };
            match highest {
                // The same entry twice is not out of order; other checks cover it.
                Some((high, before)) if number < high => {
                    self.0.entry(receipt.mark.record).or_insert((before, receipt));
                }
                Some(_) | None => highest = Some((number, receipt)),
            }
        }
    }

    fn find_in_chats(&mut self, history: &History, firsts: Vec<&'a Receipt>) {
        let chat = |receipt: &Receipt| {
            let send = history.send(receipt.nonce)?;
            // A resubmitted entry has lost its place.
            let again = history.times_resubmitted(receipt.nonce) > 0;
            let is_unnamed = Chat::of_post(history, receipt) == Some(Chat::Unnamed);
            let chat = (receipt.agent, send.bot, send.chat, is_unnamed);
            send.order.filter(|_| !again).map(|order| (chat, order))
        };
        let mut ordered: Vec<_> =
            firsts.into_iter().filter_map(|receipt| Some((chat(receipt)?, receipt))).collect();
        ordered.sort_unstable_by_key(|((chat, _), receipt)| (*chat, receipt.mark));
        for same in ordered.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
            let receipts: Vec<&Receipt> = same.iter().map(|(_, receipt)| *receipt).collect();
            self.find(&receipts, |receipt| chat(receipt).map(|(_, order)| order));
        }
    }

    fn tell(self, history: &History, findings: &mut Findings) {
        for (before, receipt) in self.0.into_values() {
            let sends = [before, receipt].map(|r| history.send(r.nonce).map(|send| send.mark));
            let looks = [before, receipt].map(|r| history.entry(r.buffer).map(|entry| entry.last));
            let marks = sends.into_iter().chain(looks).flatten();
            findings.add(Invariant::Order, marks.chain([before.mark, receipt.mark]), || {
                let (nonce, agent) = (history.text(receipt.nonce), history.text(receipt.agent));
                let before = history.text(before.nonce);
                format!("{agent} was handed {nonce} after {before}, which comes later")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::EntryState::Acked;
    use crate::event::Event;
    use crate::tale::{ChatPlace, Tale};

    #[test]
    fn a_later_number_first_is_found() {
        let mut tale = Tale::clean();
        tale.opened("c9", "carol").said("n8", &["carol"]).said("n9", &["carol"]);
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9").closed("c9", 1000);
        tale.opened("c10", "carol").handed("c10", "carol", "n8").acked("c10", "carol", "n8");
        tale.inbox("carol", 1, "n8", Acked).inbox("carol", 2, "n9", Acked);

        assert_eq!(tale.broken(), ["I6"]);
    }

    #[test]
    fn posts_are_in_order_in_each_chat() {
        for (chats, want) in [(["one", "other"], &[][..]), (["one", "one"], &["I6"])] {
            let mut tale = Tale::clean();
            tale.note(Event::Posted { agent: "carol".to_owned() }).opened("c9", "carol");
            for (nonce, chat) in ["n8", "n9"].into_iter().zip(chats) {
                tale.said_in(nonce, &["carol"], ChatPlace { chat, order: None });
            }
            for nonce in ["n9", "n8"] {
                tale.handed("c9", "carol", nonce).acked("c9", "carol", nonce);
            }
            tale.inbox("carol", 1, "n8", Acked).inbox("carol", 2, "n9", Acked);

            assert_eq!(tale.broken(), want, "{chats:?}");
        }
    }

    #[test]
    fn a_posted_passthrough_has_no_order_in_its_chat() {
        for (passthroughs, want) in [(["n9", "-"], &[][..]), (["n9", "n8"], &["I6"])] {
            let mut tale = Tale::clean();
            tale.note(Event::Posted { agent: "carol".to_owned() }).opened("c9", "carol");
            for (nonce, order) in [("n8", 1), ("n9", 2)] {
                tale.said_in_order(nonce, &["carol"], Some(order));
            }
            for nonce in ["n9", "n8"] {
                if passthroughs.contains(&nonce) {
                    tale.passed("c9", "carol", nonce);
                } else {
                    tale.handed("c9", "carol", nonce);
                }
                tale.acked("c9", "carol", nonce);
            }
            tale.inbox("carol", 1, "n8", Acked).inbox("carol", 2, "n9", Acked);
            assert_eq!(tale.broken(), want, "{passthroughs:?}");
        }
    }

    #[test]
    fn on_one_line_also_what_comes_again_comes_in_order() {
        let mut tale = Tale::with_faults();
        tale.opened("c9", "carol").said("n8", &["carol"]).said("n9", &["carol"]);
        tale.handed("c9", "carol", "n8").handed("c9", "carol", "n9").closed("c9", 1006);
        tale.opened("c10", "carol").handed("c10", "carol", "n9").handed("c10", "carol", "n8");
        tale.acked("c10", "carol", "n9").acked("c10", "carol", "n8");
        tale.inbox("carol", 1, "n8", Acked).inbox("carol", 2, "n9", Acked);

        assert_eq!(tale.broken(), ["I6"]);
    }

    #[test]
    fn a_platforms_order_is_kept_where_it_has_one() {
        for (orders, want) in [([Some(1), Some(2)], &["I6"][..]), ([None, None], &[])] {
            let mut tale = Tale::clean();
            tale.opened("c9", "carol");
            tale.said_in_order("n8", &["carol"], orders[0]).said_in_order(
                "n9",
                &["carol"],
                orders[1],
            );
            for nonce in ["n9", "n8"] {
                tale.handed("c9", "carol", nonce).acked("c9", "carol", nonce);
            }
            assert_eq!(tale.broken(), want, "{orders:?}");
        }
    }
}
