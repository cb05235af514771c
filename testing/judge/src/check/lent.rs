//! I14: a capability is used for an agent that has it, on that agent's request, and before it expires.

use super::{Findings, Invariant};
use crate::history::{History, Loan, Use};
use crate::names::ByName;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let (mut loans, mut asked) = (ByName::default(), ByName::default());
    for (row, loan) in history.loans.iter().enumerate() {
        loans.set(loan.capability, row);
    }
    for (row, ask) in history.uses_asked.iter().enumerate() {
        asked.set(ask.request, row);
    }
    for used in &history.uses {
        let loan = loans.get(used.what).map(|row| &history.loans[row]);
        let ask = asked.get(used.request).map(|row| &history.uses_asked[row]);
        if let Some(why) = wrong(history, used, loan, ask) {
            let (loan, ask) = (loan.map(|loan| loan.mark), ask.map(|ask| ask.mark));
            let marks = loan.into_iter().chain(ask).chain([used.mark]);
            findings.add(Invariant::Capability, marks, || {
                let (what, request) = (history.text(used.what), history.text(used.request));
                format!("{what} was used for {request}, {why}")
            });
        }
    }
}

/// Returns the reason why a use is a violation, if it is one.
fn wrong(
    history: &History,
    used: &Use,
    loan: Option<&Loan>,
    ask: Option<&Use>,
) -> Option<&'static str> {
    let Some(ask) = ask.filter(|ask| ask.mark < used.mark) else {
        return Some("which nobody had asked for");
    };
    let Some((loan, send)) = loan.and_then(|loan| Some((loan, history.send_of(loan.event)?)))
    else {
        return Some("and nobody had lent it");
    };
    if !history.expected(send).contains(&ask.what) {
        return Some("by an agent it was not lent to");
    }
    // The capability was stored before its platform got the confirmation. A request after its validity is too late.
    let ends = send.told.map(|told| told.plus_ms(loan.good_for_ms).at_ns);
    ends.is_some_and(|ends| ask.mark.at_ns > ends).then_some("after its time")
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    const GOOD_FOR_MS: u64 = 1_000;

    /// Steps with a capability of alice.
    enum Step {
        Lend,
        Ask(&'static str),
        Use,
        Wait,
    }
    use Step::{Ask, Lend, Use, Wait};

    fn told(steps: &[Step]) -> Tale {
        let mut tale = Tale::clean();
        for step in steps {
            let texts = |texts: [&str; 4]| texts.map(str::to_owned);
            match step {
                Lend => {
                    let [id, capability, ..] = texts(["event-n1", "loan", "", ""]);
                    tale.note(Event::PlatLend { id, capability, good_for_ms: GOOD_FOR_MS })
                }
                Ask(agent) => {
                    let [conn, agent, request, session] = texts(["c1", agent, "r1", "session"]);
                    tale.note(Event::FollowReq { conn, agent, request, session })
                }
                Use => {
                    let [bot, chat, capability, request] = texts(["bot", "chat", "loan", "r1"]);
                    tale.note(Event::PlatFollowed { bot, chat, capability, request })
                }
                Wait => tale.wait_ms(GOOD_FOR_MS + 1),
            };
        }
        tale
    }

    #[test]
    fn what_was_lent_is_used_for_its_agent_alone_and_in_time() {
        let cases: [(&str, &[Step], &[&str]); 8] = [
            ("its agent asks", &[Lend, Ask("alice"), Use], &[]),
            ("nothing comes of it", &[Lend, Ask("bob")], &[]),
            ("it is used late, and asked for in time", &[Lend, Ask("alice"), Wait, Use], &[]),
            ("another asks", &[Lend, Ask("bob"), Use], &["I14"]),
            ("nobody asks", &[Lend, Use], &["I14"]),
            ("it is used first", &[Lend, Use, Ask("alice")], &["I14"]),
            ("nobody lent it", &[Ask("alice"), Use], &["I14"]),
            ("it is asked for too late", &[Lend, Wait, Ask("alice"), Use], &["I14"]),
        ];
        for (name, steps, want) in cases {
            assert_eq!(told(steps).broken(), want, "{name}");
        }
    }
}
