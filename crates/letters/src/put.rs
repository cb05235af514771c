//! Puts a letter: into the agent's inbox, or into its row for later or for another connector.

use std::time::Duration;

use nightdesk_bus::Ring;
use nightdesk_protocol::delivery::{DeliveryOrigin, Millis, Payload, PayloadKind, WakeOpts, When};
use nightdesk_types::limits::{
    DISPATCH_ID_BYTES_MAX, HOPS_MAX, LETTER_BYTES_MAX, LETTER_LABEL_BYTES_MAX,
};
use nightdesk_types::{LetterId, Timestamp};

use crate::context::{Correspondent, NOT_GRANTED, SenderContext, store_failure};
use crate::entry::{LetterText, build_entry};
use crate::error::FailureCause;
use crate::ids::new_id;
use crate::letter::{Letter, LetterState, NewLetter, PeerLine, Posting, PostingOutcome, Route};

const TOO_MANY_HOPS: &str =
    "a chain of letters in which each answers the one before has at most eight letters";
const _: () = assert!(HOPS_MAX == 8, "the words say how many");

/// A letter to put.
pub(crate) struct LetterDraft<'a> {
    pub(crate) route: Route,
    pub(crate) kind: PayloadKind,
    pub(crate) words: &'a str,
    pub(crate) dispatch_id: &'a str,
    pub(crate) event_type: Option<&'a str>,
    pub(crate) correlation_id: Option<&'a str>,
    pub(crate) origin: Option<&'a DeliveryOrigin>,
    pub(crate) when: Option<Timestamp>,
    pub(crate) wait: Option<Duration>,
    /// True if another connector than the inbox delivers it.
    pub(crate) by_outlet: bool,
}

impl<'a> LetterDraft<'a> {
    /// Creates the draft of a delivery.
    pub(crate) fn from_payload(payload: &'a Payload) -> Self {
        let meta = payload.meta();
        Self {
            route: Route::Deliver,
            kind: payload.kind(),
            words: payload.text(),
            dispatch_id: &meta.dispatch_id,
            event_type: meta.event_type.as_deref(),
            correlation_id: meta.correlation_id.as_deref(),
            origin: Some(&meta.origin),
            when: None,
            wait: None,
            by_outlet: false,
        }
    }

    /// Creates the draft of a wake. A wake without a meta gets `fresh_id` as its dispatch id.
    pub(crate) fn from_wake(opts: &'a WakeOpts, fresh_id: &'a str, now: Millis) -> Self {
        let meta = opts.meta.as_deref();
        let when = match opts.when {
            Some(When::At(at)) if at > now => Timestamp::from_millisecond(at.0).ok(),
            Some(When::At(_) | When::Immediate) | None => None,
        };
        Self {
            route: Route::Wake,
            kind: PayloadKind::Augment,
            words: opts.context.as_deref().unwrap_or_default(),
            dispatch_id: meta.map_or(fresh_id, |meta| &meta.dispatch_id),
            event_type: meta.and_then(|meta| meta.event_type.as_deref()),
            correlation_id: meta.and_then(|meta| meta.correlation_id.as_deref()),
            origin: meta.map(|meta| &meta.origin),
            when,
            wait: None,
            by_outlet: false,
        }
    }

    /// Checks the lengths.
    pub(crate) fn check(&self) -> Result<(), FailureCause> {
        let too_long = |what: &str, bytes: usize| {
            FailureCause::Invalid(format!("{what} has at most {bytes} bytes"))
        };
        if self.words.len() > LETTER_BYTES_MAX {
            return Err(too_long("a letter", LETTER_BYTES_MAX));
        }
        for id in [Some(self.dispatch_id), self.correlation_id].into_iter().flatten() {
            if id.is_empty() || id.len() > DISPATCH_ID_BYTES_MAX || id.contains('\0') {
                return Err(too_long("an id of a letter", DISPATCH_ID_BYTES_MAX));
            }
        }
        if self.origin.map_or(0, longest_word) > LETTER_LABEL_BYTES_MAX {
            return Err(too_long("each text of origin", LETTER_LABEL_BYTES_MAX));
        }
        if self.event_type.is_some_and(|label| label.len() > LETTER_LABEL_BYTES_MAX) {
            return Err(too_long("event_type", LETTER_LABEL_BYTES_MAX));
        }
        Ok(())
    }
}

/// Returns the length in bytes of the longest text in an origin that the sender chooses.
fn longest_word(origin: &DeliveryOrigin) -> usize {
    let entry_skill = origin.entry_skill_name.as_deref().unwrap_or_default();
    let caller = origin.caller_agent_id.as_deref().unwrap_or_default();
    let words = [origin.skill_name.as_str(), entry_skill, origin.trigger_kind.as_str(), caller];
    words.map(str::len).into_iter().max().unwrap_or(0)
}

/// The result of putting a letter that was not refused.
pub(crate) enum PutResult {
    /// It is in the inbox of an agent with this line.
    Stored(LetterId, Option<PeerLine>),
    /// It is stored until it is due.
    Scheduled(LetterId),
    /// It is recorded, and another connector delivers it.
    Noted(LetterId),
    /// It was put before.
    Repeated(Box<Letter>),
}

impl PutResult {
    pub(crate) fn letter(&self) -> LetterId {
        match self {
            Self::Stored(id, _) | Self::Scheduled(id) | Self::Noted(id) => *id,
            Self::Repeated(letter) => letter.id,
        }
    }

    /// Returns true if the letter waits until it is due.
    pub(crate) fn is_scheduled(&self) -> bool {
        match self {
            Self::Scheduled(_) => true,
            Self::Repeated(letter) => letter.state == LetterState::Scheduled,
            Self::Stored(..) | Self::Noted(_) => false,
        }
    }
}

impl SenderContext {
    /// Puts a letter, and notifies or calls its agent.
    pub(crate) async fn put(
        &self,
        to: &Correspondent,
        draft: &LetterDraft<'_>,
    ) -> Result<PutResult, FailureCause> {
        draft.check()?;
        if !to.is_counted {
            let counted = self.backend.count_letter(self.from, to.party).await;
            counted.map_err(|retry_after| FailureCause::TooFast { retry_after })?;
        }
        let letter = self.new_letter(to, draft);
        let LetterDraft { words, event_type, origin, .. } = *draft;
        let text = LetterText { from: &to.sender, words, event_type, origin };
        let entry = build_entry(&letter, text);
        let entry =
            entry.ok_or_else(|| FailureCause::Invalid("the text cannot be encoded".to_owned()))?;
        let id = letter.id;
        let put = self.letters.writer.put(Posting { letter, entry }).await;
        let result = match put.map_err(store_failure)? {
            PostingOutcome::Stored { seq, live } => {
                // An agent whose line is up is not called, as after an accept.
                if live.is_none() {
                    self.backend.call_agent(to.party);
                }
                self.letters.bell.ring(Ring::Entry { agent: to.party.agent, seq }).await;
                PutResult::Stored(id, live)
            }
            PostingOutcome::Scheduled => PutResult::Scheduled(id),
            PostingOutcome::Noted => PutResult::Noted(id),
            PostingOutcome::Duplicate(first) => PutResult::Repeated(first),
            PostingOutcome::Unknown => return Err(FailureCause::UnknownAgent),
            PostingOutcome::NotGranted => return Err(FailureCause::Refused(NOT_GRANTED)),
            PostingOutcome::TooManyHops => return Err(FailureCause::Refused(TOO_MANY_HOPS)),
            PostingOutcome::Full => return Err(FailureCause::Full),
        };
        self.schedule(to, &result, draft.when).await?;
        Ok(result)
    }

    /// Schedules a letter for later, also a repeated one, because the first call may have stopped before this step.
    async fn schedule(
        &self,
        to: &Correspondent,
        result: &PutResult,
        when: Option<Timestamp>,
    ) -> Result<(), FailureCause> {
        let Some(when) = when.filter(|_| result.is_scheduled()) else { return Ok(()) };
        self.backend.schedule(to.party, result.letter(), when).await
    }

    fn new_letter(&self, to: &Correspondent, draft: &LetterDraft<'_>) -> NewLetter {
        let id = new_id().parse().unwrap_or(LetterId::from_uuid(uuid::Uuid::nil()));
        NewLetter {
            id,
            from: self.from,
            to: to.party,
            dispatch_id: draft.dispatch_id.to_owned(),
            route: draft.route,
            kind: draft.kind,
            session: to.session.clone(),
            correlation_id: draft.correlation_id.map(str::to_owned),
            when: draft.when,
            wait: draft.wait,
            by_outlet: draft.by_outlet,
        }
    }
}
