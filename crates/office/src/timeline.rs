//! The course of an entry, from its arrival to its answer.

mod story;

use nightdesk_desk::explaining::{
    self, EntryExplanation, Explanation, describe_ground, describe_send,
};
use nightdesk_gate::{EventFacts, EventPlace};
use nightdesk_inbox::EntryStatus;
use nightdesk_types::{AgentId, EntryId, Seq, TenantScope, Timestamp};
use serde_json::Value;

use self::story::tell_story;
pub(crate) use self::story::{park_advice, park_text};
use crate::error::OfficeError;
use crate::inbox::unknown_entry;
use crate::office::Office;
use crate::reads::LoggedWake;
use crate::times::{duration_text, milliseconds_between, seconds};

/// The course of an entry. It contains no text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTimeline {
    /// The steps, in order.
    pub steps: Vec<EntryStep>,
    /// The course and its reason, in words.
    pub story: String,
    /// The next step for a person.
    pub advice: Option<&'static str>,
}

/// A step of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryStep {
    /// `done`, `open` or `failed`.
    pub kind: &'static str,
    /// The step, in one word.
    pub label: &'static str,
    /// The step, in words.
    pub text: String,
    /// The time. `None`: it lasts.
    pub at: Option<String>,
    /// The milliseconds since the step before.
    pub gap_ms: Option<i64>,
    /// That time, in words.
    pub after: Option<String>,
}

/// A step with its time, before the steps are in order.
struct TimedStep {
    kind: &'static str,
    label: &'static str,
    text: String,
    at: Option<Timestamp>,
}

impl Office {
    /// Returns the course of an entry.
    pub async fn entry_timeline(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
        now: Timestamp,
    ) -> Result<EntryTimeline, OfficeError> {
        let details = self.store.show_entry(scope, agent, seq).await?;
        let incarnation = details.ok_or_else(|| unknown_entry(seq))?.summary.incarnation;
        let entry = EntryId { agent, incarnation, seq }.to_string();
        let explained = explaining::explain(&*self.desk.stops.records, scope, &entry).await?;
        let explanation = match explained {
            Explanation::Entry(explanation) => explanation,
            Explanation::Refused(_) | Explanation::Unknown => return Err(unknown_entry(seq)),
        };
        let rule = self.entry_rule(scope, agent, &explanation).await?;
        let wakes = self.store.logged_wakes(scope, agent).await?;
        let mut steps = steps(&explanation, wakes);
        steps.insert(1, done("admitted", rule, explanation.details.summary.at));
        let (story, advice) = tell_story(&explanation, now);
        Ok(EntryTimeline { steps: in_order(steps), story, advice })
    }

    /// Returns the rule by which the agent is reached from the entry's chat, in words.
    async fn entry_rule(
        &self,
        scope: TenantScope,
        agent: AgentId,
        explanation: &EntryExplanation,
    ) -> Result<String, OfficeError> {
        let details = &explanation.details;
        if details.summary.bot.uuid().is_nil() {
            return Ok("The desk itself put it there: a letter, a job or a test.".to_owned());
        }
        let body: Value = serde_json::from_slice(&details.body).unwrap_or_default();
        let source = [&body["event"]["source"], &body["forward"]["source"]];
        let source = source.into_iter().find(|source| source.is_object());
        let Some(facts) = source.and_then(source_facts) else {
            return Ok("The gate admitted it; its author is not known any more.".to_owned());
        };
        let decision = self.desk.stops.gate.explain(details.summary.bot, &facts, None).await?;
        let own = |recipient: nightdesk_gate::Recipient| {
            recipient.scope == scope && recipient.agent == agent
        };
        let verdict = decision.verdicts.into_iter().find(|verdict| own(verdict.recipient));
        Ok(verdict.map_or_else(
            || "The gate admitted it by a rule that does not exist any more.".to_owned(),
            |verdict| format!("The gate admitted it: {}.", describe_ground(verdict.ground)),
        ))
    }
}

/// Returns the facts of a stored source. Only the ground of the decision is of interest.
fn source_facts(source: &Value) -> Option<EventFacts<'_>> {
    Some(EventFacts {
        author: source["user_id"].as_str()?,
        is_program: source["is_bot"].as_bool().unwrap_or(false),
        is_addressed: true,
        takes_part: false,
        place: EventPlace {
            scope: source["scope_id"].as_str(),
            chat: source["chat_id"].as_str()?,
            parent: source["parent_chat_id"].as_str(),
            is_direct: source["chat_type"].as_str().is_none_or(|kind| kind == "dm"),
        },
    })
}

fn done(label: &'static str, text: impl Into<String>, at: Timestamp) -> TimedStep {
    TimedStep { kind: "done", label, text: text.into(), at: Some(at) }
}

fn steps(explanation: &EntryExplanation, wakes: Vec<LoggedWake>) -> Vec<TimedStep> {
    let EntryExplanation { details, sends, .. } = explanation;
    let arrival = match details.origin {
        Some(origin) => format!("It was put into the inbox again; before, it was entry {origin}."),
        None => "The desk received the message and stored it.".to_owned(),
    };
    let mut steps = vec![done("stored", arrival, details.summary.at)];
    steps.extend(match wake_of(details.summary.at, &details.state, wakes) {
        Some(wake) => logged_wake_steps(&wake),
        None => open_wake_steps(explanation),
    });
    steps.extend(state_steps(&details.state, details.summary.at));
    steps.extend(sends.iter().map(|send| {
        let text = format!("The agent wrote in this chat: {}.", describe_send(send));
        done("answered", text, send.asked_at)
    }));
    steps
}

/// Returns the wake that an entry of this time waited for: the first one that ended after it, and began before the
/// hand-over.
fn wake_of(
    stored_at: Timestamp,
    state: &EntryStatus,
    wakes: Vec<LoggedWake>,
) -> Option<LoggedWake> {
    let handed_at = match state {
        EntryStatus::Acked { times } => times.map(|(handed, _)| handed),
        EntryStatus::Waiting { .. } | EntryStatus::Parked(_) => None,
    };
    let of_entry = |wake: &LoggedWake| {
        wake.ended_at >= stored_at && handed_at.is_none_or(|handed| wake.since <= handed)
    };
    wakes.into_iter().filter(of_entry).min_by_key(|wake| wake.number)
}

fn logged_wake_steps(wake: &LoggedWake) -> Vec<TimedStep> {
    let called = wake.called_at.map(|at| {
        let outcome = wake.outcome.as_deref().unwrap_or("under way");
        let calls = if wake.calls == 1 { String::new() } else { format!(" {} times", wake.calls) };
        done("called", format!("The desk called the agent{calls}: {outcome}."), at)
    });
    let ended = match wake.woken_at {
        Some(at) => done("dialled in", "The agent dialled in.", at),
        None => TimedStep {
            kind: "failed",
            ..done("gave up", "The desk gave up waking the agent.", wake.ended_at)
        },
    };
    called.into_iter().chain([ended]).collect()
}

/// The calls of a wake that lasts.
fn open_wake_steps(explanation: &EntryExplanation) -> Vec<TimedStep> {
    let since = explanation.details.summary.at;
    let wake = explanation.agent.as_ref().and_then(|agent| agent.wake.as_ref());
    let called = wake.and_then(|wake| {
        let at = wake.called_at.filter(|at| *at >= since)?;
        let outcome = wake.outcome.as_deref().unwrap_or("under way");
        Some(done("called", format!("The desk called the agent: {outcome}."), at))
    });
    called.into_iter().collect()
}

fn state_steps(state: &EntryStatus, stored_at: Timestamp) -> Vec<TimedStep> {
    match state {
        EntryStatus::Waiting { tries } => {
            let text = match tries {
                0 => "It waits for the agent.".to_owned(),
                1 => "It waits for the agent; one delivery failed.".to_owned(),
                tries => format!("It waits for the agent; {tries} deliveries failed."),
            };
            vec![TimedStep { kind: "open", label: "waits", text, at: None }]
        }
        EntryStatus::Acked { times: Some((handed, acked)) } => vec![
            done("handed over", "The desk handed it to the agent.", *handed),
            done("acknowledged", "The agent acknowledged it.", *acked),
        ],
        EntryStatus::Acked { times: None } => {
            let text = "The agent acknowledged it.".to_owned();
            vec![TimedStep { kind: "done", label: "acknowledged", text, at: None }]
        }
        EntryStatus::Parked(record) => {
            let text = format!("It was parked: {}.", park_text(record.reason));
            // The statement that stores an entry for a full inbox parks it first.
            let at = record.at.max(stored_at);
            let parked = TimedStep { kind: "failed", ..done("parked", text, at) };
            let again = record.resubmitted_as.map(|seq| TimedStep {
                kind: "done",
                label: "again",
                text: format!("It was put into the inbox again, as entry {seq}."),
                at: None,
            });
            [parked].into_iter().chain(again).collect()
        }
    }
}

/// Sorts the steps by time; a step that lasts comes last.
fn in_order(mut steps: Vec<TimedStep>) -> Vec<EntryStep> {
    steps.sort_by_key(|step| step.at.unwrap_or(Timestamp::MAX));
    let mut before = None;
    let shown = steps.into_iter().map(|TimedStep { kind, label, text, at }| {
        let gap_ms = before.zip(at).map(|(before, at)| milliseconds_between(before, at));
        before = at.or(before);
        let after = gap_ms.filter(|gap| *gap > 0).map(duration_text);
        EntryStep { kind, label, text, at: at.map(seconds), gap_ms, after }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn wake(number: i64, since: i64, ended: i64) -> LoggedWake {
        LoggedWake {
            number,
            since: at(since),
            calls: 2,
            called_at: Some(at(since)),
            outcome: Some("200 in 3 ms".to_owned()),
            woken_at: Some(at(ended)),
            ended_at: at(ended),
        }
    }

    #[test]
    fn steps_are_in_the_order_of_their_times() {
        let open = TimedStep { kind: "open", label: "waits", text: "waits".to_owned(), at: None };
        let steps =
            in_order(vec![open, done("called", "called", at(90)), done("stored", "stored", at(0))]);

        let texts: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
        assert_eq!(texts, ["stored", "called", "waits"]);
        let gaps: Vec<Option<&str>> = steps.iter().map(|step| step.after.as_deref()).collect();
        assert_eq!(gaps, [None, Some("1 min"), None]);
        assert_eq!(steps[1].gap_ms, Some(90_000));
    }

    #[test]
    fn an_acknowledged_entry_was_handed_over_first() {
        let state = EntryStatus::Acked { times: Some((at(1), at(2))) };
        let steps = in_order(state_steps(&state, at(0)));

        assert_eq!(steps.len(), 2);
        assert!(steps[0].text.contains("handed") && steps[1].text.contains("acknowledged"));
    }

    #[test]
    fn an_entry_waited_for_the_first_wake_after_it() {
        let acked = EntryStatus::Acked { times: Some((at(30), at(31))) };
        let wakes = || vec![wake(3, 40, 50), wake(2, 10, 20), wake(1, 0, 5)];
        let number = |stored, state| wake_of(at(stored), state, wakes()).map(|wake| wake.number);

        assert_eq!(number(10, &acked), Some(2));
        assert_eq!(number(25, &acked), None, "the next wake began after the hand-over");
        assert_eq!(number(25, &EntryStatus::Waiting { tries: 0 }), Some(3));
        let steps = logged_wake_steps(&wake(1, 0, 5));
        assert!(steps[0].text.contains("2 times: 200 in 3 ms"), "{}", steps[0].text);
        assert_eq!(steps[1].label, "dialled in");
    }

    #[test]
    fn the_facts_of_a_stored_source_are_read() {
        let source = serde_json::json!({
            "chat_id": "c1", "user_id": "u1", "scope_id": "g1", "chat_type": "channel"
        });
        let facts = source_facts(&source).unwrap();

        assert_eq!((facts.author, facts.place.scope), ("u1", Some("g1")));
        assert!(!facts.place.is_direct && !facts.is_program);
        assert!(source_facts(&serde_json::json!({ "chat_id": "c1" })).is_none());
    }
}
