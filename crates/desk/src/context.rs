//! Adds preceding chat lines to a message, for agents that receive only messages addressed to them.
//!
//! An agent gets a line only if the gate would admit the line had it been addressed to the agent, so an author who may
//! not write to an agent is not quoted to it either. If a message has several recipients, it carries only lines that
//! all of them may see.

use std::error::Error;
use std::sync::Arc;

use moka::Entry;
use moka::sync::Cache;
use nightdesk_gate::{AdmissionRefusal, AdmittedEvent, Decision, EventFacts, Refusal};
use nightdesk_intake::{VerifiedEvent, backfill};
use nightdesk_port::{ContextSource, HistoryRange, ListenError};
use nightdesk_types::event::{Content, ContextLine, Message};
use nightdesk_types::limits::{
    CONTEXT_LINE_BYTES_MAX, CONTEXT_LINES_MAX, CONTEXT_WAIT, OVERHEARD_BYTES_MAX,
    OVERHEARD_KEPT_FOR,
};
use nightdesk_types::{BotId, Event, StoreError};
use tokio::time::timeout;

use crate::Account;
use crate::visibility_check::VisibilityCheck;

/// A chat, or a thread of it.
type ContextKey = (BotId, String, Option<String>);

/// Messages that were addressed to none of the agents in a room, for platforms that cannot return them later. They are
/// in memory only, so the list is empty after a restart.
pub(crate) struct OverheardMessages(Cache<ContextKey, Arc<Vec<Event>>>);

impl std::fmt::Debug for OverheardMessages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Overheard")
    }
}

impl Default for OverheardMessages {
    fn default() -> Self {
        let weigh = |_: &ContextKey, said: &Arc<Vec<Event>>| {
            let bytes: usize = said.iter().map(|event| event.to_json().len()).sum();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let kept = Cache::builder().weigher(weigh).max_capacity(OVERHEARD_BYTES_MAX);
        Self(kept.time_to_idle(OVERHEARD_KEPT_FOR).build())
    }
}

impl OverheardMessages {
    /// Stores a message that an agent did not receive because it was not addressed to the agent.
    pub(crate) fn record(
        &self,
        account: &Account,
        event: &VerifiedEvent,
        refused: &[AdmissionRefusal],
    ) {
        let is_chatter = refused.iter().any(|one| one.refusal == Refusal::NotAddressed);
        if !is_chatter || account.platform.context_source() != ContextSource::Overheard {
            return;
        }
        let Some(line) = shorten_event(event.get()) else { return };
        self.0.entry(context_key(event)).and_upsert_with(|before| {
            let before = before.map(Entry::into_value).unwrap_or_default();
            Arc::new(append_line(&before, line))
        });
    }

    fn messages_before(&self, event: &VerifiedEvent) -> Vec<Event> {
        self.0.get(&context_key(event)).map(|said| said.to_vec()).unwrap_or_default()
    }

    /// Returns the messages before an event, if at least one of its recipients did not receive them.
    pub(crate) async fn preceding_messages(
        &self,
        looking: &VisibilityCheck<'_>,
        event: &AdmittedEvent,
    ) -> Result<PrecedingMessages, StoreError> {
        let account = looking.account;
        let said = match account.platform.context_source() {
            ContextSource::Untold => return Ok(PrecedingMessages::default()),
            _ if !needs_context(looking, event).await? => return Ok(PrecedingMessages::default()),
            ContextSource::Overheard => Ok(self.messages_before(event.verified())),
            ContextSource::Asked => request_history(account, event.verified()).await,
        };
        let said = said.inspect_err(|error| {
            let error = error as &dyn Error;
            tracing::debug!(bot.id = %account.bot.id, error, "could not read the messages before an event");
        });
        let failed = said.is_err();
        Ok(PrecedingMessages { messages: said.unwrap_or_default(), failed })
    }
}

/// Returns the last lines of a room. An edited message replaces its earlier version.
fn append_line(before: &[Event], line: Event) -> Vec<Event> {
    let others = before.iter().filter(|old| id_of(old) != id_of(&line));
    let mut said: Vec<Event> = others.cloned().collect();
    said.push(line);
    said.split_off(said.len().saturating_sub(CONTEXT_LINES_MAX))
}

fn context_key(event: &VerifiedEvent) -> ContextKey {
    let source = event.get().source();
    (event.bot(), source.chat_id.clone(), source.thread_id.clone())
}

fn id_of(event: &Event) -> Option<&str> {
    message_of(event).and_then(|message| message.message_id.as_deref())
}

const fn message_of(event: &Event) -> Option<&Message> {
    match event.content() {
        Content::Message(message) => Some(message),
        Content::Passthrough(_) => None,
    }
}

/// Returns an event with its text cut and its media removed, or `None` if it is not a message.
fn shorten_event(event: &Event) -> Option<Event> {
    let mut draft = event.clone().into_draft();
    let Content::Message(message) = &mut draft.content else { return None };
    let cut = message.text.floor_char_boundary(CONTEXT_LINE_BYTES_MAX);
    message.text.truncate(cut);
    message.media.clear();
    Event::normalise(draft).ok()
}

/// The messages before an event, before the gate has filtered them.
#[derive(Debug, Default)]
pub(crate) struct PrecedingMessages {
    messages: Vec<Event>,
    failed: bool,
}

impl PrecedingMessages {
    /// Returns the event with the lines that all of its recipients may see, if there are any or the lookup failed.
    pub(crate) async fn with_context(
        &self,
        looking: &VisibilityCheck<'_>,
        event: &AdmittedEvent,
    ) -> Result<Option<AdmittedEvent>, StoreError> {
        let mut lines = Vec::new();
        for said in &self.messages {
            let may_be_told = may_see_line(looking, event, said).await?;
            lines.extend(context_line(said).filter(|_| may_be_told));
        }
        let is_told = self.failed || !lines.is_empty();
        Ok(is_told.then(|| event.with_context(lines, self.failed)))
    }
}

/// Returns true if at least one recipient would not have received the event had it not been addressed to it.
async fn needs_context(
    looking: &VisibilityCheck<'_>,
    event: &AdmittedEvent,
) -> Result<bool, StoreError> {
    let said = event.verified().get();
    let (Some(facts), Some(_)) = (EventFacts::from_event(said), message_of(said)) else {
        return Ok(false);
    };
    let unsaid = EventFacts { is_addressed: false, ..facts };
    Ok(is_unaddressed_to_some(event, &looking.explain(&unsaid).await?))
}

/// Returns true if all recipients of the event may see a line and at least one of them did not receive it.
async fn may_see_line(
    looking: &VisibilityCheck<'_>,
    event: &AdmittedEvent,
    said: &Event,
) -> Result<bool, StoreError> {
    let Some(facts) = EventFacts::from_event(said) else { return Ok(false) };
    let decision = looking.explain(&facts).await?;
    let is_no_secret = event.recipients().iter().all(|recipient| {
        let mut verdicts = decision.verdicts.iter();
        let verdict = verdicts.find(|verdict| verdict.recipient.agent == recipient.agent);
        verdict.is_some_and(|verdict| matches!(verdict.refusal, None | Some(Refusal::NotAddressed)))
    });
    Ok(is_no_secret && is_unaddressed_to_some(event, &decision))
}

fn is_unaddressed_to_some(event: &AdmittedEvent, decision: &Decision) -> bool {
    let mut chatter =
        decision.verdicts.iter().filter(|verdict| verdict.refusal == Some(Refusal::NotAddressed));
    let receives = |agent| event.recipients().iter().any(|recipient| recipient.agent == agent);
    chatter.any(|verdict| receives(verdict.recipient.agent))
}

fn context_line(said: &Event) -> Option<ContextLine> {
    let text = message_of(said)?.text.clone();
    let source = said.source();
    let (user_name, user_id) = (source.user_name.clone(), source.user_id.clone());
    (!text.is_empty()).then_some(ContextLine { text, user_name, user_id })
}

/// Requests the messages from the platform with a short timeout, because the message matters more than its context.
async fn request_history(
    account: &Account,
    event: &VerifiedEvent,
) -> Result<Vec<Event>, ListenError> {
    let (Some(ear), Some(message)) = (account.platform.listener(&account.bot), id_of(event.get()))
    else {
        return Ok(Vec::new());
    };
    let part = HistoryRange::Before(message, CONTEXT_LINES_MAX);
    let asking = backfill(ear, &account.bot, &event.get().source().chat_id, part);
    let told = timeout(CONTEXT_WAIT, asking).await;
    let told = told.map_err(|late| ListenError::Unavailable(late.into()))??;
    let said = told.into_iter().filter_map(|told| told.event.ok().flatten());
    Ok(said.filter_map(|said| shorten_event(said.get())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nightdesk_types::event::{Draft, Source};

    fn said(id: &str, text: &str) -> Event {
        let message = Message {
            text: text.to_owned(),
            message_id: Some(id.to_owned()),
            ..Message::default()
        };
        let source = Source {
            platform: "telegram".to_owned(),
            chat_id: "c".to_owned(),
            ..Source::default()
        };
        let content = Content::Message(Box::new(message));
        Event::normalise(Draft { key: id.to_owned(), source, content }).unwrap()
    }

    fn texts(room: &[Event]) -> Vec<&str> {
        room.iter().filter_map(message_of).map(|message| message.text.as_str()).collect()
    }

    #[test]
    fn so_many_lines_are_remembered_and_no_more() {
        let all: Vec<Event> =
            (0..=CONTEXT_LINES_MAX).map(|at| said(&at.to_string(), "x")).collect();
        let room = all.into_iter().fold(Vec::new(), |room, event| append_line(&room, event));
        assert_eq!(room.len(), CONTEXT_LINES_MAX);
        assert_eq!(id_of(&room[0]), Some("1"), "the oldest goes");
    }

    #[test]
    fn who_edits_says_the_same_anew() {
        let room = append_line(&append_line(&[], said("1", "tea")), said("2", "no"));
        assert_eq!(texts(&append_line(&room, said("1", "coffee"))), ["no", "coffee"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = said("1", &"é".repeat(CONTEXT_LINE_BYTES_MAX));
        let short = shorten_event(&long).unwrap();
        assert_eq!(texts(&[short])[0].len(), CONTEXT_LINE_BYTES_MAX);
    }
}
