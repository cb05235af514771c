//! One try to deliver a fire, and the record of its outcome.

use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use nightdesk_types::StoreError;
use nightdesk_types::backoff::jitter;
use nightdesk_types::limits::{
    FIRE_BEGUN_WITHIN, FIRE_CALL_HELD, FIRE_NOTED_AGAIN, FIRE_SWEEP_EVERY,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::{Schedule, StoreNow};
use crate::fire::{Cause, Claimed, End};
use crate::job::Target;
use crate::outcome::{Deliver, Outcome, Telling, UNAUTHORISED};
use crate::store::FireEntry;
use crate::waits::wait_after;

/// Room for one call, from before the claim of its fire to the end of the call.
#[derive(Debug)]
pub(super) struct Room {
    _permit: OwnedSemaphorePermit,
    /// A time before the claim. The store counts the duration of the claim from the claim itself.
    taken_at: Instant,
}

impl Room {
    fn is_late(&self) -> bool {
        self.taken_at.elapsed() > FIRE_BEGUN_WITHIN
    }

    /// Returns true if the claim is over after this span, so that another node may call.
    fn is_over_in(&self, span: Duration) -> bool {
        self.taken_at.elapsed() + span >= FIRE_CALL_HELD
    }
}

/// The record of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Note {
    End(End, String),
    Again { words: String, wait: Duration, counts: bool },
}

impl Note {
    fn words(&self) -> &str {
        match self {
            Self::End(_, words) | Self::Again { words, .. } => words,
        }
    }
}

impl Schedule {
    /// Returns room for one call, if there is any.
    pub(super) fn room(&self) -> Option<Room> {
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        Some(Room { _permit: permit, taken_at: Instant::now() })
    }

    /// Calls an agent and records the outcome. A node that was suspended since the claim makes no call, because another
    /// node may call by now.
    pub(super) async fn tell(
        &self,
        fire: &Claimed,
        room: &Room,
        now: StoreNow,
        deliver: &dyn Deliver,
    ) -> Result<(), StoreError> {
        fail_point!("schedule::before_call");
        if fire.tries == 1 {
            let late = now.get().duration_since(fire.fire_at.instant());
            self.metrics.began(late.try_into().unwrap_or_default());
        }
        let Some(outcome) = self.tried(fire, room, now, deliver).await? else { return Ok(()) };
        let taken = matches!(outcome, Outcome::Taken(_));
        if taken {
            fail_point!("schedule::taken_before_note");
        }
        self.metrics.told(&outcome);
        let note = self.note_of(fire, outcome);
        let noted = self.noted(fire, &note, room).await?;
        if taken {
            fail_point!("schedule::taken_noted");
        }
        said(fire, &note, noted);
        if matches!(note, Note::Again { wait, .. } if wait < FIRE_SWEEP_EVERY) {
            self.look();
        }
        Ok(())
    }

    /// Makes the try and returns its outcome. Returns `None` if the fire was put into the inbox and is recorded.
    async fn tried(
        &self,
        fire: &Claimed,
        room: &Room,
        now: StoreNow,
        deliver: &dyn Deliver,
    ) -> Result<Option<Outcome>, StoreError> {
        let outcome = match &fire.to {
            _ if room.is_late() => Outcome::PutOff(Duration::ZERO),
            Target::Callback(url) => self.by_callback.call(fire, url, now.get()).await,
            Target::Inbox(words) => match deliver.telling(fire, words).await? {
                Telling::Put(entry) => return self.put(fire, &entry, deliver).await.map(|()| None),
                Telling::Came(outcome) => outcome,
            },
        };
        Ok(Some(outcome))
    }

    /// Puts a fire into its agent's inbox. If that fails, the fire is due again when the claim expires.
    async fn put(
        &self,
        fire: &Claimed,
        entry: &FireEntry,
        deliver: &dyn Deliver,
    ) -> Result<(), StoreError> {
        let outcome = Outcome::Taken("put into the inbox".to_owned());
        self.metrics.told(&outcome);
        let note = self.note_of(fire, outcome);
        let seq = self.store.put(fire, entry, note.words()).await?;
        fail_point!("schedule::taken_noted");
        said(fire, &note, seq.is_some());
        if let Some(seq) = seq {
            deliver.stored(fire, seq).await;
        }
        Ok(())
    }

    fn note_of(&self, fire: &Claimed, outcome: Outcome) -> Note {
        let refused = |words| Note::End(End::Missed(Cause::Refused), words);
        let again = |words, wait| Note::Again { words, wait, counts: true };
        match outcome {
            Outcome::Taken(words) => Note::End(End::Taken, words),
            Outcome::Refused(words) => refused(words),
            // A second 401 in a row is final. Replaced keys or a short clock difference may explain the first.
            Outcome::Unauthorised if fire.outcome.as_deref() == Some(UNAUTHORISED) => {
                refused(UNAUTHORISED.to_owned())
            }
            Outcome::Unauthorised => again(UNAUTHORISED.to_owned(), Duration::ZERO),
            Outcome::Again(words, asked) => {
                again(words, wait_after(fire.tries, asked, jitter((fire.fire, fire.tries))))
            }
            Outcome::PutOff(wait) => {
                // The record shows the outcome of the last call that was made.
                let words = fire.outcome.clone().unwrap_or_else(|| "not called yet".to_owned());
                Note::Again { words, wait, counts: false }
            }
        }
    }

    /// Records the note, with retries until the claim expires. Returns true if the fire was still open for this try.
    async fn noted(&self, fire: &Claimed, note: &Note, room: &Room) -> Result<bool, StoreError> {
        loop {
            let noted = match note {
                Note::End(end, words) => self.store.end(fire, *end, words).await,
                Note::Again { words, wait, counts } => {
                    self.store.again(fire, words, *wait, *counts).await
                }
            };
            match noted {
                Err(error) if error.retryable && !room.is_over_in(FIRE_NOTED_AGAIN) => {
                    sleep(FIRE_NOTED_AGAIN).await;
                }
                noted => return noted,
            }
        }
    }
}

fn said(fire: &Claimed, note: &Note, noted: bool) {
    let Claimed { agent, fire: id, tries, .. } = fire;
    let words = note.words();
    let late = if noted { "" } else { " (too late to count)" };
    tracing::info!(
        agent.id = %agent,
        fire.id = %id,
        fire.attempt = tries,
        "attempt {tries} to deliver a fire to agent {agent}: {words}{late}"
    );
}
