//! Takes one event from the gate's decision to the steps that follow its storage.

use std::sync::Arc;
use std::time::Instant;

use fail::fail_point;
use nightdesk_bus::Ring;
use nightdesk_gate::{AdmitError, Admitted, Ask, Refused};
use nightdesk_inbox::{Accept, SourceMark, Stored, trail};
use nightdesk_intake::Verified;
use nightdesk_types::{Event, StoreError};

use super::Placed;
use crate::context::{self, Around};
use crate::sight::{Decided, Looking};
use crate::{Account, Desk, capabilities, files, hearing, linking, presses, waking};

/// An event that may be stored.
pub(crate) struct Admission<'a> {
    looking: Looking<'a>,
    event: Admitted<Event>,
    around: Around,
    /// The source's cursor after this event.
    mark: Option<SourceMark>,
}

/// Submits a verified event to the gate. `Err` means that nothing remains to be stored and the event is handled.
pub(crate) async fn admit<'a>(
    desk: &Arc<Desk>,
    account: &'a Account,
    event: Verified<Event>,
    mark: Option<SourceMark>,
) -> Result<Result<Admission<'a>, Placed>, StoreError> {
    fail_point!("desk::event_verified");
    if let Some(ask) = Ask::of(&event) {
        linking::link(desk, &ask).await?;
        hearing::said(desk, &account.bot).await;
        return Ok(Err(Placed::Stored));
    }
    let looking = Looking::at(account, &event);
    let decided = desk.limits.paced(looking.admit(&desk.gate, event).await);
    let around = match &decided {
        Ok(event) => context::around(desk, &looking, event).await?,
        Err(_) => Around::default(),
    };
    decision(desk, account, decided, |event| Admission { looking, event, around, mark }).await
}

/// Submits events to the gate again: the one that the inbox found stale, and those after it.
pub(super) async fn admitted_again<'a>(
    desk: &Arc<Desk>,
    account: &Account,
    stale: Vec<Admission<'a>>,
) -> Result<Vec<Admission<'a>>, StoreError> {
    let mut admitted = Vec::with_capacity(stale.len());
    for Admission { looking, event, around, mark } in stale {
        let decided = looking.admit_again(&desk.gate, event).await;
        let again = |event| Admission { looking, event, around, mark };
        admitted.extend(decision(desk, account, decided, again).await?);
    }
    Ok(admitted)
}

async fn decision<'a>(
    desk: &Arc<Desk>,
    account: &Account,
    decided: Decided,
    admission: impl FnOnce(Admitted<Event>) -> Admission<'a>,
) -> Result<Result<Admission<'a>, Placed>, StoreError> {
    match decided {
        Ok(event) => {
            desk.overheard.note(account, event.verified(), event.passed_over());
            Ok(Ok(admission(event)))
        }
        Err((_, AdmitError::Store(error))) => Err(error),
        Err((event, AdmitError::Refused(refused))) => {
            record_refusal(desk, account, &event, refused).await;
            Ok(Err(Placed::Nowhere))
        }
    }
}

async fn record_refusal(
    desk: &Arc<Desk>,
    account: &Account,
    event: &Verified<Event>,
    refused: Refused,
) {
    desk.refusals.refused(event, refused);
    desk.overheard.note(account, event, &[refused]);
    dealt_with(desk, account, event.get()).await;
}

/// Answers a pressed button after its event was handled, and records that the bot received a message.
pub(super) async fn dealt_with(desk: &Arc<Desk>, account: &Account, event: &Event) {
    if let Some(key) = presses::key_of(event) {
        presses::answer(desk, account, key);
    }
    hearing::said(desk, &account.bot).await;
}

/// Returns admitted events as the inbox stores them.
pub(super) async fn accepts(
    desk: &Desk,
    account: &Account,
    admitted: &[Admission<'_>],
) -> Result<Vec<Accept>, StoreError> {
    let mut accepts = Vec::with_capacity(admitted.len());
    for Admission { looking, event, around, mark } in admitted {
        let told = files::referred(desk, account, event).await?;
        let told = around.amid(desk, looking, told.as_ref().unwrap_or(event)).await?.or(told);
        let event = told.as_ref().unwrap_or(event);
        accepts.push(capabilities::accept(desk, event, mark.clone()).await?);
    }
    Ok(accepts)
}

impl Admission<'_> {
    /// Returns the event.
    pub(super) const fn event(&self) -> &Event {
        self.event.verified().get()
    }

    /// Notifies the recipients of a stored event, and wakes those without a line.
    pub(super) async fn stored(&self, desk: &Arc<Desk>, stored: &[Stored], began: Instant) {
        fail_point!("desk::stored_before_ring");
        desk.refusals.passed_over(&self.event);
        trail::stored(trail::TAKE, stored, began.elapsed());
        waking::wake(desk, &self.event, stored);
        for Stored { agent, seq, .. } in stored.iter().copied() {
            // The result of the ring is not needed: the store knows which agents have a line.
            desk.bell.0.ring(Ring::Entry { agent, seq }).await;
        }
        fail_point!("desk::bell_rung");
    }
}
