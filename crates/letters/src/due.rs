//! Delivers letters for later when they are due. The schedule retries a letter that cannot be delivered yet.

use nightdesk_protocol::delivery::{Millis, WakeOpts};
use nightdesk_types::limits::WAY_WHEN_DUE_WAIT;
use nightdesk_types::{LetterId, StoreError};
use tokio::time::timeout;

use crate::delivery_method::DeliveryMethod;
use crate::entry::{EntryPayload, read_entry};
use crate::error::{FailureCause, is_temporary};
use crate::letter::{DueLetter, LetterEntry, Party, Route};
use crate::letters::Letters;
use crate::outlet::Outlet;
use crate::receipt::DeliveryOutcome;

/// The delivery of a letter that is due.
#[derive(Debug)]
pub enum DueDelivery {
    /// The letter goes into the agent's inbox.
    Inbox(LetterEntry),
    /// Another connector delivered it.
    Delivered(DeliveryMethod),
    /// The letter cannot be delivered now, for this reason.
    Retry(String),
    /// The letter cannot be delivered at all, for this reason.
    Refused(String),
}

impl Letters {
    /// Delivers a letter that is due by its agent's way.
    pub async fn deliver_due(
        &self,
        to: Party,
        letter: LetterId,
    ) -> Result<DueDelivery, StoreError> {
        let Some(due) = self.store.take_due(to, letter).await? else {
            let reason = "the letter may no longer be delivered";
            return Ok(DueDelivery::Refused(reason.to_owned()));
        };
        let Some(outlet) = self.outlets.outlet(to) else {
            let full = || DueDelivery::Retry("the inbox is full".to_owned());
            return Ok(if due.is_full { full() } else { DueDelivery::Inbox(due.entry) });
        };
        self.metrics.count_letter(outlet.method);
        let failed =
            |cause: FailureCause| DeliveryOutcome::Failed(cause.into_error(&outlet.name).into());
        let outcome = deliver(outlet, &due, self.now()).await.unwrap_or_else(failed);
        self.metrics.count_outcome(outlet.method, &outcome);
        Ok(match outcome {
            DeliveryOutcome::Delivered(_) | DeliveryOutcome::Woken(_) => {
                self.store.record_delivery(to, letter, None).await?;
                DueDelivery::Delivered(outlet.method)
            }
            DeliveryOutcome::Failed(failure) if is_temporary(&failure.cause) => {
                DueDelivery::Retry(failure.words)
            }
            DeliveryOutcome::Failed(failure) => DueDelivery::Refused(failure.words),
        })
    }
}

async fn deliver(
    outlet: &Outlet,
    due: &DueLetter,
    now: Millis,
) -> Result<DeliveryOutcome, FailureCause> {
    let unreadable = || FailureCause::Invalid("the stored letter cannot be read".to_owned());
    let letter = read_entry(&due.entry, now).ok_or_else(unreadable)?;
    let delivery = call(outlet, due.route, letter);
    timeout(WAY_WHEN_DUE_WAIT, delivery).await.unwrap_or(Err(FailureCause::TimedOut))
}

async fn call(
    outlet: &Outlet,
    route: Route,
    letter: EntryPayload,
) -> Result<DeliveryOutcome, FailureCause> {
    let EntryPayload { session, payload } = letter;
    let session = session.as_deref();
    match route {
        Route::Deliver => outlet.deliver(session, &payload).await.map(DeliveryOutcome::Delivered),
        Route::Wake => {
            let context = Some(payload.text().to_owned()).filter(|words| !words.is_empty());
            let meta = Some(Box::new(payload.meta().clone()));
            let opts = WakeOpts { context, meta, ..WakeOpts::default() };
            outlet.wake(session, &opts).await.map(DeliveryOutcome::Woken)
        }
    }
}
