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

use super::{Scheduler, StoreNow};
use crate::backoff::backoff_after;
use crate::fire::{FireCause, FireClaim, FireEnd, FireEnding};
use crate::job::Target;
use crate::outcome::{FireOutcome, InboxDeliverer, InboxDelivery, UNAUTHORISED};
use crate::store::FireEntry;

/// Room for one call, from before the claim of its fire to the end of the call.
#[derive(Debug)]
pub(super) struct FireCallPermit {
    _permit: OwnedSemaphorePermit,
    /// A time before the claim. The store counts the duration of the claim from the claim itself.
    taken_at: Instant,
}

impl FireCallPermit {
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
enum TryRecord {
    End(FireEnd, String),
    Again { words: String, wait: Duration, counts: bool },
}

impl TryRecord {
    fn outcome_text(&self) -> &str {
        match self {
            Self::End(_, words) | Self::Again { words, .. } => words,
        }
    }
}

impl Scheduler {
    /// Returns room for one call, if there is any.
    pub(super) fn take_permit(&self) -> Option<FireCallPermit> {
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        Some(FireCallPermit { _permit: permit, taken_at: Instant::now() })
    }

    /// Calls an agent and records the outcome. A node that was suspended since the claim makes no call, because another
    /// node may call by now.
    pub(super) async fn deliver_fire(
        &self,
        fire: &FireClaim,
        room: &FireCallPermit,
        now: StoreNow,
        deliver: &dyn InboxDeliverer,
    ) -> Result<(), StoreError> {
        fail_point!("schedule::before_call");
        if fire.tries == 1 {
            let late = now.get().duration_since(fire.fire_at.instant());
            self.metrics.observe_lateness(late.try_into().unwrap_or_default());
        }
        let Some(outcome) = self.make_try(fire, room, now, deliver).await? else { return Ok(()) };
        let taken = matches!(outcome, FireOutcome::Taken(_));
        if taken {
            fail_point!("schedule::taken_before_note");
        }
        self.metrics.count_call(&outcome);
        let note = record_of_outcome(fire, outcome);
        let noted = self.write_record(fire, &note, room).await?;
        if taken {
            fail_point!("schedule::taken_noted");
        }
        log_outcome(fire, &note, noted);
        if matches!(note, TryRecord::Again { wait, .. } if wait < FIRE_SWEEP_EVERY) {
            self.claim_soon();
        }
        Ok(())
    }

    /// Makes the try and returns its outcome. Returns `None` if the fire was put into the inbox and is recorded.
    async fn make_try(
        &self,
        fire: &FireClaim,
        room: &FireCallPermit,
        now: StoreNow,
        deliver: &dyn InboxDeliverer,
    ) -> Result<Option<FireOutcome>, StoreError> {
        let outcome = match &fire.to {
            _ if room.is_late() => FireOutcome::PutOff(Duration::ZERO),
            Target::Callback(url) => self.by_callback.call(fire, url, now.get()).await,
            Target::Inbox(words) => match deliver.build_delivery(fire, words).await? {
                InboxDelivery::Put(entry) => {
                    return self.put_into_inbox(fire, &entry, deliver).await.map(|()| None);
                }
                InboxDelivery::Came(outcome) => outcome,
            },
        };
        Ok(Some(outcome))
    }

    /// Puts a fire into its agent's inbox. If that fails, the fire is due again when the claim expires.
    async fn put_into_inbox(
        &self,
        fire: &FireClaim,
        entry: &FireEntry,
        deliver: &dyn InboxDeliverer,
    ) -> Result<(), StoreError> {
        let outcome = FireOutcome::Taken("put into the inbox".to_owned());
        self.metrics.count_call(&outcome);
        let note = record_of_outcome(fire, outcome);
        let seq = self.store.put(fire, entry, note.outcome_text()).await?;
        fail_point!("schedule::taken_noted");
        log_outcome(fire, &note, seq.is_some());
        if let Some(seq) = seq {
            deliver.notify_stored(fire, seq).await;
        }
        Ok(())
    }

    /// Records the note, with retries until the claim expires. Returns true if the fire was still open for this try.
    async fn write_record(
        &self,
        fire: &FireClaim,
        note: &TryRecord,
        room: &FireCallPermit,
    ) -> Result<bool, StoreError> {
        loop {
            let noted = match note {
                TryRecord::End(end, words) => {
                    let (claimed, outcome) = (fire.clone(), words.clone());
                    let ending = FireEnding { claimed, end: *end, outcome };
                    self.endings.send_request(ending).await
                }
                TryRecord::Again { words, wait, counts } => {
                    self.store.record_retry(fire, words, *wait, *counts).await
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

fn record_of_outcome(fire: &FireClaim, outcome: FireOutcome) -> TryRecord {
    let refused = |words| TryRecord::End(FireEnd::Missed(FireCause::Refused), words);
    let again = |words, wait| TryRecord::Again { words, wait, counts: true };
    match outcome {
        FireOutcome::Taken(words) => TryRecord::End(FireEnd::Taken, words),
        FireOutcome::Refused(words) => refused(words),
        // A second 401 in a row is final. Replaced keys or a short clock difference may explain the first.
        FireOutcome::Unauthorised if fire.outcome.as_deref() == Some(UNAUTHORISED) => {
            refused(UNAUTHORISED.to_owned())
        }
        FireOutcome::Unauthorised => again(UNAUTHORISED.to_owned(), Duration::ZERO),
        FireOutcome::Again(words, asked) => {
            again(words, backoff_after(fire.tries, asked, jitter((fire.fire, fire.tries))))
        }
        FireOutcome::PutOff(wait) => {
            // The record shows the outcome of the last call that was made.
            let words = fire.outcome.clone().unwrap_or_else(|| "not called yet".to_owned());
            TryRecord::Again { words, wait, counts: false }
        }
    }
}

fn log_outcome(fire: &FireClaim, note: &TryRecord, noted: bool) {
    let FireClaim { agent, fire: id, tries, .. } = fire;
    let words = note.outcome_text();
    let late = if noted { "" } else { " (too late to count)" };
    tracing::info!(
        agent.id = %agent,
        fire.id = %id,
        fire.attempt = tries,
        "attempt {tries} to deliver a fire to agent {agent}: {words}{late}"
    );
}
