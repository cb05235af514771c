//! Verified: proof that a platform said this.

use nightdesk_port::{
    Bot, Capability, Heard, Listen, ListenError, Part, Receive, ReceiveError, Received,
    SignedRequest,
};
use nightdesk_types::event::{ContextLine, Draft};
use nightdesk_types::limits::{CAPABILITY_BYTES_MAX, CAPABILITY_KIND_BYTES_MAX};
use nightdesk_types::{BotId, Event, TenantScope};

/// Proof that a platform's signature over these bytes checked out, or that it told them where we
/// asked for them with the bot's key.
///
/// It names the bot and no tenant of its people: who may see the event is the gate's to say.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    bot: BotId,
    operator: TenantScope,
    handle: String,
    capability: Option<Capability>,
    inner: T,
}

impl<T> Verified<T> {
    /// The bot that heard it.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Who runs that bot.
    pub const fn operator(&self) -> TenantScope {
        self.operator
    }

    /// What the platform calls the bot.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// What the platform lent us to answer it with.
    pub const fn capability(&self) -> Option<&Capability> {
        self.capability.as_ref()
    }

    /// What was said.
    pub const fn get(&self) -> &T {
        &self.inner
    }
}

impl Verified<Event> {
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
}

/// Something authentic that nobody can read. It is kept for a person to look at.
#[derive(Debug)]
pub struct Quarantined {
    /// The bot that heard it.
    pub bot: BotId,
    /// Who runs that bot.
    pub operator: TenantScope,
    /// Why it cannot be read.
    pub problem: String,
}

/// What a request held.
#[derive(Debug)]
pub enum Intake {
    /// Events in the platform's order, and what could not be read.
    Events(Vec<Result<Verified<Event>, Quarantined>>),
    /// A question of the platform that wants this answer and nothing else.
    Challenge(Vec<u8>),
}

/// The request is not the platform's.
#[derive(Debug, thiserror::Error)]
#[error("signature does not check out")]
pub struct VerifyError;

/// Checks a request and takes its events.
pub fn verify(
    platform: &dyn Receive,
    bot: &Bot,
    request: &SignedRequest<'_>,
) -> Result<Intake, VerifyError> {
    match platform.receive(bot, request) {
        Ok(Received::Challenge(answer)) => Ok(Intake::Challenge(answer)),
        Ok(Received::Events(drafts)) => {
            let take = |draft: Result<_, ReceiveError>| {
                let draft = draft.map_err(|error| quarantined(bot, &error))?;
                proven(bot, draft, None)
            };
            Ok(Intake::Events(drafts.into_iter().map(take).collect()))
        }
        Ok(Received::Bearing(draft, capability)) => {
            let capability = Some(capability).filter(is_fit);
            Ok(Intake::Events(vec![proven(bot, *draft, capability)]))
        }
        Err(ReceiveError::BadSignature) => Err(VerifyError),
        Err(error @ ReceiveError::Unreadable) => {
            Ok(Intake::Events(vec![Err(quarantined(bot, &error))]))
        }
    }
}

/// Something a platform told where it was asked.
#[derive(Debug)]
pub struct Told {
    /// What it is. `None`: nobody said anything.
    pub said: Result<Option<Verified<Event>>, Quarantined>,
    /// As it came.
    pub body: Vec<u8>,
    /// Where the source goes on after it.
    pub cursor: String,
    /// Whether something may be missing before it.
    pub is_after_gap: bool,
}

/// Asks a platform what came after a cursor. Who was asked answers: that is the proof.
pub async fn listen(
    platform: &dyn Listen,
    bot: &Bot,
    cursor: Option<&str>,
) -> Result<Vec<Told>, ListenError> {
    Ok(platform.listen(bot, cursor).await?.into_iter().map(|heard| told(bot, heard)).collect())
}

/// Asks a platform what was said in one channel, because it may have told it in vain, or told nobody.
pub async fn backfill(
    platform: &dyn Listen,
    bot: &Bot,
    (channel, part): (&str, Part<'_>),
) -> Result<Vec<Told>, ListenError> {
    let heard = platform.backfill(bot, channel, part).await?;
    Ok(heard.into_iter().map(|heard| told(bot, heard)).collect())
}

fn told(bot: &Bot, heard: Heard) -> Told {
    let Heard { said, body, cursor, capability, is_after_gap } = heard;
    let said = said.map_err(|error| quarantined(bot, &error));
    let proven =
        |draft: Option<Draft>| draft.map(|draft| proven(bot, draft, capability)).transpose();
    Told { said: said.and_then(proven), body, cursor, is_after_gap }
}

fn proven(
    bot: &Bot,
    draft: Draft,
    capability: Option<Capability>,
) -> Result<Verified<Event>, Quarantined> {
    let inner = Event::normalise(draft).map_err(|error| quarantined(bot, &error))?;
    let handle = bot.handle.clone();
    Ok(Verified { bot: bot.id, operator: bot.operator, handle, capability, inner })
}

/// Whether a capability may be kept: what is out of all bounds is none, and its event comes alone.
fn is_fit(capability: &Capability) -> bool {
    let Capability { kind, secret, .. } = capability;
    (1..=CAPABILITY_KIND_BYTES_MAX).contains(&kind.len())
        && !kind.chars().any(char::is_control)
        && secret.with(|secret| (1..=CAPABILITY_BYTES_MAX).contains(&secret.len()))
}

fn quarantined(bot: &Bot, problem: &dyn std::error::Error) -> Quarantined {
    Quarantined { bot: bot.id, operator: bot.operator, problem: problem.to_string() }
}
