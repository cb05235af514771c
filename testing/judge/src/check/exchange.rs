//! I25: a permitted letter is accepted, and a question gets one reply or none, the same on each read. I3: a forbidden
//! letter is refused.

use std::collections::BTreeMap;

use super::{Findings, Invariant};
use crate::history::{Came, History, Letter, LetterAnswer, Mark, Reply};

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut answers: BTreeMap<u32, Vec<&LetterAnswer>> = BTreeMap::new();
    for answer in &history.letter_answers {
        answers.entry(answer.letter).or_default().push(answer);
    }
    for denied in &history.letters_denied {
        findings.add(Invariant::Exchange, [denied.mark], || {
            format!("{} was refused, and may be sent", history.text(denied.name))
        });
    }
    for (row, answers) in answers {
        let letter = &history.letters[row as usize];
        let marks = || answers.iter().map(|answer| answer.mark).chain([letter.mark]);
        if !letter.may {
            findings.add(Invariant::NoMisdelivery, marks(), || {
                format!("{} was taken, and may not be sent", history.text(letter.nonce))
            });
        }
        if letter.asks
            && let Some((more, why)) = wrong(history, letter, &answers)
        {
            findings.add(Invariant::Exchange, marks().chain(more), || {
                format!("{} {why}", history.text(letter.nonce))
            });
        }
    }
}

type Wrong = (Vec<Mark>, &'static str);

fn wrong(history: &History, letter: &Letter, answers: &[&LetterAnswer]) -> Option<Wrong> {
    let [first, later @ ..] = answers else { return None };
    for answer in later {
        match (first.came, answer.came) {
            (one, other) if one == other => {}
            (Came::Replied(_), Came::Replied(_)) => return Some((vec![], "has two replies")),
            _ => return Some((vec![], "was replied to, and was not")),
        }
    }
    let Came::Replied(words) = first.came else {
        let is_over = first.came == Came::NoReply;
        return (!is_over).then(|| (vec![], "was answered without a word of a reply"));
    };
    let mine = history.replies.iter().filter(|reply| reply.nonce == letter.nonce);
    let said = |reply: &&Reply| {
        reply.agent == letter.to && reply.words == words && reply.mark < first.mark
    };
    let marks = mine.clone().map(|reply| reply.mark).collect();
    (!mine.clone().any(|reply| said(&reply))).then_some((marks, "has a reply that nobody said"))
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    /// Steps of a letter from alice to bob.
    #[derive(Clone, Copy)]
    enum Step {
        /// Bob replies.
        Says(&'static str),
        /// Carol replies.
        Butts(&'static str),
        /// Alice gets this status and reply.
        Hears(u16, Option<&'static str>),
    }
    use Step::{Butts, Hears, Says};

    fn told((may, asks): (bool, bool), steps: &[Step]) -> Tale {
        let [id, from, to, nonce] = ["l9", "alice", "bob", "n9"].map(str::to_owned);
        let mut tale = Tale::clean();
        tale.note(Event::LetterSend { id, from, to, nonce, may, asks });
        if may {
            tale.handed("c2", "bob", "n9").acked("c2", "bob", "n9");
        }
        for (step, attempt) in steps.iter().zip(1..) {
            let reply = |agent: &str, words: &str| {
                let [conn, agent, nonce, words] = ["c2", agent, "n9", words].map(str::to_owned);
                Event::LetterReply { conn, agent, nonce, words }
            };
            tale.note(match *step {
                Says(words) => reply("bob", words),
                Butts(words) => reply("carol", words),
                Hears(status, reply) => {
                    let reply = reply.map(str::to_owned);
                    Event::LetterAck { id: "l9".to_owned(), attempt, status, reply }
                }
            });
        }
        tale
    }

    #[test]
    fn an_exchange_has_one_end() {
        let yes = Hears(200, Some("yes"));
        let cases: [(&str, &[Step], &[&str]); 10] = [
            ("a reply", &[Says("yes"), yes], &[]),
            ("the same again", &[Says("yes"), yes, Hears(503, None), yes], &[]),
            ("the first of two", &[Says("yes"), Says("no"), yes], &[]),
            ("none", &[Hears(504, None), Says("yes"), Hears(504, None)], &[]),
            ("nothing clear", &[Says("yes"), Hears(0, None)], &[]),
            ("two replies", &[Says("yes"), yes, Says("no"), Hears(200, Some("no"))], &["I25"]),
            ("a reply and none", &[Says("yes"), yes, Hears(504, None)], &["I25"]),
            ("none, and then one", &[Hears(504, None), Says("yes"), yes], &["I25"]),
            ("what nobody said", &[Butts("yes"), Says("no"), yes], &["I25"]),
            ("nothing at all", &[Hears(200, None)], &["I25"]),
        ];
        for (name, steps, want) in cases {
            assert_eq!(told((true, true), steps).broken(), want, "{name}");
        }
    }

    #[test]
    fn a_letter_is_refused_if_it_may_not_be_sent_and_only_then() {
        assert_eq!(told((true, false), &[Hears(403, None)]).broken(), ["I25"]);
        let cases: [(&str, &[Step], &[&str]); 3] = [
            ("refused", &[Hears(403, None)], &[]),
            ("not clear", &[Hears(503, None), Hears(403, None)], &[]),
            ("taken", &[Hears(200, None)], &["I3"]),
        ];
        for (name, steps, want) in cases {
            assert_eq!(told((false, false), steps).broken(), want, "{name}");
        }
        let mut came = told((false, false), &[Hears(503, None)]);
        came.handed("c2", "bob", "n9").acked("c2", "bob", "n9");
        assert_eq!(came.broken(), ["I3"], "it came");
    }

    #[test]
    fn a_letter_is_lost_or_doubled_as_an_event_is() {
        let taken = Hears(200, None);
        assert_eq!(told((true, false), &[taken, taken]).broken(), [""; 0]);

        let mut doubled = told((true, false), &[taken]);
        doubled.handed_as("c2", "bob", "n9", "another").acked_as("c2", "bob", "another");
        assert_eq!(doubled.broken(), ["I4", "I5"]);

        let mut lost = Tale::clean();
        let came = told((true, false), &[taken]);
        let is_letter =
            |event: &Event| matches!(event, Event::LetterSend { .. } | Event::LetterAck { .. });
        let sent = came.records.iter().map(|record| record.ev.clone()).filter(is_letter);
        lost.note_all(sent.collect());
        assert_eq!(lost.broken(), ["I1"]);
    }
}
