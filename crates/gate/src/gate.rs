//! The gate: loads the facts, decides and wraps the result.

use std::sync::Arc;

use nightdesk_intake::VerifiedEvent;
use nightdesk_types::send::Op;
use nightdesk_types::{AgentId, BotId, RequestId, Send, StoreError, TenantScope};

use crate::admitted::{AdmittedEvent, AdmittedSend, Recipient};
use crate::bot_reach::VisibilityLookup;
use crate::decide::{
    AdmissionRefusal, BotTag, Decision, Refusal, SendRefusal, decide_change, decide_send,
};
use crate::facts::EventFacts;
use crate::reach_cache::ReachCache;
use crate::sender_cache::SenderCache;
use crate::stop_button::{mark_button, stop_prompt, wants_button};
use crate::store::{BotPrompt, RefusalNote, Store, StoredRefusal};

/// The reason why an event or send was not admitted.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError<R: std::error::Error + 'static> {
    /// A layer refused it.
    #[error("refused")]
    Refused(#[source] R),
    /// The store failed, so no decision was made.
    #[error("the gate could not decide")]
    Store(#[from] StoreError),
}

/// Admits events and sends.
///
/// The gate caches the store's answers. A stale cache cannot admit too many recipients, because the inbox refuses an
/// admission with an old version. It may delay a new grant for a moment.
pub struct Gate {
    store: Arc<dyn Store>,
    reach_cache: ReachCache,
    senders: SenderCache,
}

nightdesk_types::opaque_debug!(Gate);

impl Gate {
    /// Creates a gate over this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let reach_cache = ReachCache::new(Arc::clone(&store));
        Self { reach_cache, senders: SenderCache::new(Arc::clone(&store)), store }
    }

    /// Decides which agents receive an event.
    pub async fn admit(
        &self,
        event: VerifiedEvent,
        floor: VisibilityLookup<'_>,
    ) -> Result<AdmittedEvent, (VerifiedEvent, AdmitError<AdmissionRefusal>)> {
        let decided = match EventFacts::from_event(event.get()) {
            Some(facts) => self.decide(event.bot(), &facts, floor).await,
            None => Err(AdmitError::Refused(AdmissionRefusal {
                agent: None,
                refusal: Refusal::NoAuthor,
            })),
        };
        let admitted = match decided {
            Ok((recipients, passed_over)) => {
                AdmittedEvent { recipients, passed_over, inner: event }
            }
            Err(error) => return Err((event, error)),
        };
        self.narrow_to_asker(admitted).await
    }

    /// Narrows a button press to the agent that showed the prompt.
    async fn narrow_to_asker(
        &self,
        admitted: AdmittedEvent,
    ) -> Result<AdmittedEvent, (VerifiedEvent, AdmitError<AdmissionRefusal>)> {
        let event = &admitted.inner;
        let Some(press) = event.get().press() else { return Ok(admitted) };
        let prompt = BotPrompt { bot: event.bot(), id: &press.prompt_id };
        let asker = match self.store.find_prompt_agent(prompt).await {
            Ok(asker) => asker,
            Err(error) => return Err((admitted.inner, error.into())),
        };
        let is_theirs = |one: &Recipient| asker == Some((one.scope, one.agent));
        let narrowed = admitted.narrow(Refusal::NotAsked, is_theirs);
        narrowed.map_err(|(event, refused)| (event, AdmitError::Refused(refused)))
    }

    /// Decides again on fresh data, because the inbox found the admission outdated.
    pub async fn admit_again(
        &self,
        stale: AdmittedEvent,
        floor: VisibilityLookup<'_>,
    ) -> Result<AdmittedEvent, (VerifiedEvent, AdmitError<AdmissionRefusal>)> {
        if let Err(error) =
            self.reach_cache.reload_outdated(stale.inner.bot(), &stale.recipients).await
        {
            return Err((stale.inner, error.into()));
        }
        self.admit(stale.inner, floor).await
    }

    async fn decide(
        &self,
        bot: BotId,
        facts: &EventFacts<'_>,
        floor: VisibilityLookup<'_>,
    ) -> Result<(Vec<Recipient>, Vec<AdmissionRefusal>), AdmitError<AdmissionRefusal>> {
        let decision = self.explain(bot, facts, floor).await?;
        let recipients = decision.recipients().map_err(AdmitError::Refused)?;
        Ok((recipients, decision.passed_over().collect()))
    }

    /// Returns the verdict for each candidate agent, with the reason for each refusal.
    pub async fn explain(
        &self,
        bot: BotId,
        facts: &EventFacts<'_>,
        floor: VisibilityLookup<'_>,
    ) -> Result<Decision, StoreError> {
        let decision = self.reach_cache.decide(bot, facts, floor).await?;
        let Some(agent) = decision.may_continue() else { return Ok(decision) };
        let takes_part =
            self.store.takes_part(agent.scope, agent.agent, bot, facts.place.chat).await?;
        if !takes_part {
            return Ok(decision);
        }
        self.reach_cache.decide(bot, &EventFacts { takes_part, ..*facts }, floor).await
    }

    /// Reloads a bot after the bell rang for a change.
    pub async fn reload_bot(&self, bot: BotId) -> Result<(), StoreError> {
        self.reach_cache.reload_cached(bot).await
    }

    /// Forgets the reach of every bot, because the store begins another history: its versions are given out again.
    pub fn forget_reach(&self) {
        self.reach_cache.forget_all();
    }

    /// Reloads all bots that changed without a bell.
    pub async fn reload_changed(&self) -> Result<(), StoreError> {
        self.reach_cache.reload_changed().await
    }

    /// Returns the stored refusals of an event for a tenant, newest first.
    pub async fn stored_refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        self.store.read_refusals(scope, event_key).await
    }

    /// Stores refusals.
    pub async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        self.store.note_refusals(notes).await
    }

    /// Chooses the bot of a send, among those that its line sent a hello for.
    pub async fn admit_send(
        &self,
        sender: Sender<'_>,
        request: RequestId,
        send: Send,
    ) -> Result<AdmittedSend, AdmitError<SendRefusal>> {
        let Sender { scope, agent, hellos: greeted, tag, through } = sender;
        let mut reaches = self.store.find_reaches(scope, agent, &send.chat_id).await?;
        reaches.retain(|reach| through.is_none_or(|bot| reach.bot == bot));
        let reach = decide_send(greeted, &reaches, tag).map_err(AdmitError::Refused)?;
        let bot = reach.bot;
        if let Some(id) = send.op.changed_message() {
            let made = self.senders.find_sender(bot, &send.chat_id, id).await?;
            decide_change((scope, agent), reach, &send.op, made).map_err(AdmitError::Refused)?;
        }
        let send = match &reach.speaks_as {
            Some(name) => Send { op: send.op.with_speaker_name(name), ..send },
            None => send,
        };
        if let Op::Prompt { prompt_id: id, .. } = &send.op
            && !self.store.record_prompt(scope, agent, BotPrompt { bot, id }).await?
        {
            return Err(AdmitError::Refused(SendRefusal::PromptTaken));
        }
        let prompt = self.record_stop_button(sender, bot, &send).await?;
        Ok(AdmittedSend { scope, agent, bot, request, send: mark_button(send, prompt) })
    }

    /// Records the prompt of a stop button, so that a press reaches the agent of the answer and no other. Returns its id,
    /// if the send has a button.
    async fn record_stop_button(
        &self,
        sender: Sender<'_>,
        bot: BotId,
        send: &Send,
    ) -> Result<Option<String>, StoreError> {
        if !wants_button(send) {
            return Ok(None);
        }
        let Sender { scope, agent, .. } = sender;
        let id = stop_prompt(agent);
        let is_own = self.store.record_prompt(scope, agent, BotPrompt { bot, id: &id }).await?;
        Ok(is_own.then_some(id))
    }
}

/// The sender of a send, as authenticated by its line.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The hellos of its line.
    pub hellos: &'a [BotTag],
    /// The platform and bot that the send names.
    pub tag: &'a BotTag,
    /// The only bot that the send may use, if one is fixed.
    pub through: Option<BotId>,
}
