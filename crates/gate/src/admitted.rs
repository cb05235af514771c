//! Admitted: proof that the gate let it through.

use nightdesk_intake::Verified;
use nightdesk_types::event::ContextLine;
use nightdesk_types::{AgentId, BotId, Event, RequestId, Send, TenantScope};

use crate::{Refusal, Refused};

/// An agent that may receive an event, and what that was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recipient {
    /// Whose agent it is.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The version of who may reach it. The inbox refuses an old one.
    pub version: i64,
}

/// An event with everyone who may see it.
#[derive(Clone, Debug)]
pub struct Admitted<T> {
    pub(crate) recipients: Vec<Recipient>,
    pub(crate) passed_over: Vec<Refused>,
    pub(crate) inner: Verified<T>,
}

impl Admitted<Event> {
    /// Who receives it: at least one.
    pub fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    /// The same for some of them; the others are passed over for this. `Err`: for nobody.
    #[expect(clippy::result_large_err, reason = "who is left with nobody gets the event back")]
    pub fn narrowed(
        mut self,
        refusal: Refusal,
        mut keeps: impl FnMut(&Recipient) -> bool,
    ) -> Result<Self, (Verified<Event>, Refused)> {
        let refused = |one: Recipient| Refused { agent: Some((one.scope, one.agent)), refusal };
        let dropped = self.recipients.extract_if(.., |one| !keeps(one)).map(refused);
        let dropped: Vec<Refused> = dropped.collect();
        match dropped.first() {
            Some(first) if self.recipients.is_empty() => Err((self.inner, *first)),
            Some(_) | None => {
                self.passed_over.extend(dropped);
                Ok(self)
            }
        }
    }

    /// The same, with what is attached to be had there instead.
    #[must_use]
    pub fn referring_to(&self, urls: Vec<String>) -> Self {
        Self { inner: self.inner.referring_to(urls), ..self.clone() }
    }

    /// The same, with what was said before it, and whether that could not be found out.
    #[must_use]
    pub fn amid(&self, context: Vec<ContextLine>, failed: bool) -> Self {
        Self { inner: self.inner.amid(context, failed), ..self.clone() }
    }

    /// Who else was thought of, and why they do not receive it.
    pub fn passed_over(&self) -> &[Refused] {
        &self.passed_over
    }

    /// The event with its proof, for who wants it decided anew.
    pub fn into_verified(self) -> Verified<Event> {
        self.inner
    }

    /// The event, still with its proof.
    pub const fn verified(&self) -> &Verified<Event> {
        &self.inner
    }
}

/// A send that may go out, and through which bot.
#[derive(Clone, Debug)]
pub struct AdmittedSend {
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
    pub(crate) bot: BotId,
    pub(crate) request: RequestId,
    pub(crate) send: Send,
}

impl AdmittedSend {
    /// For whom it is done.
    pub const fn scope(&self) -> TenantScope {
        self.scope
    }

    /// Who asked for it.
    pub const fn agent(&self) -> AgentId {
        self.agent
    }

    /// Through which bot it goes.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// What the gateway calls it.
    pub const fn request(&self) -> &RequestId {
        &self.request
    }

    /// What is done.
    pub const fn send(&self) -> &Send {
        &self.send
    }
}
