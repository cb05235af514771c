//! Proof that an event comes from a platform.

use nightdesk_port::{
    Bot, Capability, HistoryRange, Listen, ListenError, PlatformEvent, Receive, ReceiveError,
    RequestContent, SignedRequest, WebhookAnswer,
};
use nightdesk_types::event::{ContextLine, Draft};
use nightdesk_types::limits::{CAPABILITY_BYTES_MAX, CAPABILITY_KIND_BYTES_MAX};
use nightdesk_types::{BotId, Event, TenantScope};

/// Proof that a platform's signature over these bytes is valid, or that the platform returned them to a call with the
/// bot's key.
///
/// It names the bot and no tenant of its people: the gate decides which agents may see the event.
#[derive(Clone, Debug)]
pub struct VerifiedEvent {
    bot: BotId,
    operator: TenantScope,
    handle: String,
    capability: Option<Capability>,
    inner: Event,
}

impl VerifiedEvent {
    /// Returns the bot that received it.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Returns the operator of that bot.
    pub const fn operator(&self) -> TenantScope {
        self.operator
    }

    /// Returns the platform's name of the bot.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// Returns the capability that the platform lent for the response.
    pub const fn capability(&self) -> Option<&Capability> {
        self.capability.as_ref()
    }

    /// Returns the content.
    pub const fn get(&self) -> &Event {
        &self.inner
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
}

/// An authentic but unreadable event. It is stored for the operator.
#[derive(Debug)]
pub struct UnreadableEvent {
    /// The bot that received it.
    pub bot: BotId,
    /// The operator of that bot.
    pub operator: TenantScope,
    /// The reason why it cannot be read.
    pub problem: String,
}

/// The content of a request.
#[derive(Debug)]
pub enum Intake {
    /// Events in the platform's order, and unreadable ones.
    Events(Vec<Result<VerifiedEvent, UnreadableEvent>>),
    /// A challenge of the platform, which expects exactly this answer.
    Challenge(WebhookAnswer),
}

/// The request does not come from the platform.
#[derive(Debug, thiserror::Error)]
#[error("the signature is invalid")]
pub struct VerifyError;

/// Verifies a request and returns its events.
pub fn verify(
    platform: &dyn Receive,
    bot: &Bot,
    request: &SignedRequest<'_>,
) -> Result<Intake, VerifyError> {
    match platform.receive(bot, request) {
        Ok(RequestContent::Challenge(answer)) => Ok(Intake::Challenge(answer)),
        Ok(RequestContent::Events(drafts)) => {
            let take = |draft: Result<_, ReceiveError>| {
                let draft = draft.map_err(|error| unreadable_event(bot, &error))?;
                verified_event(bot, draft, None)
            };
            Ok(Intake::Events(drafts.into_iter().map(take).collect()))
        }
        Ok(RequestContent::Bearing(draft, capability)) => {
            let capability = Some(capability).filter(is_fit);
            Ok(Intake::Events(vec![verified_event(bot, *draft, capability)]))
        }
        Err(ReceiveError::BadSignature) => Err(VerifyError),
        Err(error @ ReceiveError::Unreadable) => {
            Ok(Intake::Events(vec![Err(unreadable_event(bot, &error))]))
        }
    }
}

/// An item that a platform returned to a call of the desk.
#[derive(Debug)]
pub struct SourceEvent {
    /// The event. `None`: the item contains none.
    pub event: Result<Option<VerifiedEvent>, UnreadableEvent>,
    /// The received bytes.
    pub body: Vec<u8>,
    /// The position of the source after it.
    pub cursor: String,
    /// True if events before it may be missing.
    pub is_after_gap: bool,
}

/// Reads the events after a cursor from a platform. The connection to the platform is the proof.
pub async fn listen(
    platform: &dyn Listen,
    bot: &Bot,
    cursor: Option<&str>,
) -> Result<Vec<SourceEvent>, ListenError> {
    Ok(platform
        .listen(bot, cursor)
        .await?
        .into_iter()
        .map(|heard| source_event(bot, heard))
        .collect())
}

/// Reads the events of one channel from a platform, because some may have been lost or never delivered.
pub async fn backfill(
    platform: &dyn Listen,
    bot: &Bot,
    channel: &str,
    part: HistoryRange<'_>,
) -> Result<Vec<SourceEvent>, ListenError> {
    let heard = platform.backfill(bot, channel, part).await?;
    Ok(heard.into_iter().map(|heard| source_event(bot, heard)).collect())
}

fn source_event(bot: &Bot, heard: PlatformEvent) -> SourceEvent {
    let PlatformEvent { event: said, body, cursor, capability, is_after_gap } = heard;
    let said = said.map_err(|error| unreadable_event(bot, &error));
    let proven = |draft: Option<Draft>| {
        draft.map(|draft| verified_event(bot, draft, capability)).transpose()
    };
    SourceEvent { event: said.and_then(proven), body, cursor, is_after_gap }
}

fn verified_event(
    bot: &Bot,
    draft: Draft,
    capability: Option<Capability>,
) -> Result<VerifiedEvent, UnreadableEvent> {
    let inner = Event::normalise(draft).map_err(|error| unreadable_event(bot, &error))?;
    let handle = bot.handle.clone();
    Ok(VerifiedEvent { bot: bot.id, operator: bot.operator, handle, capability, inner })
}

/// Returns true if a capability may be stored. Otherwise it is dropped, and its event goes on without it.
fn is_fit(capability: &Capability) -> bool {
    let Capability { kind, secret, .. } = capability;
    (1..=CAPABILITY_KIND_BYTES_MAX).contains(&kind.len())
        && !kind.chars().any(char::is_control)
        && secret.with(|secret| (1..=CAPABILITY_BYTES_MAX).contains(&secret.len()))
}

fn unreadable_event(bot: &Bot, problem: &dyn std::error::Error) -> UnreadableEvent {
    UnreadableEvent { bot: bot.id, operator: bot.operator, problem: problem.to_string() }
}
