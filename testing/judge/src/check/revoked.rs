//! I15 and I16: a revoked gateway is no longer served, and no other gateway is closed as revoked.

use super::{Findings, Invariant};
use crate::event::OutResult;
use crate::history::{About, Close, Fault, History, Kind, Line, Mark};
use crate::names::Name;

/// Time limit of a revocation on every node.
const REVOKED_MS: u64 = 2_000;

/// Time limit without the bell, or while the tables cannot be read.
const REVOKED_WITHOUT_BELL_MS: u64 = 15_000;

/// Maximum time by which a line may be closed before its driver knows that the revocation is done.
const DRIVER_BEHIND_MS: u64 = 10_000;

/// The close code that a stock client takes as final.
const REVOKED_CODE: u16 = 4401;

/// The reason with which the code is not final.
const EXPIRED: &str = "expired";

pub(super) fn check(history: &History, findings: &mut Findings) {
    if !history.revoked.is_empty() {
        served(history, findings);
    }
    let closed = history.lines.iter().filter_map(|line| Some((line, line.closed?)));
    for (line, close) in closed.filter(|(_, close)| close.code == REVOKED_CODE) {
        if history.text(close.reason) != EXPIRED && !is_proven(history, line, close) {
            findings.add(Invariant::NoWrongRevocation, [line.opened, close.mark], || {
                let gateway = history.text(line.gateway);
                format!("{gateway} was told that it is revoked, and is not")
            });
        }
    }
}

/// I15: finds deliveries on a line that is older than its gateway's revocation.
fn served(history: &History, findings: &mut Findings) {
    let receipts = history.receipts.iter().map(|receipt| (receipt.conn, receipt.mark));
    let stops = history.stops.iter().filter_map(|stop| Some((stop.conn?, stop.mark)));
    let done = history.answers.iter().filter(|answer| answer.result == OutResult::Done);
    for (conn, mark) in receipts.chain(stops).chain(done.map(|answer| (answer.conn, answer.mark))) {
        if let Some((line, revoked)) = revoked(history, conn, mark) {
            findings.add(Invariant::Revoked, [line.opened, revoked.mark, mark], || {
                let (gateway, conn) = (history.text(line.gateway), history.text(conn));
                format!("{gateway} was still served on line {conn} after it was revoked")
            });
        }
    }
}

/// Returns the revocation before which this should have come.
fn revoked(history: &History, conn: Name, mark: Mark) -> Option<(&Line, &About)> {
    let line = history.line(conn)?;
    let is_over = |revoked: &&About| {
        revoked.name == line.gateway
            && line.opened < revoked.mark
            && mark.at_ns > until(history, line, revoked.mark).at_ns
    };
    history.revoked.iter().find(is_over).map(|revoked| (line, revoked))
}

/// Returns the time until which a line may be served, as its gateway sees it.
fn until(history: &History, line: &Line, revoked: Mark) -> Mark {
    let soon = revoked.plus_ms(REVOKED_MS);
    let is_hard = |f: &&Fault| f.touches(Kind::Redis) || f.touches(Kind::Postgres);
    let hard = history.faults.iter().filter(is_hard).any(|f| f.was_on(revoked, soon));
    let until = if hard { revoked.plus_ms(REVOKED_WITHOUT_BELL_MS) } else { soon };
    // Frames to a gateway that was frozen or cut off arrive when that fault is over.
    let is_late = |f: &&Fault| f.touches(Kind::Gateway) && f.is_on_path_of(line);
    let late = history.faults.iter().filter(is_late).filter(|f| f.was_on(revoked, until));
    let ever = Mark { at_ns: u64::MAX, ..revoked };
    late.map(|f| f.off.map_or(ever, |off| off.plus_ms(REVOKED_MS))).fold(until, Mark::max)
}

fn is_proven(history: &History, line: &Line, close: Close) -> bool {
    let until = close.mark.plus_ms(DRIVER_BEHIND_MS);
    let mut proofs = history.revoked.iter().chain(&history.bad_secrets);
    proofs.any(|proof| proof.name == line.gateway && proof.mark.at_ns <= until.at_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::tale::Tale;

    fn revoked() -> Event {
        Event::Revoked { gateway: "g-carol".to_owned() }
    }

    #[test]
    fn who_was_revoked_is_served_for_two_seconds_at_most() {
        for (late_ms, want) in [(REVOKED_MS - 10, &[][..]), (REVOKED_MS + 10, &["I15"])] {
            let mut tale = Tale::clean();
            tale.opened("c9", "carol").said("n9", &["carol"]).note(revoked()).wait_ms(late_ms);
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{late_ms} ms");
        }
    }

    #[test]
    fn who_was_revoked_is_not_told_to_stop_either() {
        let mut tale = Tale::clean();
        let [conn, agent, session, chat] = ["c9", "carol", "session", "chat"].map(str::to_owned);
        let (id, runs) = ("s".to_owned(), Some(agent.clone()));
        tale.opened("c9", "carol").note(revoked()).wait_ms(REVOKED_MS + 10);
        tale.note(Event::StopReq { id, chat: chat.clone(), agent: runs });
        tale.note(Event::StopRecv { conn, agent, session, chat });

        assert_eq!(tale.broken(), ["I15"]);
    }

    #[test]
    fn without_the_bell_it_may_take_longer() {
        for (late_ms, want) in [(14_000, &[][..]), (16_000, &["I15"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c9", "carol").said("n9", &["carol"]).fault_on("f9", "redis");
            tale.note(revoked()).wait_ms(late_ms).fault_off("f9");
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{late_ms} ms");
        }
    }

    #[test]
    fn a_node_that_cannot_look_at_the_tables_may_take_longer() {
        for (late_ms, want) in [(14_000, &[][..]), (16_000, &["I15"])] {
            let mut tale = Tale::with_faults();
            tale.opened("c9", "carol").said("n9", &["carol"]).fault_on("f9", "node-1/postgres");
            tale.note(revoked()).wait_ms(late_ms).fault_off("f9");
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{late_ms} ms");
        }
    }

    #[test]
    fn what_was_on_its_way_to_a_frozen_gateway_comes_when_it_thaws() {
        for (target, late_ms, want) in [
            ("gateway:carol", 1_000, &[][..]),
            ("gateway:carol", REVOKED_MS + 10, &["I15"]),
            ("gateway:bob", 1_000, &["I15"]),
        ] {
            let mut tale = Tale::with_faults();
            tale.opened("c9", "carol").said("n9", &["carol"]).fault_on("f9", target);
            tale.note(revoked()).wait_ms(30_000).fault_off("f9").wait_ms(late_ms);
            tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
            assert_eq!(tale.broken(), want, "{target} {late_ms} ms");
        }
    }

    #[test]
    fn a_new_secret_opens_new_lines() {
        let mut tale = Tale::clean();
        tale.said("n9", &["carol"]).note(revoked()).wait_ms(9_000).opened("c9", "carol");
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn only_who_was_revoked_is_told_so() {
        let bad_secret = || Event::BadSecret { gateway: "g-carol".to_owned() };
        let close = |reason: &str| Event::GwClose {
            conn: "c9".to_owned(),
            code: REVOKED_CODE,
            reason: reason.to_owned(),
        };
        let cases = [
            ("without proof", vec![close("revoked")], &["I16"][..]),
            ("an expired token", vec![close("expired")], &[]),
            ("revoked", vec![revoked(), close("revoked")], &[]),
            ("the driver hears of it a moment later", vec![close("revoked"), revoked()], &[]),
            ("a wrong secret", vec![bad_secret(), close("unauthorized")], &[]),
        ];
        for (name, events, want) in cases {
            let mut tale = Tale::clean();
            tale.opened("c9", "carol");
            tale.note_all(events);
            assert_eq!(tale.broken(), want, "{name}");
        }
    }
}
