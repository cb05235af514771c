//! Implements the gathered accept: it judges every event first and then writes, so that it is all or nothing.

use std::collections::HashSet;

use jiff::SignedDuration;
use nightdesk_gate::Recipient;
use nightdesk_inbox::{
    AcceptRequest, AgentPresence, AuthorPace, ParkReason, PutOutcome, StoredEntry,
};
use nightdesk_types::limits::DEDUPE_DAYS;
use nightdesk_types::{Quota, StoreError, Timestamp};

use super::agent::{Agent, Held};
use super::{Day, SourceKey, State};

/// Interval at which a message from a chat to an agent is recorded.
const REACHED_EVERY: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fresh,
    Duplicate,
    Stale,
    Fenced,
}

impl State {
    pub(super) fn accept(
        &mut self,
        events: &[AcceptRequest],
        now: Timestamp,
    ) -> Result<Vec<PutOutcome>, StoreError> {
        let verdicts = self.verdicts(events, Day::of(now));
        let judged = || events.iter().zip(&verdicts);
        for (event, _) in judged().filter(|(_, verdict)| **verdict == Verdict::Fresh) {
            self.check_recipients(event)?;
        }
        let puts: Result<Vec<PutOutcome>, StoreError> = judged()
            .map(|(event, verdict)| match verdict {
                Verdict::Fresh => self.hold(event, now).map(PutOutcome::Stored),
                Verdict::Duplicate => Ok(PutOutcome::Duplicate),
                Verdict::Stale => Ok(PutOutcome::Stale),
                Verdict::Fenced => Ok(PutOutcome::Fenced),
            })
            .collect();
        for (event, verdict) in judged() {
            self.move_source(event, *verdict);
        }
        puts
    }

    fn verdicts(&self, events: &[AcceptRequest], today: Day) -> Vec<Verdict> {
        let mut held_back = HashSet::new();
        let mut seen = HashSet::new();
        let mut verdict = |event: &AcceptRequest| {
            let source = source_key(event);
            let stale = self.is_stale(event);
            if stale {
                // Later events of its source have to wait for it.
                held_back.extend(source.clone());
            }
            if self.is_fenced(event) {
                Verdict::Fenced
            } else if stale || source.is_some_and(|source| held_back.contains(&source)) {
                Verdict::Stale
            } else if self.is_known(event, today) || !seen.insert((event.operator(), event.key())) {
                Verdict::Duplicate
            } else {
                Verdict::Fresh
            }
        };
        events.iter().map(&mut verdict).collect()
    }

    fn is_fenced(&self, event: &AcceptRequest) -> bool {
        let Some((key, mark)) = source_key(event).zip(event.source_cursor()) else { return false };
        self.sources.get(&key).is_none_or(|source| source.epoch != mark.epoch)
    }

    fn is_stale(&self, event: &AcceptRequest) -> bool {
        let moved = |recipient: &Recipient| {
            let agent = self.agents.get(&(recipient.scope, recipient.agent));
            agent.is_some_and(|agent| agent.reach_version != recipient.version)
        };
        event.recipients().iter().any(moved)
    }

    fn is_known(&self, event: &AcceptRequest, today: Day) -> bool {
        let day = self.dedupe_keys.get(&(event.operator(), event.key()));
        day.is_some_and(|day| *day >= today.back(i64::from(DEDUPE_DAYS)))
    }

    fn check_recipients(&mut self, event: &AcceptRequest) -> Result<(), StoreError> {
        event.recipients().iter().try_for_each(|recipient| self.recipient(recipient).map(drop))
    }

    fn recipient(&mut self, recipient: &Recipient) -> Result<&mut Agent, StoreError> {
        self.agent("put events", recipient.scope, recipient.agent)
    }

    fn hold(
        &mut self,
        event: &AcceptRequest,
        now: Timestamp,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        self.dedupe_keys.insert((event.operator(), event.key()), Day::of(now));
        self.lend(event, now);
        let unsendable = event.json().is_none().then_some(ParkReason::Unsendable);
        let incarnation = self.incarnation;
        let held = Held {
            incarnation,
            at: now,
            bot: event.bot(),
            chat_id: event.chat_id().to_owned(),
            body: event.body().into(),
        };
        let put_in = |(recipient, pace): (&Recipient, AuthorPace)| {
            let Recipient { scope, agent, version: _ } = *recipient;
            let bounds = (
                self.allowed(scope, Quota::PendingEntries),
                self.allowed(scope, Quota::PendingBytes),
            );
            let inbox = self.recipient(recipient)?;
            inbox.touch(&held, now);
            let too_fast = (pace == AuthorPace::Park).then_some(ParkReason::RateLimit);
            let (seq, at, parked) = inbox.hold(held.clone(), unsendable.or(too_fast), bounds);
            let generation = inbox.cursor.generation;
            let presence = if !parked && pace == AuthorPace::Deliver {
                self.wake_sleeper((scope, agent), now)
            } else {
                AgentPresence::Awake
            };
            Ok(StoredEntry { scope, agent, seq, at, parked, presence, incarnation, generation })
        };
        event.paced_recipients().map(put_in).collect()
    }

    /// Moves a source's cursor to its last handled event.
    fn move_source(&mut self, event: &AcceptRequest, verdict: Verdict) {
        let dealt_with = matches!(verdict, Verdict::Fresh | Verdict::Duplicate);
        let key = source_key(event).filter(|_| dealt_with);
        let source = key.and_then(|key| self.sources.get_mut(&key));
        if let Some((source, mark)) = source.zip(event.source_cursor()) {
            source.cursor = Some(mark.cursor.clone());
        }
    }
}

impl Agent {
    /// Records the chat of an entry, at most daily.
    fn touch(&mut self, held: &Held, now: Timestamp) {
        let reached = self.reached.entry((held.chat_id.clone(), held.bot)).or_insert(now);
        if now.duration_since(*reached) > REACHED_EVERY {
            *reached = now;
        }
    }
}

fn source_key(event: &AcceptRequest) -> Option<SourceKey> {
    event.source_cursor().map(|mark| (event.operator(), event.bot(), mark.source.clone()))
}
