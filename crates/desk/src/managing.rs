//! Changes an agent's reach, on request of the agent or its administrator.
//!
//! The stored record names the caller of each request; the tenant and the agent in a body are ignored.

use nightdesk_bus::Ring;
use nightdesk_port::Bot;
use nightdesk_register::{Caller, OnBot, OpenBot, ReachOf, RegisterError, Wish, may};
use nightdesk_types::event::{ChatType, Source};
use nightdesk_types::{BotId, Granted, OverQuota, Principal, Relevance, Sight, StoreError};
use nightdesk_vault::Key;

use crate::Desk;
use crate::accounts::store_error;
use crate::limits::What;

/// An error that prevents a change.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// A gateway's secret does not permit this.
    #[error("a gateway's secret can narrow an agent's reach, but not widen it")]
    Widens,
    /// No bot of that name is open to the tenant.
    #[error("no bot of that platform and name is open to the agent")]
    NoBot,
    /// Several bots match, and the request names none.
    #[error("several bots of that platform are open to the agent")]
    SeveralBots,
    /// Another agent has the chat or scope.
    #[error("another agent has that chat or scope")]
    Taken,
    /// The agent does not have the chat or scope.
    #[error("the agent has no such chat or scope")]
    NotGranted,
    /// The person is not linked to the agent.
    #[error("that person is not linked to the agent")]
    NotLinked,
    /// No person linked to the agent is known to see the chat.
    #[error("no person linked to the agent is known to see that chat")]
    NotSeen,
    /// The agent exceeded the rate of link codes.
    #[error("the agent got too many codes within the hour")]
    TooManyCodes,
    /// The agent claims or releases places too often.
    #[error("the agent claimed and released too many chats and scopes within the hour")]
    TooFast,
    /// The tenant has reached a quota.
    #[error("the tenant has reached its quota of {}", .0.quota.slug())]
    OverQuota(OverQuota),
    /// The store failed.
    #[error("the change could not be stored")]
    Store(#[source] StoreError),
}

/// A bot by its platform, and by its handle if the platform has several.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The platform's name.
    pub platform: &'a str,
    /// The bot's handle on the platform.
    pub handle: Option<&'a str>,
}

/// Creates a code that links a person to the agent, and returns it with the bots that accept it.
pub async fn link(desk: &Desk, caller: &Caller) -> Result<(Key, Vec<OpenBot>), ManageError> {
    check(desk, caller, Wish::Link).await?;
    let code = desk.register.link_code(caller.scope, caller.agent).await?;
    let code = code.ok_or(ManageError::TooManyCodes)?;
    Ok((code, desk.register.store().open_bots(caller.scope).await?))
}

/// Removes a person's link to the agent.
pub async fn unlink(
    desk: &Desk,
    caller: &Caller,
    bot: Named<'_>,
    author: &str,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Unlink).await?;
    let on = on_bot(desk, caller, bot).await?.0;
    Ok(desk.register.store().unbind(on, author).await?)
}

/// Makes the agent a person's default among the agents linked to them.
pub async fn prefer(
    desk: &Desk,
    caller: &Caller,
    bot: Named<'_>,
    author: &str,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Prefer).await?;
    let on = on_bot(desk, caller, bot).await?.0;
    let is_linked = desk.register.store().prefer(on, author).await?;
    is_linked.then_some(()).ok_or(ManageError::NotLinked)
}

/// Grants the agent a chat or a scope. On another tenant's bot, only a chat that the agent's own people see.
pub async fn claim(
    desk: &Desk,
    caller: &Caller,
    bot: Named<'_>,
    granted: &Granted,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Claim).await?;
    let (on, open) = on_bot(desk, caller, bot).await?;
    if !open.is_own && !is_seen(desk, caller, on.bot, granted).await? {
        return Err(ManageError::NotSeen);
    }
    places(desk, caller).await?;
    let is_free = desk.register.store().grant(on, granted, None).await?;
    is_free.then_some(()).ok_or(ManageError::Taken)
}

/// Takes a chat or a scope from the agent.
pub async fn release(
    desk: &Desk,
    caller: &Caller,
    bot: Named<'_>,
    granted: &Granted,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Release).await?;
    let on = on_bot(desk, caller, bot).await?.0;
    places(desk, caller).await?;
    let had = desk.register.store().release(on, granted).await?;
    had.then_some(()).ok_or(ManageError::NotGranted)
}

/// Sets which people may reach the agent in its granted places.
pub async fn open_to(
    desk: &Desk,
    caller: &Caller,
    principal: Principal,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Open(principal)).await?;
    Ok(desk.register.store().open_to(caller.scope, caller.agent, principal).await?)
}

/// Replaces the agent's list of further people on a bot.
pub async fn list(
    desk: &Desk,
    caller: &Caller,
    bot: Named<'_>,
    authors: &[String],
) -> Result<(), ManageError> {
    let on = on_bot(desk, caller, bot).await?.0;
    check(desk, caller, Wish::List(on.bot, authors)).await?;
    Ok(desk.register.store().list(on, authors).await?)
}

/// Replaces the agent's relevance rules on a platform.
pub async fn declare(
    desk: &Desk,
    caller: &Caller,
    platform: &str,
    relevance: &Relevance,
) -> Result<(), ManageError> {
    check(desk, caller, Wish::Declare).await?;
    let store = desk.register.store();
    Ok(store.declare(caller.scope, caller.agent, platform, relevance).await?)
}

/// Removes all means by which the agent can be reached or dial in, and closes its line.
pub async fn deprovision(desk: &Desk, caller: &Caller) -> Result<(), ManageError> {
    check(desk, caller, Wish::Deprovision).await?;
    let revoked = desk.register.store().deprovision(caller.scope, caller.agent).await?;
    for gateway in revoked {
        desk.bell.0.ring(Ring::Revoked { gateway }).await;
    }
    Ok(())
}

/// Returns the agent's reach.
pub async fn show(desk: &Desk, caller: &Caller) -> Result<ReachOf, ManageError> {
    Ok(desk.register.store().reach_of(caller.scope, caller.agent).await?)
}

async fn check(desk: &Desk, caller: &Caller, wish: Wish<'_>) -> Result<(), ManageError> {
    let may = may(desk.register.store(), caller, wish).await?;
    may.then_some(()).ok_or(ManageError::Widens)
}

/// Counts a claim or a release of the agent.
async fn places(desk: &Desk, caller: &Caller) -> Result<(), ManageError> {
    let counted = desk.limits.allow_among_all(What::Scope, &caller.agent.to_string()).await;
    counted.map_err(|_| ManageError::TooFast)
}

/// Returns the only bot that matches the name.
async fn on_bot(
    desk: &Desk,
    caller: &Caller,
    named: Named<'_>,
) -> Result<(OnBot, OpenBot), ManageError> {
    let is_meant = |bot: &OpenBot| {
        bot.platform == named.platform && named.handle.is_none_or(|handle| bot.handle == handle)
    };
    let open = desk.register.store().open_bots(caller.scope).await?;
    let mut meant = open.into_iter().filter(is_meant);
    let bot = meant.next().ok_or(ManageError::NoBot)?;
    if meant.next().is_some() {
        return Err(ManageError::SeveralBots);
    }
    let on = OnBot { scope: caller.scope, agent: caller.agent, bot: bot.id };
    Ok((on, bot))
}

/// Returns true if a person linked to the agent on a bot is known to see a chat.
async fn is_seen(
    desk: &Desk,
    caller: &Caller,
    bot: BotId,
    granted: &Granted,
) -> Result<bool, ManageError> {
    // Only the bot's operator can decide who may see a whole scope.
    let Granted::Chat { chat, scope } = granted else { return Ok(false) };
    let Some(account) = desk.accounts.of(bot).await? else { return Ok(false) };
    let place = place(&account.bot, chat, scope.as_deref());
    let reach = desk.register.store().reach_of(caller.scope, caller.agent).await?;
    let mut people = reach.people.iter().filter(|(on, _)| *on == bot);
    Ok(people.any(|(_, person)| account.sight(&place, person) == Sight::Sees))
}

fn place(bot: &Bot, chat: &str, scope: Option<&str>) -> Source {
    Source {
        platform: bot.platform.clone(),
        chat_id: chat.to_owned(),
        chat_type: ChatType::Channel,
        scope_id: scope.map(str::to_owned),
        ..Source::default()
    }
}

impl From<StoreError> for ManageError {
    fn from(error: StoreError) -> Self {
        error.over_quota().map_or(Self::Store(error), Self::OverQuota)
    }
}

impl From<RegisterError> for ManageError {
    fn from(error: RegisterError) -> Self {
        store_error(error).into()
    }
}
