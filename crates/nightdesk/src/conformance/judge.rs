//! Judges an agent by the observations of a scenario.
//!
//! Each rule is a pure function from the observations to the first fault that it finds, in one sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::facts::{SignalFate, TimedFact, TrialFact};
use super::limits::{DIALS_PER_SECOND_MAX, REVOCATION_WAIT, STOP_WAIT};

/// The end of a scenario that is expected of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedEnd {
    /// It still runs.
    Running,
    /// It ended or reported that its gateway was revoked.
    Revoked,
}

/// The expectations of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expectations {
    pub(super) end: ExpectedEnd,
    /// Stops that the program must answer.
    pub(super) stops: usize,
    /// Entries with a wrong signature that the program must refuse.
    pub(super) forgeries: usize,
}

type Finding = Option<String>;

/// Returns the faults of an agent, the most important first.
pub(super) fn judge(facts: &[TimedFact], expected: Expectations) -> Vec<String> {
    let findings = [
        find_end(facts, expected.end),
        find_wrong_chat(facts),
        find_early_ack(facts),
        find_unanswered(facts),
        find_repeated(facts),
        find_disorder(facts),
        find_unacked(facts, expected.end),
        find_stop(facts, expected.stops),
        find_forgery(facts, expected.forgeries),
        find_hasty_dials(facts),
    ];
    findings.into_iter().flatten().collect()
}

/// A message, its chat, and its place among all observations.
struct AskedMessage<'f> {
    chat: usize,
    token: &'f str,
    at: Duration,
}

fn questions(facts: &[TimedFact]) -> Vec<AskedMessage<'_>> {
    let mut questions = Vec::new();
    for timed in facts {
        if let TrialFact::Question { chat, token } = &timed.fact {
            questions.push(AskedMessage { chat: *chat, token, at: timed.at });
        }
    }
    questions
}

/// Returns the chats of the answers to a message, in order.
fn answer_chats(facts: &[TimedFact], of: &str) -> Vec<usize> {
    let mut chats = Vec::new();
    for timed in facts {
        if let TrialFact::Answer { chat, token } = &timed.fact
            && token == of
        {
            chats.push(*chat);
        }
    }
    chats
}

/// Returns the messages whose turn the program was told to stop.
fn stopped_tokens(facts: &[TimedFact]) -> BTreeSet<&str> {
    let mut tokens = BTreeSet::new();
    for timed in facts {
        if let TrialFact::StopOrder { token } = &timed.fact {
            tokens.insert(token.as_str());
        }
    }
    tokens
}

fn find_end(facts: &[TimedFact], expected: ExpectedEnd) -> Finding {
    match expected {
        ExpectedEnd::Running => facts.iter().find_map(|timed| {
            let TrialFact::Exit { status } = &timed.fact else { return None };
            Some(format!("the program ended by itself ({status})"))
        }),
        ExpectedEnd::Revoked => find_silence_after_revocation(facts),
    }
}

fn find_silence_after_revocation(facts: &[TimedFact]) -> Finding {
    let is_revocation = |timed: &TimedFact| timed.fact == TrialFact::Revocation;
    let after = facts.iter().skip_while(|timed| !is_revocation(timed));
    let mut ends = after
        .filter(|timed| matches!(timed.fact, TrialFact::Exit { .. } | TrialFact::RevocationReport));
    let wait = REVOCATION_WAIT.as_secs();
    ends.next().is_none().then(|| {
        format!(
            "the gateway was revoked, and within {wait} s the program neither ended nor wrote that it is revoked"
        )
    })
}

fn find_wrong_chat(facts: &[TimedFact]) -> Finding {
    questions(facts).iter().find_map(|asked| {
        let mut chats = answer_chats(facts, asked.token).into_iter();
        let wrong = chats.find(|chat| *chat != asked.chat)?;
        Some(format!(
            "the answer to message {} of chat {} appeared in chat {wrong}",
            asked.token, asked.chat
        ))
    })
}

fn find_unanswered(facts: &[TimedFact]) -> Finding {
    let stopped = stopped_tokens(facts);
    let asked = questions(facts);
    let is_missing = |asked: &&AskedMessage<'_>| {
        !stopped.contains(asked.token) && answer_chats(facts, asked.token).is_empty()
    };
    let missing: Vec<&AskedMessage<'_>> = asked.iter().filter(is_missing).collect();
    let first = missing.first()?;
    let deliveries = count_deliveries(facts, first.token);
    let (count, all) = (missing.len(), asked.len());
    Some(format!(
        "{count} of {all} messages were not answered; the first is {}, written after {:.1} s and \
         delivered {deliveries} times",
        first.token,
        first.at.as_secs_f64()
    ))
}

fn count_deliveries(facts: &[TimedFact], of: &str) -> usize {
    let is_delivery = |timed: &&TimedFact| matches!(&timed.fact, TrialFact::Delivery { token: Some(token), .. } if token == of);
    facts.iter().filter(is_delivery).count()
}

/// A message may be answered twice only if the program was killed between its delivery and its ack.
fn find_repeated(facts: &[TimedFact]) -> Finding {
    questions(facts).iter().find_map(|asked| {
        let answers = answer_chats(facts, asked.token).len();
        let excused = count_kills_before_ack(facts, asked.token);
        (answers > 1 + excused).then(|| {
            let deliveries = count_deliveries(facts, asked.token);
            format!(
                "message {} was answered {answers} times; it was delivered {deliveries} times",
                asked.token
            )
        })
    })
}

/// Counts the kills between the delivery of a message and its ack.
fn count_kills_before_ack(facts: &[TimedFact], of: &str) -> usize {
    let (mut held, mut kills) = (BTreeSet::new(), 0);
    for timed in facts {
        if let TrialFact::Delivery { entry, token: Some(token) } = &timed.fact {
            if token == of {
                held.insert(entry);
            }
        } else if let TrialFact::Ack { entry, fate: SignalFate::Passed } = &timed.fact {
            held.remove(entry);
        } else if timed.fact == TrialFact::Kill && !held.is_empty() {
            kills += 1;
        }
    }
    kills
}

/// In each chat, the first answers are in the order of the messages.
fn find_disorder(facts: &[TimedFact]) -> Finding {
    let mut last_of_chat: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    let asked = questions(facts);
    let mut answered = BTreeSet::new();
    for timed in facts {
        let TrialFact::Answer { chat, token } = &timed.fact else { continue };
        let Some(number) = asked.iter().position(|asked| asked.token == token) else { continue };
        if !answered.insert(token) {
            continue;
        }
        if let Some((before, earlier)) = last_of_chat.insert(*chat, (number, token))
            && before > number
        {
            return Some(format!(
                "message {token} was written before {earlier} in chat {chat}, and answered after it"
            ));
        }
    }
    None
}

/// An ack comes after the answer, or after the order to stop the turn.
fn find_early_ack(facts: &[TimedFact]) -> Finding {
    let (mut token_of, mut ended) = (BTreeMap::new(), BTreeSet::new());
    for timed in facts {
        if let TrialFact::Delivery { entry, token: Some(token) } = &timed.fact {
            token_of.insert(entry, token);
        } else if let TrialFact::Send { token } | TrialFact::StopOrder { token } = &timed.fact {
            ended.insert(token);
        } else if let TrialFact::Ack { entry, .. } = &timed.fact
            && let Some(token) = token_of.get(entry).filter(|token| !ended.contains(*token))
        {
            return Some(format!(
                "message {token} was acknowledged before it was answered, so a crash would lose it"
            ));
        }
    }
    None
}

/// Every delivered entry is acknowledged in the end.
fn find_unacked(facts: &[TimedFact], expected: ExpectedEnd) -> Finding {
    if expected == ExpectedEnd::Revoked {
        return None;
    }
    let unacked = unacked_entries(facts);
    let count = unacked.len();
    (count > 0).then(|| {
        format!("{count} delivered messages were answered or dropped, and never acknowledged")
    })
}

/// Returns the entries that were delivered and whose ack did not reach the desk.
pub(super) fn unacked_entries(facts: &[TimedFact]) -> BTreeSet<&str> {
    let mut unacked = BTreeSet::new();
    for timed in facts {
        if let TrialFact::Delivery { entry, .. } = &timed.fact
            && !is_acked(facts, entry)
        {
            unacked.insert(entry.as_str());
        }
    }
    unacked
}

fn is_acked(facts: &[TimedFact], of: &str) -> bool {
    let is_ack = |timed: &TimedFact| matches!(&timed.fact, TrialFact::Ack { entry, fate: SignalFate::Passed } if entry == of);
    facts.iter().any(is_ack)
}

/// Returns true if every message has an answer.
pub(super) fn is_all_answered(facts: &[TimedFact]) -> bool {
    find_unanswered(facts).is_none()
}

/// Each stop order is answered in time, as executed.
fn find_stop(facts: &[TimedFact], expected: usize) -> Finding {
    let orders = facts.iter().filter(|it| matches!(it.fact, TrialFact::StopOrder { .. }));
    let ordered: Vec<Duration> = orders.map(|timed| timed.at).collect();
    if ordered.len() < expected {
        return Some("the program took no stop order while its turn ran".to_owned());
    }
    let mut results = facts.iter().filter_map(|timed| {
        let TrialFact::StopResult { stopped } = timed.fact else { return None };
        Some((timed.at, stopped))
    });
    let late = ordered.into_iter().find_map(|at| match results.next() {
        Some((answered_at, true)) if answered_at.saturating_sub(at) <= STOP_WAIT => None,
        Some((_, false)) => Some("a running turn was not stopped".to_owned()),
        Some(_) | None => Some(format!("a stop was not executed within {} s", STOP_WAIT.as_secs())),
    });
    let is_answered = |token: &&str| !answer_chats(facts, token).is_empty();
    let went_on = || {
        let token = stopped_tokens(facts).into_iter().find(is_answered)?;
        Some(format!("the turn of message {token} was stopped, and answered nevertheless"))
    };
    late.or_else(went_on)
}

fn find_forgery(facts: &[TimedFact], expected: usize) -> Finding {
    let status = |timed: &TimedFact| {
        let TrialFact::Forgery { status } = timed.fact else { return None };
        Some(status)
    };
    let statuses: Vec<u16> = facts.iter().filter_map(status).collect();
    if statuses.len() < expected {
        return Some("the program did not respond to a post with a wrong signature".to_owned());
    }
    let accepted = statuses.into_iter().find(|status| !(400..500).contains(status))?;
    Some(format!("a post with a wrong signature got status {accepted}; respond with 401"))
}

/// A program waits between dials.
fn find_hasty_dials(facts: &[TimedFact]) -> Finding {
    let dials: Vec<Duration> =
        facts.iter().filter(|it| it.fact == TrialFact::Dial).map(|timed| timed.at).collect();
    let is_hasty = |window: &[Duration]| match window {
        [first, .., last] => last.saturating_sub(*first) < Duration::from_secs(1),
        [] | [_] => false,
    };
    dials.windows(DIALS_PER_SECOND_MAX + 1).any(is_hasty).then(|| {
        format!("the program dialled over {DIALS_PER_SECOND_MAX} times within a second; dial again with backoff")
    })
}

#[cfg(test)]
mod tests;
