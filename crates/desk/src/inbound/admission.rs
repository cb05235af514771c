//! Takes one event from the gate's decision to the steps that follow its storage.

use std::sync::Arc;
use std::time::Instant;

use fail::fail_point;
use nightdesk_bus::Ring;
use nightdesk_gate::{AdmissionRefusal, AdmitError, AdmittedEvent, ChatLinkCommand, Gate};
use nightdesk_inbox::{AcceptRequest, SourceCursor, StoredEntry, trail};
use nightdesk_intake::VerifiedEvent;
use nightdesk_types::{Event, StoreError};

use super::Inbound;
use crate::context::{OverheardMessages, PrecedingMessages};
use crate::linking::Linking;
use crate::press_responder::PressResponder;
use crate::reception::ReceptionRecorder;
use crate::visibility_check::{GateDecision, VisibilityCheck};
use crate::{Account, Limits, Refusals, Stops, capabilities};

/// An event that may be stored.
pub(crate) struct Admission<'a> {
    visibility: VisibilityCheck<'a>,
    pub(super) event: AdmittedEvent,
    preceding: PrecedingMessages,
    /// The source's cursor after this event.
    mark: Option<SourceCursor>,
}

/// The result of putting an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    Stored,
    Nowhere,
    /// Another node reads the source now. This does not occur for a webhook, which has no source.
    Fenced,
}

/// Submits events to the gate, and completes those that are not stored.
#[derive(Debug)]
pub(crate) struct Admissions {
    gate: Arc<Gate>,
    limits: Arc<Limits>,
    linking: Linking,
    overheard: OverheardMessages,
    refusals: Arc<Refusals>,
    presses: PressResponder,
    reception: ReceptionRecorder,
}

impl Admissions {
    pub(super) fn new(stops: &Stops, refusals: &Arc<Refusals>) -> Self {
        let (linking, hearing) = (Linking::new(stops), ReceptionRecorder::new(&stops.register));
        let Stops { gate, limits, tasks, .. } = stops.clone();
        let (overheard, presses) = (OverheardMessages::default(), PressResponder::new(tasks));
        let refusals = Arc::clone(refusals);
        Self { gate, limits, linking, overheard, refusals, presses, reception: hearing }
    }

    /// Submits a verified event to the gate. `Err` means that nothing remains to be stored and the event is handled.
    pub(crate) async fn admit<'a>(
        &'a self,
        account: &'a Account,
        event: VerifiedEvent,
        mark: Option<SourceCursor>,
    ) -> Result<Result<Admission<'a>, Placement>, StoreError> {
        fail_point!("desk::event_verified");
        if let Some(ask) = ChatLinkCommand::from_event(&event) {
            self.linking.link(&ask).await?;
            self.reception.record_message(&account.bot).await;
            return Ok(Err(Placement::Stored));
        }
        let looking = VisibilityCheck::new(account, &self.gate, &event);
        let decided = self.limits.limit_author(looking.admit(event).await);
        let around = match &decided {
            Ok(event) => self.overheard.preceding_messages(&looking, event).await?,
            Err(_) => PrecedingMessages::default(),
        };
        self.complete_decision(account, decided, |event| Admission {
            visibility: looking,
            event,
            preceding: around,
            mark,
        })
        .await
    }

    /// Submits events to the gate again: the one that the inbox found stale, and those after it.
    pub(super) async fn admit_again<'a>(
        &self,
        account: &Account,
        stale: Vec<Admission<'a>>,
    ) -> Result<Vec<Admission<'a>>, StoreError> {
        let mut admitted = Vec::with_capacity(stale.len());
        for Admission { visibility: looking, event, preceding: around, mark } in stale {
            let decided = looking.admit_again(event).await;
            let again = |event| Admission { visibility: looking, event, preceding: around, mark };
            admitted.extend(self.complete_decision(account, decided, again).await?);
        }
        Ok(admitted)
    }

    async fn complete_decision<'a>(
        &self,
        account: &Account,
        decided: GateDecision,
        admission: impl FnOnce(AdmittedEvent) -> Admission<'a>,
    ) -> Result<Result<Admission<'a>, Placement>, StoreError> {
        match decided {
            Ok(event) => {
                self.overheard.record(account, event.verified(), event.passed_over());
                Ok(Ok(admission(event)))
            }
            Err((_, AdmitError::Store(error))) => Err(error),
            Err((event, AdmitError::Refused(refused))) => {
                self.record_refusal(account, &event, refused).await;
                Ok(Err(Placement::Nowhere))
            }
        }
    }

    async fn record_refusal(
        &self,
        account: &Account,
        event: &VerifiedEvent,
        refused: AdmissionRefusal,
    ) {
        self.refusals.record_refused(event, refused);
        self.overheard.record(account, event, &[refused]);
        self.finish_event(account, event.get()).await;
    }

    /// Answers a pressed button after its event was handled, and records that the bot received a message.
    pub(super) async fn finish_event(&self, account: &Account, event: &Event) {
        self.presses.answer(account, event);
        self.reception.record_message(&account.bot).await;
    }
}

impl Inbound {
    /// Returns admitted events as the inbox stores them.
    pub(super) async fn accept_requests(
        &self,
        account: &Account,
        admitted: &[Admission<'_>],
    ) -> Result<Vec<AcceptRequest>, StoreError> {
        let mut accepts = Vec::with_capacity(admitted.len());
        for Admission { visibility: looking, event, preceding: around, mark } in admitted {
            let told = self.accounts.with_references(account, event).await?;
            let context = around.with_context(looking, told.as_ref().unwrap_or(event)).await?;
            let told = context.or(told);
            let event = told.as_ref().unwrap_or(event);
            accepts.push(capabilities::build_accept(&self.register, event, mark.clone()).await?);
        }
        Ok(accepts)
    }

    /// Notifies the recipients of a stored event, and wakes those without a line.
    pub(super) async fn notify(
        &self,
        admission: &Admission<'_>,
        stored: &[StoredEntry],
        began: Instant,
    ) {
        fail_point!("desk::stored_before_ring");
        self.admissions.refusals.record_passed_over(&admission.event);
        trail::trace_stored(trail::TAKE, stored, began.elapsed());
        self.waking.wake(&admission.event, stored);
        for StoredEntry { agent, seq, .. } in stored.iter().copied() {
            // The result of the ring is not needed: the store knows which agents have a line.
            self.bell.ring(Ring::Entry { agent, seq }).await;
        }
        fail_point!("desk::bell_rung");
    }
}
