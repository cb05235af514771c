//! I13: a stop reaches the turn that it names, once, and no other agent. An agent may have two lines for a moment,
//! until the older one is fenced: then each may get the stop.

use std::collections::BTreeMap;

use super::{Findings, Invariant};
use crate::history::History;
use crate::names::Name;

pub(super) fn check(history: &History, findings: &mut Findings) {
    // Number of requests by chat and agent, and number of stops on each line.
    let mut asked: BTreeMap<(Name, Name), u32> = BTreeMap::new();
    let mut told: BTreeMap<(Name, Name, Name), u32> = BTreeMap::new();
    let mut both: Vec<_> = history.stops_asked.iter().chain(&history.stops).collect();
    both.sort_unstable_by_key(|stop| stop.mark);
    for stop in both {
        // No agent runs a turn in the chat, so the stop has no target.
        let Some(agent) = stop.agent else { continue };
        let asked = asked.entry((stop.chat, agent)).or_default();
        let Some(conn) = stop.conn else {
            *asked += 1;
            continue;
        };
        let told = told.entry((stop.chat, agent, conn)).or_default();
        *told += 1;
        if *told > *asked {
            let requests = history.stops_asked.iter().filter(|asked| asked.chat == stop.chat);
            findings.add(Invariant::Stop, requests.map(|r| r.mark).chain([stop.mark]), || {
                let (agent, chat) = (history.text(agent), history.text(stop.chat));
                format!("{agent} was told to stop in {chat}, which nobody had asked of them")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    fn asked(agent: Option<&str>) -> Event {
        let agent = agent.map(str::to_owned);
        Event::StopReq { id: "s".to_owned(), chat: "chat".to_owned(), agent }
    }

    fn reached(agent: &str) -> Event {
        reached_on(&format!("c-{agent}"), agent)
    }

    fn reached_on(conn: &str, agent: &str) -> Event {
        Event::StopRecv {
            conn: conn.to_owned(),
            agent: agent.to_owned(),
            session: "session".to_owned(),
            chat: "chat".to_owned(),
        }
    }

    #[test]
    fn a_stop_reaches_whom_it_is_for_and_once() {
        let cases = [
            ("it reaches them", vec![asked(Some("alice")), reached("alice")], &[][..]),
            ("it does not arrive", vec![asked(Some("alice"))], &[]),
            ("it reaches another", vec![asked(Some("alice")), reached("bob")], &["I13"]),
            (
                "it comes twice",
                vec![asked(Some("alice")), reached("alice"), reached("alice")],
                &["I13"],
            ),
            (
                "it comes on two lines",
                vec![asked(Some("alice")), reached("alice"), reached_on("older", "alice")],
                &[],
            ),
            ("it comes first", vec![reached("alice"), asked(Some("alice"))], &["I13"]),
            ("it is for nobody", vec![asked(None), reached("alice")], &["I13"]),
        ];
        for (name, events, want) in cases {
            let mut tale = Tale::clean();
            tale.note_all(events);
            assert_eq!(tale.broken(), want, "{name}");
        }
    }
}
