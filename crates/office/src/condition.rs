//! The condition of an agent, as a pure function of its status.

use nightdesk_types::Timestamp;
use nightdesk_wake::AgentWakeStatus;

use crate::times::ago;

/// The state of an agent, as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentCondition {
    /// It has an open line that answers.
    Awake,
    /// It has no line and is not needed.
    Asleep,
    /// It is needed, and the desk calls it.
    Waking,
    /// It is needed, and the desk cannot reach it.
    Unreachable,
    /// It has an open line that does not answer.
    Deaf,
}

nightdesk_types::slugs! {
    AgentCondition:
    Awake = "awake",
    Asleep = "asleep",
    Waking = "waking",
    Unreachable = "unreachable",
    Deaf = "deaf",
}

/// The state of a wake in which the desk has given up.
const GIVEN_UP: &str = "unreachable";

/// The states of a wake in which the agent is needed.
const NEEDED: [&str; 2] = ["due", "held"];

/// Returns the condition of an agent, and its reason in words.
pub fn explain_condition(status: &AgentWakeStatus, now: Timestamp) -> (AgentCondition, String) {
    let wake = status.wake.as_ref();
    let needed = wake.filter(|wake| NEEDED.contains(&wake.state.as_str()));
    match (status.line_since, needed) {
        (Some(_), Some(wake)) => (
            AgentCondition::Deaf,
            format!("its line is open but has not answered since {}", ago(wake.since, now)),
        ),
        (Some(since), None) => {
            (AgentCondition::Awake, format!("its line opened {}", ago(since, now)))
        }
        (None, Some(wake)) => {
            let outcome = wake.outcome.as_deref().unwrap_or("not called yet");
            let calls = calls_text(wake.calls);
            let text =
                format!("needed since {}, {calls}; the last: {outcome}", ago(wake.since, now));
            (AgentCondition::Waking, text)
        }
        (None, None) => match wake.filter(|wake| wake.state == GIVEN_UP) {
            Some(wake) => {
                let outcome = wake.outcome.as_deref().unwrap_or("no call was possible");
                let calls = calls_text(wake.calls);
                let text = format!("the desk gave up after {calls}; the last: {outcome}");
                (AgentCondition::Unreachable, text)
            }
            None => (AgentCondition::Asleep, "nothing waits for it".to_owned()),
        },
    }
}

fn calls_text(calls: u32) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, ClientRules};
    use nightdesk_wake::WakeStatus;
    use uuid::Uuid;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn status(line: Option<i64>, wake: Option<&str>) -> AgentWakeStatus {
        AgentWakeStatus {
            agent: AgentId::from_uuid(Uuid::nil()),
            name: "owl".to_owned(),
            line_since: line.map(at),
            transport: None,
            waiting: 1,
            urls: 1,
            wake: wake.map(|state| WakeStatus {
                state: state.to_owned(),
                since: at(0),
                due_at: None,
                calls: 2,
                called_at: None,
                outcome: Some("status 500".to_owned()),
                woken_at: None,
            }),
            rules: ClientRules::default(),
        }
    }

    #[test]
    fn a_status_has_a_condition_and_a_reason() {
        let cases = [
            (status(Some(60), None), AgentCondition::Awake, "its line opened 1 min ago"),
            (status(Some(60), Some("woken")), AgentCondition::Awake, "its line opened 1 min ago"),
            (status(Some(0), Some("due")), AgentCondition::Deaf, "not answered since 2 min ago"),
            (status(None, Some("held")), AgentCondition::Waking, "2 calls; the last: status 500"),
            (status(None, Some("unreachable")), AgentCondition::Unreachable, "gave up after 2"),
            (status(None, Some("settled")), AgentCondition::Asleep, "nothing waits"),
            (status(None, None), AgentCondition::Asleep, "nothing waits"),
        ];
        for (status, condition, reason) in cases {
            let (found, text) = explain_condition(&status, at(120));
            assert_eq!(found, condition, "{status:?}");
            assert!(text.contains(reason), "{text}");
        }
    }
}
