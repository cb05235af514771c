//! Proof that the gate admitted an event or a send.

use nightdesk_intake::VerifiedEvent;
use nightdesk_types::event::ContextLine;
use nightdesk_types::{AgentId, BotId, RequestId, Send, TenantScope};

use crate::{AdmissionRefusal, Refusal};

/// An agent that may receive an event, and the version of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recipient {
    /// The tenant of the agent.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The version of the agent's terms. The inbox refuses an old one.
    pub version: i64,
}

/// An event with all its recipients.
#[derive(Clone, Debug)]
pub struct AdmittedEvent {
    pub(crate) recipients: Vec<Recipient>,
    pub(crate) passed_over: Vec<AdmissionRefusal>,
    pub(crate) inner: VerifiedEvent,
}

impl AdmittedEvent {
    /// Returns the recipients, at least one.
    pub fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    /// Retains some of the recipients; the others count as refused for this reason. `Err`: none is left.
    #[expect(
        clippy::result_large_err,
        reason = "the caller gets the event back if no recipient is left"
    )]
    pub(crate) fn narrow(
        mut self,
        refusal: Refusal,
        mut keeps: impl FnMut(&Recipient) -> bool,
    ) -> Result<Self, (VerifiedEvent, AdmissionRefusal)> {
        let refused =
            |one: Recipient| AdmissionRefusal { agent: Some((one.scope, one.agent)), refusal };
        let dropped = self.recipients.extract_if(.., |one| !keeps(one)).map(refused);
        let dropped: Vec<AdmissionRefusal> = dropped.collect();
        match dropped.first() {
            Some(first) if self.recipients.is_empty() => Err((self.inner, *first)),
            Some(_) | None => {
                self.passed_over.extend(dropped);
                Ok(self)
            }
        }
    }

    /// Returns a copy in which the attachments have these URLs.
    #[must_use]
    pub fn with_media_urls(&self, urls: Vec<String>) -> Self {
        Self { inner: self.inner.with_media_urls(urls), ..self.clone() }
    }

    /// Returns a copy with these context messages and the flag that reading them failed.
    #[must_use]
    pub fn with_context(&self, context: Vec<ContextLine>, failed: bool) -> Self {
        Self { inner: self.inner.with_context(context, failed), ..self.clone() }
    }

    /// Returns the other candidates, with the reasons why they do not receive it.
    pub fn passed_over(&self) -> &[AdmissionRefusal] {
        &self.passed_over
    }

    /// Returns the event with its proof, so that the caller can decide again.
    pub fn into_verified(self) -> VerifiedEvent {
        self.inner
    }

    /// Returns the event with its proof.
    pub const fn verified(&self) -> &VerifiedEvent {
        &self.inner
    }
}

/// An admitted send and its bot.
#[derive(Clone, Debug)]
pub struct AdmittedSend {
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
    pub(crate) bot: BotId,
    pub(crate) request: RequestId,
    pub(crate) send: Send,
}

impl AdmittedSend {
    /// Returns the tenant.
    pub const fn scope(&self) -> TenantScope {
        self.scope
    }

    /// Returns the agent that requested it.
    pub const fn agent(&self) -> AgentId {
        self.agent
    }

    /// Returns the bot that it goes through.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Returns the gateway's id of the request.
    pub const fn request(&self) -> &RequestId {
        &self.request
    }

    /// Returns the action.
    pub const fn send(&self) -> &Send {
        &self.send
    }
}
