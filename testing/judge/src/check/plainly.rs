//! I14, I17: a send whose capability has expired is made without it: once, and in a chat of a capability of the
//! requesting agent.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Invariant};
use crate::history::{History, Said, Use};
use crate::names::{ByName, Name};

pub(super) fn check(history: &History, findings: &mut Findings) {
    let lent = lent(history);
    let followed: BTreeSet<Name> = history.uses.iter().map(|used| used.request).collect();
    let mut said_at: BTreeMap<Name, Vec<&Said>> = BTreeMap::new();
    let asked = asked(history);
    for said in &history.said {
        let Some((request, ask)) = request_of(history, &asked, said) else { continue };
        let before = said_at.entry(request).or_default();
        let is_again = !before.is_empty() || followed.contains(&request);
        before.push(said);
        let wrong = if lent.contains(&(ask.what, said.chat)) {
            is_again.then_some((Invariant::Outbound, "was said more than once"))
        } else {
            Some((Invariant::Capability, "was said where nothing was lent to who asked"))
        };
        if let Some((invariant, why)) = wrong {
            findings.add(invariant, [ask.mark, said.mark], || {
                format!("send {} {why}", history.text(request))
            });
        }
    }
}

/// Returns the requests for a capability.
pub(super) fn asked(history: &History) -> ByName {
    let mut asked = ByName::default();
    for (row, ask) in history.uses_asked.iter().enumerate() {
        asked.set(ask.request, row);
    }
    asked
}

/// Returns the request for a capability that led to a call, if there is one.
pub(super) fn request_of<'h>(
    history: &'h History,
    asked: &ByName,
    said: &Said,
) -> Option<(Name, &'h Use)> {
    let request = said.request?;
    Some((request, &history.uses_asked[asked.get(request)?]))
}

/// Returns the agents that have capabilities, with their chats.
fn lent(history: &History) -> BTreeSet<(Name, Name)> {
    let sends = history.loans.iter().filter_map(|loan| history.send_of(loan.event));
    sends.flat_map(|send| history.expected(send).iter().map(|&agent| (agent, send.chat))).collect()
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    fn lend() -> Event {
        let [id, capability] = ["event-n1", "loan"].map(str::to_owned);
        Event::PlatLend { id, capability, good_for_ms: 1_000 }
    }

    fn ask(agent: &str) -> Event {
        let [conn, agent, request, session] = ["c1", agent, "r1", "session"].map(str::to_owned);
        Event::FollowReq { conn, agent, request, session }
    }

    fn follow() -> Event {
        let [bot, chat, capability, request] = ["bot", "chat", "loan", "r1"].map(str::to_owned);
        Event::PlatFollowed { bot, chat, capability, request }
    }

    fn say(chat: &str) -> Event {
        let [bot, chat, nonce] = ["bot", chat, "r1"].map(str::to_owned);
        Event::PlatEgress { bot, chat, nonce, request: Some("r1".to_owned()) }
    }

    #[test]
    fn what_came_too_late_is_said_once_where_it_was_lent() {
        let cases = [
            ("plainly", vec![lend(), ask("alice"), say("chat")], &[][..]),
            ("by another", vec![lend(), ask("bob"), say("chat")], &["I14"]),
            ("elsewhere", vec![lend(), ask("alice"), say("other")], &["I14"]),
            ("nothing was lent", vec![ask("alice"), say("chat")], &["I14"]),
            ("twice", vec![lend(), ask("alice"), say("chat"), say("chat")], &["I17"]),
            ("both ways", vec![lend(), ask("alice"), follow(), say("chat")], &["I17"]),
        ];
        for (name, events, want) in cases {
            let mut tale = Tale::clean();
            tale.note_all(events);
            assert_eq!(tale.broken(), want, "{name}");
        }
    }
}
