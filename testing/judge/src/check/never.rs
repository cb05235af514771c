//! I18, I21, I22 and I23: records that must never occur.

use super::{Findings, Invariant};
use crate::history::{About, History};

pub(super) fn check(history: &History, findings: &mut Findings) {
    never(history, findings, Invariant::NoHoneypot, &history.honeypots, "somebody was led to");
    let missing = "the platform was answered and the tables do not have";
    never(history, findings, Invariant::DurableBeforeAck, &history.missing, missing);
    never(history, findings, Invariant::NoLeak, &history.canaries, "a secret was found in");
    let fault = "the audit log is not whole:";
    never(history, findings, Invariant::AuditWhole, &history.audit_faults, fault);
}

fn never(
    history: &History,
    findings: &mut Findings,
    invariant: Invariant,
    seen: &[About],
    what: &str,
) {
    for about in seen {
        findings.add(invariant, [about.mark], || format!("{what} {}", history.text(about.name)));
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    #[test]
    fn what_may_never_be_seen_is_found() {
        let id = || "e1".to_owned();
        let cases = [
            (Event::Honeypot { address: "10.0.0.1:80".to_owned() }, &["I18"][..]),
            (Event::PlatLook { id: id(), found: false }, &["I21"]),
            (Event::PlatLook { id: id(), found: true }, &[]),
            (Event::Audited { fault: None }, &[]),
            (Event::Audited { fault: Some("a row is gone".to_owned()) }, &["I23"]),
            (Event::Canary { place: "node-1.log".to_owned() }, &["I22"]),
        ];
        for (event, want) in cases {
            let mut tale = Tale::clean();
            tale.note(event.clone());

            assert_eq!(tale.broken(), want, "{event:?}");
        }
    }
}
