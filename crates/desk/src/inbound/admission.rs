//! Takes one event from the gate's decision to the steps that follow its storage.

use std::sync::Arc;
use std::time::Instant;

use fail::fail_point;
use nightdesk_bus::Ring;
use nightdesk_gate::{
    AdmissionRefusal, AdmitError, AdmittedEvent, ChatLinkCommand, ChatStopCommand, Gate,
};
use nightdesk_inbox::{AcceptRequest, AuthorPace, SourceCursor, StoredEntry, trail};
use nightdesk_intake::VerifiedEvent;
use nightdesk_types::{Event, StoreError};

use super::Inbound;
use crate::context::{OverheardMessages, PrecedingMessages};
use crate::limits::{AuthorKey, HearingNodes};
use crate::linking::Linking;
use crate::press_responder::PressResponder;
use crate::reception::ReceptionRecorder;
use crate::stopping::{Stopping, stop_word};
use crate::visibility_check::{GateDecision, VisibilityCheck};
use crate::{Account, Refusals, Stops, capabilities};

/// The way on which an event came to the desk.
#[derive(Clone, Debug)]
pub(crate) enum EventOrigin {
    /// The platform posted it to any node.
    Webhook,
    /// The owner of its bot read it from a source, whose cursor is then here.
    Source(SourceCursor),
    /// The owner of its bot requested it after a gap.
    Backfill,
}

impl EventOrigin {
    const fn heard_by(&self) -> HearingNodes {
        match self {
            Self::Webhook => HearingNodes::All,
            Self::Source(_) | Self::Backfill => HearingNodes::Owner,
        }
    }

    /// Returns the worst treatment by the author's rate. A backfill is bounded by itself, and its messages come at once
    /// although their author did not write them at once.
    const fn worst_pace(&self) -> AuthorPace {
        match self {
            Self::Webhook | Self::Source(_) => AuthorPace::Park,
            Self::Backfill => AuthorPace::DeliverWithoutWake,
        }
    }

    fn cursor(&self) -> Option<SourceCursor> {
        match self {
            Self::Source(cursor) => Some(cursor.clone()),
            Self::Webhook | Self::Backfill => None,
        }
    }
}

/// An event that may be stored.
pub(crate) struct Admission<'a> {
    visibility: VisibilityCheck<'a>,
    pub(super) event: AdmittedEvent,
    preceding: PrecedingMessages,
    origin: EventOrigin,
    /// The pace of its author at each recipient, as decided for the last accept.
    paces: Vec<AuthorPace>,
}

impl Admission<'_> {
    /// Returns its author, as counted for each recipient.
    fn author_keys(&self) -> impl Iterator<Item = AuthorKey> {
        let (bot, heard_by) = (self.event.verified().bot(), self.origin.heard_by());
        let author = self.event.verified().get().source().user_id.clone().unwrap_or_default();
        let key = move |agent| AuthorKey { bot, agent, author: author.clone(), heard_by };
        self.event.recipients().iter().map(move |recipient| key(recipient.agent))
    }
}

/// The end of an event that is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotStored {
    /// It was a command to the desk, which has run.
    Handled,
    /// It has no recipient.
    Refused,
}

/// The results of events that were put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placements {
    pub(crate) stored: usize,
    /// Events that were stored before.
    pub(crate) duplicates: usize,
    /// Another node reads the source now. This does not occur for a webhook, which has no source.
    pub(crate) is_fenced: bool,
}

/// Submits events to the gate, and completes those that are not stored.
#[derive(Debug)]
pub(crate) struct Admissions {
    gate: Arc<Gate>,
    linking: Linking,
    stopping: Arc<Stopping>,
    overheard: OverheardMessages,
    refusals: Arc<Refusals>,
    presses: PressResponder,
    reception: ReceptionRecorder,
}

impl Admissions {
    pub(super) fn new(stops: &Stops, refusals: &Arc<Refusals>, stopping: &Arc<Stopping>) -> Self {
        let (linking, hearing) = (Linking::new(stops), ReceptionRecorder::new(&stops.register));
        let Stops { gate, tasks, .. } = stops.clone();
        let (overheard, presses) = (OverheardMessages::default(), PressResponder::new(tasks));
        let (refusals, stopping) = (Arc::clone(refusals), Arc::clone(stopping));
        Self { gate, linking, stopping, overheard, refusals, presses, reception: hearing }
    }

    /// Submits a verified event to the gate. `Err` means that nothing remains to be stored and the event is handled.
    pub(crate) async fn admit<'a>(
        &'a self,
        account: &'a Account,
        event: VerifiedEvent,
        origin: EventOrigin,
    ) -> Result<Result<Admission<'a>, NotStored>, StoreError> {
        fail_point!("desk::event_verified");
        if let Some(ask) = ChatLinkCommand::from_event(&event) {
            self.linking.link(&ask).await?;
            self.reception.record_message(&account.bot).await;
            return Ok(Err(NotStored::Handled));
        }
        let stop = ChatStopCommand::from_event(event.get(), stop_word(&account.bot).as_ref());
        let looking = VisibilityCheck::new(account, &self.gate, &event);
        let decided = match (looking.admit(event).await, stop) {
            (Ok(admitted), Some(stop)) => {
                self.finish_event(account, admitted.verified().get()).await;
                self.stopping.run_command(admitted, stop);
                return Ok(Err(NotStored::Handled));
            }
            (decided, _) => decided,
        };
        let around = match &decided {
            Ok(event) => self.overheard.preceding_messages(&looking, event).await?,
            Err(_) => PrecedingMessages::default(),
        };
        self.complete_decision(account, decided, |event| Admission {
            visibility: looking,
            event,
            preceding: around,
            origin,
            paces: Vec::new(),
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
        for Admission { visibility: looking, event, preceding: around, origin, .. } in stale {
            let decided = looking.admit_again(event).await;
            let again = |event| Admission {
                visibility: looking,
                event,
                preceding: around,
                origin,
                paces: Vec::new(),
            };
            admitted.extend(self.complete_decision(account, decided, again).await?);
        }
        Ok(admitted)
    }

    async fn complete_decision<'a>(
        &self,
        account: &Account,
        decided: GateDecision,
        admission: impl FnOnce(AdmittedEvent) -> Admission<'a>,
    ) -> Result<Result<Admission<'a>, NotStored>, StoreError> {
        match decided {
            Ok(event) => {
                self.overheard.record(account, event.verified(), event.passed_over());
                Ok(Ok(admission(event)))
            }
            Err((_, AdmitError::Store(error))) => Err(error),
            Err((event, AdmitError::Refused(refused))) => {
                self.record_refusal(account, &event, refused).await;
                Ok(Err(NotStored::Refused))
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
    /// Returns admitted events as the inbox stores them, each with the pace of its author. Nothing is counted yet.
    pub(super) async fn accept_requests(
        &self,
        account: &Account,
        admitted: &mut [Admission<'_>],
    ) -> Result<Vec<AcceptRequest>, StoreError> {
        let mut accepts = Vec::with_capacity(admitted.len());
        for admission in admitted {
            let pace = |author: AuthorKey| {
                self.limits.author_pace(&author).min(admission.origin.worst_pace())
            };
            admission.paces = admission.author_keys().map(pace).collect();
            let Admission { visibility: looking, event, preceding: around, origin, paces } =
                &*admission;
            let told = self.accounts.with_references(account, event).await?;
            let context = around.with_context(looking, told.as_ref().unwrap_or(event)).await?;
            let told = context.or(told);
            let event = told.as_ref().unwrap_or(event);
            let accept = capabilities::build_accept(&self.register, event, origin.cursor()).await?;
            accepts.push(accept.with_paces(paces));
        }
        Ok(accepts)
    }

    /// Counts a stored event for its author, notifies its recipients, and wakes those without a line.
    pub(super) async fn notify(
        &self,
        admission: &Admission<'_>,
        stored: &[StoredEntry],
        began: Instant,
    ) {
        fail_point!("desk::stored_before_ring");
        self.admissions.refusals.record_passed_over(&admission.event);
        trail::trace_stored(trail::TAKE, stored, began.elapsed());
        self.count_stored(admission, stored);
        self.waking.wake(&admission.event, stored);
        for StoredEntry { agent, seq, .. } in stored.iter().copied() {
            // The result of the ring is not needed: the store knows which agents have a line.
            self.bell.ring(Ring::Entry { agent, seq }).await;
        }
        fail_point!("desk::bell_rung");
    }

    /// Counts a stored event for its author, and notifies the author if an entry was parked for the rate.
    fn count_stored(&self, admission: &Admission<'_>, stored: &[StoredEntry]) {
        for (author, pace) in admission.author_keys().zip(&admission.paces) {
            self.limits.count_author(author, *pace);
        }
        let is_parked = |pace: &AuthorPace| *pace == AuthorPace::Park;
        let parked = admission.paces.iter().position(is_parked).and_then(|nth| stored.get(nth));
        if let Some(entry) = parked {
            self.waking.notify_parked(&admission.event, entry);
        }
    }
}
