//! Admission: one event on its way in, from what the gate says to what follows when it is stored.

use std::sync::Arc;
use std::time::Instant;

use nightdesk_bus::Ring;
use nightdesk_gate::{AdmitError, Admitted, Ask, Refused};
use nightdesk_inbox::{Accept, SourceMark, Stored, trail};
use nightdesk_intake::Verified;
use nightdesk_types::planted::crash_point;
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
    /// How far its source was read with it.
    mark: Option<SourceMark>,
}

/// Has a verified event admitted. `Err`: nothing of it is to be stored, and it was dealt with.
pub(crate) async fn admit<'a>(
    desk: &Arc<Desk>,
    account: &'a Account,
    (event, mark): (Verified<Event>, Option<SourceMark>),
) -> Result<Result<Admission<'a>, Placed>, StoreError> {
    crash_point("K1");
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

/// Has those admitted once more that the inbox found decided on something old, and what is behind them.
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
            nobodys(desk, account, (&event, refused)).await;
            Ok(Err(Placed::Nowhere))
        }
    }
}

async fn nobodys(
    desk: &Arc<Desk>,
    account: &Account,
    (event, refused): (&Verified<Event>, Refused),
) {
    desk.refusals.refused(event, refused);
    desk.overheard.note(account, event, &[refused]);
    dealt_with(desk, account, event.get()).await;
}

/// Once an event was dealt with, a pressed button is let go, and it is noted that the bot was talked to.
pub(super) async fn dealt_with(desk: &Arc<Desk>, account: &Account, event: &Event) {
    if let Some(key) = presses::key_of(event) {
        presses::answer(desk, account, key);
    }
    hearing::said(desk, &account.bot).await;
}

/// What was admitted, as it is written.
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
    /// What was said.
    pub(super) const fn event(&self) -> &Event {
        self.event.verified().get()
    }

    /// It is stored: whoever it is for is told, and called if they sleep.
    pub(super) async fn stored(&self, desk: &Arc<Desk>, stored: &[Stored], began: Instant) {
        crash_point("K5");
        desk.refusals.passed_over(&self.event);
        trail::stored(trail::TAKE, stored, began.elapsed());
        waking::wake(desk, &self.event, stored);
        for Stored { agent, seq, .. } in stored.iter().copied() {
            // Whether anybody heard is not asked: the store knows who was up.
            desk.bell.0.ring(Ring::Entry { agent, seq }).await;
        }
        crash_point("K6");
    }
}
