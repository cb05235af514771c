//! Changes an agent's reach, on request of the agent or its administrator.
//!
//! The stored record names the caller of each request; the tenant and the agent in a body are ignored.

use std::sync::Arc;

use fail::fail_point;
use nightdesk_bus::{Bell, Ring};
use nightdesk_port::Bot;
use nightdesk_register::{
    AgentOnBot, AgentReach, Caller, OpenBot, ReachChangeRequest, Register, RegisterError,
    may_change_reach,
};
use nightdesk_types::event::{ChatType, Source};
use nightdesk_types::{
    BotId, GrantTarget, OverQuota, Principal, Relevance, StoreError, Visibility,
};
use nightdesk_vault::Key;

use crate::accounts::store_error;
use crate::{Accounts, LimitedAction, Limits, Stops};

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
pub struct BotName<'a> {
    /// The platform's name.
    pub platform: &'a str,
    /// The bot's handle on the platform.
    pub handle: Option<&'a str>,
}

/// Changes the reach of agents.
#[derive(Debug)]
pub struct ReachManager {
    register: Arc<Register>,
    accounts: Arc<Accounts>,
    limits: Arc<Limits>,
    bell: Arc<dyn Bell>,
}

impl ReachManager {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { register, accounts, limits, bell, .. } = stops.clone();
        Self { register, accounts, limits, bell }
    }

    /// Creates a code that links a person to the agent, and returns it with the bots that accept it.
    pub async fn link(&self, caller: &Caller) -> Result<(Key, Vec<OpenBot>), ManageError> {
        self.check(caller, ReachChangeRequest::Link).await?;
        let code = self.register.link_code(caller.scope, caller.agent).await?;
        let code = code.ok_or(ManageError::TooManyCodes)?;
        Ok((code, self.register.store().open_bots(caller.scope).await?))
    }

    /// Removes a person's link to the agent.
    pub async fn unlink(
        &self,
        caller: &Caller,
        bot: BotName<'_>,
        author: &str,
    ) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Unlink).await?;
        let on = self.on_bot(caller, bot).await?.0;
        Ok(self.register.store().unbind(on, author).await?)
    }

    /// Makes the agent a person's default among the agents linked to them.
    pub async fn prefer(
        &self,
        caller: &Caller,
        bot: BotName<'_>,
        author: &str,
    ) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Prefer).await?;
        let on = self.on_bot(caller, bot).await?.0;
        let is_linked = self.register.store().prefer(on, author).await?;
        is_linked.then_some(()).ok_or(ManageError::NotLinked)
    }

    /// Grants the agent a chat or a scope. On another tenant's bot, only a chat that the agent's own people see.
    pub async fn claim(
        &self,
        caller: &Caller,
        bot: BotName<'_>,
        granted: &GrantTarget,
    ) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Claim).await?;
        let (on, open) = self.on_bot(caller, bot).await?;
        if !open.is_own && !self.is_chat_seen(caller, on.bot, granted).await? {
            return Err(ManageError::NotSeen);
        }
        self.count_place_change(caller).await?;
        let is_free = self.register.store().grant(on, granted, None).await?;
        is_free.then_some(()).ok_or(ManageError::Taken)
    }

    /// Takes a chat or a scope from the agent.
    pub async fn release(
        &self,
        caller: &Caller,
        bot: BotName<'_>,
        granted: &GrantTarget,
    ) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Release).await?;
        let on = self.on_bot(caller, bot).await?.0;
        self.count_place_change(caller).await?;
        let had = self.register.store().release(on, granted).await?;
        had.then_some(()).ok_or(ManageError::NotGranted)
    }

    /// Sets which people may reach the agent in its granted places.
    pub async fn open_to(&self, caller: &Caller, principal: Principal) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Open(principal)).await?;
        Ok(self.register.store().open_to(caller.scope, caller.agent, principal).await?)
    }

    /// Replaces the agent's list of further people on a bot.
    pub async fn list(
        &self,
        caller: &Caller,
        bot: BotName<'_>,
        authors: &[String],
    ) -> Result<(), ManageError> {
        let on = self.on_bot(caller, bot).await?.0;
        self.check(caller, ReachChangeRequest::List(on.bot, authors)).await?;
        Ok(self.register.store().list(on, authors).await?)
    }

    /// Replaces the agent's relevance rules on a platform.
    pub async fn declare(
        &self,
        caller: &Caller,
        platform: &str,
        relevance: &Relevance,
    ) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Declare).await?;
        let store = self.register.store();
        Ok(store.declare(caller.scope, caller.agent, platform, relevance).await?)
    }

    /// Removes all means by which the agent can be reached or dial in, and closes its line.
    pub async fn deprovision(&self, caller: &Caller) -> Result<(), ManageError> {
        self.check(caller, ReachChangeRequest::Deprovision).await?;
        let revoked = self.register.store().deprovision(caller.scope, caller.agent).await?;
        fail_point!("desk::revoked_before_ring");
        for gateway in revoked {
            self.bell.ring(Ring::Revoked { gateway }).await;
        }
        Ok(())
    }

    /// Returns the agent's reach.
    pub async fn show(&self, caller: &Caller) -> Result<AgentReach, ManageError> {
        Ok(self.register.store().reach_of(caller.scope, caller.agent).await?)
    }

    async fn check(
        &self,
        caller: &Caller,
        wish: ReachChangeRequest<'_>,
    ) -> Result<(), ManageError> {
        let may = may_change_reach(self.register.store(), caller, wish).await?;
        may.then_some(()).ok_or(ManageError::Widens)
    }

    /// Counts a claim or a release of the agent.
    async fn count_place_change(&self, caller: &Caller) -> Result<(), ManageError> {
        let counted =
            self.limits.allow_among_all(LimitedAction::Scope, &caller.agent.to_string()).await;
        counted.map_err(|_| ManageError::TooFast)
    }

    /// Returns the only bot that matches the name.
    async fn on_bot(
        &self,
        caller: &Caller,
        named: BotName<'_>,
    ) -> Result<(AgentOnBot, OpenBot), ManageError> {
        let is_meant = |bot: &OpenBot| {
            bot.platform == named.platform && named.handle.is_none_or(|handle| bot.handle == handle)
        };
        let open = self.register.store().open_bots(caller.scope).await?;
        let mut meant = open.into_iter().filter(is_meant);
        let bot = meant.next().ok_or(ManageError::NoBot)?;
        if meant.next().is_some() {
            return Err(ManageError::SeveralBots);
        }
        let on = AgentOnBot { scope: caller.scope, agent: caller.agent, bot: bot.id };
        Ok((on, bot))
    }

    /// Returns true if a person linked to the agent on a bot is known to see a chat.
    async fn is_chat_seen(
        &self,
        caller: &Caller,
        bot: BotId,
        granted: &GrantTarget,
    ) -> Result<bool, ManageError> {
        // Only the bot's operator can decide who may see a whole scope.
        let GrantTarget::Chat { chat, scope } = granted else { return Ok(false) };
        let Some(account) = self.accounts.find_by_id(bot).await? else { return Ok(false) };
        let place = chat_source(&account.bot, chat, scope.as_deref());
        let reach = self.register.store().reach_of(caller.scope, caller.agent).await?;
        let mut people = reach.people.iter().filter(|(on, _)| *on == bot);
        Ok(people.any(|(_, person)| account.visibility(&place, person) == Visibility::Sees))
    }
}

fn chat_source(bot: &Bot, chat: &str, scope: Option<&str>) -> Source {
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
