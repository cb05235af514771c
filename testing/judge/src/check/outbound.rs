//! I17: a send is made once, in the requested chat, and its gateway gets the true result.

use std::collections::BTreeMap;

use super::{Findings, Invariant, plainly};
use crate::event::OutResult;
use crate::history::{Answer, Ask, History, Mark, Said};
use crate::names::{ByName, Name};

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut requests: BTreeMap<Name, Request> = BTreeMap::new();
    let mut by_nonce = ByName::default();
    for (row, ask) in history.asks.iter().enumerate() {
        by_nonce.set(ask.nonce, row);
        requests.entry(ask.request).or_default().asks.push(ask);
    }
    for answer in &history.answers {
        requests.entry(answer.request).or_default().answers.push(answer);
    }
    // Sends with a capability are checked elsewhere.
    let by_lent = plainly::asked(history);
    let is_by_lent = |said: &&Said| plainly::request_of(history, &by_lent, said).is_some();
    for said in history.said.iter().filter(|said| !is_by_lent(said)) {
        let by_nonce = by_nonce.get(said.nonce).map(|row| history.asks[row].request);
        match said.request.or(by_nonce) {
            Some(request) => requests.entry(request).or_default().said.push(said),
            None => unasked(history, findings, said),
        }
    }
    for (name, request) in &requests {
        if let Some(why) = request.wrong() {
            findings.add(Invariant::Outbound, request.marks(), || {
                format!("send {} {why}", history.text(*name))
            });
        }
    }
}

/// Checks a call without a request. The desk's own messages carry no nonce.
fn unasked(history: &History, findings: &mut Findings, said: &Said) {
    let nonce = history.text(said.nonce);
    if !nonce.is_empty() {
        findings.add(Invariant::Outbound, [said.mark], || {
            format!("{nonce} was said in {}, and nobody asked for it", history.text(said.chat))
        });
    }
}

/// All records of one request.
#[derive(Default)]
struct Request<'a> {
    asks: Vec<&'a Ask>,
    answers: Vec<&'a Answer>,
    said: Vec<&'a Said>,
}

impl Request<'_> {
    fn wrong(&self) -> Option<&'static str> {
        let was_told = |result| self.answers.iter().any(|answer| answer.result == result);
        let elsewhere = |said: &&Said| self.asks.iter().all(|ask| ask.chat != said.chat);
        let said = self.said.len();
        if said > 1 {
            return Some("was said more than once");
        }
        if self.said.iter().any(elsewhere) {
            return Some("was said where nobody asked for it");
        }
        if was_told(OutResult::Done) {
            return (said == 0).then_some("was told to be done, and was not said");
        }
        (was_told(OutResult::Failed) && said == 1)
            .then_some("was told to have failed, and was said")
    }

    fn marks(&self) -> Vec<Mark> {
        let asks = self.asks.iter().map(|ask| ask.mark);
        let said = self.said.iter().map(|said| said.mark);
        asks.chain(said).chain(self.answers.iter().map(|answer| answer.mark)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::tale::Tale;

    fn asked() -> Event {
        Event::OutReq {
            conn: "c1".to_owned(),
            agent: "alice".to_owned(),
            request: "r9".to_owned(),
            chat: "chat".to_owned(),
            nonce: "s9".to_owned(),
        }
    }

    fn said(chat: &str, nonce: &str, request: Option<&str>) -> Event {
        let request = request.map(str::to_owned);
        let [bot, chat, nonce] = ["bot", chat, nonce].map(str::to_owned);
        Event::PlatEgress { bot, chat, nonce, request }
    }

    fn told(result: OutResult) -> Event {
        Event::OutRes { conn: "c1".to_owned(), request: "r9".to_owned(), result }
    }

    #[test]
    fn a_send_is_said_once_and_its_gateway_knows() {
        let one = || said("chat", "s9", None);
        let cases = [
            ("done", vec![asked(), one(), told(OutResult::Done)], &[][..]),
            ("failed", vec![asked(), told(OutResult::Failed)], &[]),
            ("perhaps said", vec![asked(), one(), told(OutResult::Ambiguous)], &[]),
            ("perhaps not", vec![asked(), told(OutResult::Ambiguous)], &[]),
            (
                "asked again",
                vec![asked(), told(OutResult::Nothing), asked(), one(), told(OutResult::Done)],
                &[],
            ),
            ("said twice", vec![asked(), one(), one(), told(OutResult::Done)], &["I17"]),
            ("twice by request", vec![asked(), one(), said("chat", "", Some("r9"))], &["I17"]),
            ("done and not said", vec![asked(), told(OutResult::Done)], &["I17"]),
            ("failed and said", vec![asked(), one(), told(OutResult::Failed)], &["I17"]),
            ("said elsewhere", vec![asked(), said("other", "s9", None)], &["I17"]),
            ("asked by nobody", vec![said("chat", "s8", None)], &["I17"]),
            ("the desk's own word", vec![said("chat", "", None)], &[]),
        ];
        for (name, events, want) in cases {
            let mut tale = Tale::clean();
            tale.note_all(events);
            assert_eq!(tale.broken(), want, "{name}");
        }
    }
}
