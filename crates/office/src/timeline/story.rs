//! The course of an entry in words, and the next step for a person. Pure functions.

use nightdesk_desk::explaining::{EntryExplanation, describe_send};
use nightdesk_inbox::{EntryStatus, ParkReason};
use nightdesk_types::Timestamp;

use crate::condition::{AgentCondition, explain_condition};
use crate::times::{duration_text, milliseconds_between};

/// Returns the course of an entry in words, and the next step if a person should take one.
pub(super) fn tell_story(
    explanation: &EntryExplanation,
    now: Timestamp,
) -> (String, Option<&'static str>) {
    match &explanation.details.state {
        EntryStatus::Waiting { tries } => tell_waiting(explanation, *tries, now),
        EntryStatus::Parked(record) => {
            if let Some(seq) = record.resubmitted_as {
                let text = format!("It was parked, and put into the inbox again as entry {seq}.");
                return (text, None);
            }
            let text = format!("It reached no agent: {}.", park_text(record.reason));
            (text, Some(park_advice(record.reason)))
        }
        EntryStatus::Acked { times } => (tell_acked(explanation, *times), None),
    }
}

fn tell_waiting(
    explanation: &EntryExplanation,
    tries: u32,
    now: Timestamp,
) -> (String, Option<&'static str>) {
    let Some(agent) = &explanation.agent else {
        return ("It waits for an agent that was removed.".to_owned(), None);
    };
    let (condition, reason) = explain_condition(agent, now);
    match condition {
        AgentCondition::Awake if tries == 0 => {
            ("The agent is awake; the desk waits for its acknowledgement.".to_owned(), None)
        }
        AgentCondition::Awake => (
            format!("The agent is awake, but {tries} deliveries ended without an acknowledgement."),
            Some("Look at the log of the agent's client: it took the entry and then hung up."),
        ),
        AgentCondition::Asleep => (
            "The agent sleeps, and nothing wakes it for this entry; it gets it when it dials in."
                .to_owned(),
            Some("Wake the agent from its page if the entry cannot wait."),
        ),
        AgentCondition::Waking => {
            (format!("The agent sleeps, and the desk wakes it: {reason}."), None)
        }
        AgentCondition::Unreachable => (
            format!("The desk could not wake the agent: {reason}."),
            Some("Check the agent's wake URL and its host, then wake it from its page."),
        ),
        AgentCondition::Deaf => (
            format!("The agent has a line that does not answer: {reason}."),
            Some("Restart the agent's client; the entry is kept."),
        ),
    }
}

fn tell_acked(explanation: &EntryExplanation, times: Option<(Timestamp, Timestamp)>) -> String {
    let stored_at = explanation.details.summary.at;
    let took = times.map_or_else(
        || "The agent took it".to_owned(),
        |(_, acked)| {
            let span = duration_text(milliseconds_between(stored_at, acked));
            format!("The agent took it {span} after it came")
        },
    );
    match explanation.sends.as_slice() {
        [] => format!("{took}, and has not written in this chat since."),
        [first, ..] => {
            let span = duration_text(milliseconds_between(stored_at, first.asked_at));
            format!("{took}, and wrote in this chat after {span}: {}.", describe_send(first))
        }
    }
}

/// Returns the reason for which an entry is parked, in words.
pub(crate) const fn park_text(reason: ParkReason) -> &'static str {
    match reason {
        ParkReason::Unsendable => "no client can take it, because it is too large",
        ParkReason::Tries => "the agent did not acknowledge it in three deliveries",
        ParkReason::Full => "the agent's inbox was full",
        ParkReason::RateLimit => "its author wrote far more than the rate limit allows",
        ParkReason::Expired => "the agent did not take it within seven days",
        ParkReason::Unreadable => "its stored text cannot be opened",
        ParkReason::Operator => "a person parked it",
        ParkReason::Stopped => "its chat was stopped while the agent slept",
    }
}

/// Returns the next step for an entry that is parked.
pub(crate) const fn park_advice(reason: ParkReason) -> &'static str {
    match reason {
        ParkReason::Unsendable => "Drop it, and ask its author to send it in smaller parts.",
        ParkReason::Tries => {
            "Find the fault in the log of the agent's client, mend it, and deliver the entry again."
        }
        ParkReason::Full => {
            "Let the agent take its waiting entries, or raise the quota pending-entries, and deliver it again."
        }
        ParkReason::RateLimit => "Deliver it again if you trust its author; otherwise drop it.",
        ParkReason::Expired => "Wake the agent, and deliver it again if it still matters.",
        ParkReason::Unreadable => {
            "It cannot be delivered: its key is gone, or its row was changed. Drop it."
        }
        ParkReason::Operator => "Deliver it again, or drop it.",
        ParkReason::Stopped => "Deliver it again if the agent should answer after all.",
    }
}
