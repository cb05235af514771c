//! Admit: the thin acts around the decisions.

use std::sync::Arc;

use moka::sync::Cache;
use nightdesk_intake::Verified;
use nightdesk_types::limits::{SNAPSHOTS_KEPT_MAX, STALE_REFUSAL_MAX};
use nightdesk_types::{AgentId, BotId, Event, RequestId, Send, StoreError, TenantScope};
use tokio::time::Instant;

use crate::admitted::{Admitted, AdmittedSend};
use crate::decide::{Refusal, SendRefusal, Snapshot, Tag, decide, decide_send};
use crate::store::{RefusalNote, Store};

/// Why something was not let through.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError<R: std::error::Error + 'static> {
    /// A layer said no.
    #[error("refused")]
    Refused(#[source] R),
    /// It could not be decided.
    #[error("could not be decided")]
    Store(#[from] StoreError),
}

type Place = (BotId, String, String);

/// Lets events in and sends out.
///
/// What the store said is kept for a moment. That cannot let in too many: the inbox refuses
/// an admit that was decided on an old version. It may keep a new grant out for as long.
pub struct Gate {
    store: Arc<dyn Store>,
    /// Each with the time of its look, by the clock that tests can move.
    recent: Cache<Place, (Instant, Arc<Snapshot>)>,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    /// A gate over this store.
    pub fn over(store: Arc<dyn Store>) -> Self {
        Self { store, recent: Cache::new(SNAPSHOTS_KEPT_MAX) }
    }

    /// Says who receives an event.
    pub async fn admit(
        &self,
        event: Verified<Event>,
    ) -> Result<Admitted<Event>, (Verified<Event>, AdmitError<Refusal>)> {
        match self.decided(&event).await {
            Ok(recipients) => Ok(Admitted { recipients, inner: event }),
            Err(error) => Err((event, error)),
        }
    }

    /// Decides again, on what the store says now, because the inbox found the admit old.
    pub async fn admit_again(
        &self,
        stale: Admitted<Event>,
    ) -> Result<Admitted<Event>, (Verified<Event>, AdmitError<Refusal>)> {
        if let Some(place) = place(&stale.inner) {
            self.recent.invalidate(&place);
        }
        self.admit(stale.inner).await
    }

    async fn decided(
        &self,
        event: &Verified<Event>,
    ) -> Result<Vec<crate::Recipient>, AdmitError<Refusal>> {
        let place = place(event).ok_or(AdmitError::Refused(Refusal::NoAuthor))?;
        let recent = self.recent.get(&place);
        let snapshot = match recent.filter(|(at, _)| at.elapsed() < STALE_REFUSAL_MAX) {
            Some((_, snapshot)) => snapshot,
            None => self.read(place).await?,
        };
        decide(&snapshot).map_err(AdmitError::Refused)
    }

    async fn read(&self, place: Place) -> Result<Arc<Snapshot>, StoreError> {
        let (bot, author, chat) = &place;
        let asked_at = Instant::now();
        let snapshot = Arc::new(self.store.snapshot(*bot, author, chat).await?);
        self.recent.insert(place, (asked_at, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// Writes refusals down.
    pub async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        self.store.note_refusals(notes).await
    }

    /// Says through which bot a send goes, of those its line greeted for.
    pub async fn admit_send(
        &self,
        sender: Sender<'_>,
        request: RequestId,
        send: Send,
    ) -> Result<AdmittedSend, AdmitError<SendRefusal>> {
        let Sender { scope, agent, greeted, tag } = sender;
        let reaches = self.store.reaches(scope, agent, &send.chat_id).await?;
        let bot = decide_send(greeted, &reaches, tag).map_err(AdmitError::Refused)?;
        Ok(AdmittedSend { scope, agent, bot, request, send })
    }
}

/// Who wants to send, as proven by its line.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// For whom.
    pub scope: TenantScope,
    /// Which agent.
    pub agent: AgentId,
    /// The bots its line said hello for, and may.
    pub greeted: &'a [BotId],
    /// As what it wants to speak.
    pub tag: &'a Tag,
}

fn place(event: &Verified<Event>) -> Option<Place> {
    let source = event.get().source();
    let author = source.user_id.clone()?;
    Some((event.bot(), author, source.chat_id.clone()))
}
