//! The people, chats and scopes that reach an agent.

mod tenant;
mod views;

use nightdesk_register::AgentOnBot;
use nightdesk_types::limits::{LINK_CODE_LIFE, PLATFORM_ID_BYTES_MAX};
use nightdesk_types::{AgentId, GrantTarget, Principal, TenantScope};
use nightdesk_users::{Access, Place, Right};

pub use self::tenant::{TenantGrantView, TenantPersonView};
use self::views::scope_and_chat;
pub use self::views::{
    AgentReachView, BindingView, ChatGrantView, GrantView, LinkBotView, LinkCodeView, PersonView,
};
use crate::bots::unknown_bot;
use crate::error::OfficeError;
use crate::office::Office;

impl Office {
    /// Returns an agent's reach.
    pub async fn reach(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<AgentReachView, OfficeError> {
        Ok(self.desk.stops.register.store().reach_of(scope, agent).await?.into())
    }

    /// Sets the people that an agent is open to, in its grants and in later ones.
    pub async fn open_agent(
        &self,
        scope: TenantScope,
        agent: AgentId,
        open_to: Principal,
    ) -> Result<AgentReachView, OfficeError> {
        self.desk.stops.register.store().open_to(scope, agent, open_to).await?;
        self.reach(scope, agent).await
    }

    /// Creates a code; a person who sends it to a bot is linked to the agent.
    pub async fn create_link_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<LinkCodeView, OfficeError> {
        let register = &self.desk.stops.register;
        let code = register.link_code(scope, agent).await?.ok_or_else(|| {
            OfficeError::Conflict(
                "the agent got too many codes this hour; use one of them, or wait".to_owned(),
            )
        })?;
        let bots = register.store().open_bots(scope).await?;
        Ok(LinkCodeView {
            say: code.with(|code| format!("/link {code}")),
            to: bots.into_iter().map(LinkBotView::from).collect(),
            good_for: format!("{}m", LINK_CODE_LIFE.as_secs() / 60),
        })
    }

    /// Binds a person on a platform to their agent.
    pub async fn bind_person(
        &self,
        access: &Access,
        on: AgentOnBot,
        author: &str,
    ) -> Result<BindingView, OfficeError> {
        check_platform_id("a person", author)?;
        self.check_opens_bot(access, on).await?;
        self.desk.stops.register.store().bind(on, author).await?;
        Ok(binding_view(on, author))
    }

    /// Removes a binding.
    pub async fn unbind_person(
        &self,
        on: AgentOnBot,
        author: &str,
    ) -> Result<BindingView, OfficeError> {
        let store = self.desk.stops.register.store();
        let bound = store.reach_of(on.scope, on.agent).await?.people;
        if !bound.iter().any(|(bot, person)| (*bot, person.as_str()) == (on.bot, author)) {
            return Err(OfficeError::NotFound(format!(
                "{author} is not bound to that agent; `nightdesk agent reach` shows its people"
            )));
        }
        store.unbind(on, author).await?;
        Ok(binding_view(on, author))
    }

    /// Makes an agent the preferred one of a person where nothing else selects an agent.
    pub async fn prefer_agent(
        &self,
        on: AgentOnBot,
        author: &str,
    ) -> Result<BindingView, OfficeError> {
        check_platform_id("a person", author)?;
        if self.desk.stops.register.store().prefer(on, author).await? {
            return Ok(binding_view(on, author));
        }
        Err(OfficeError::NotFound(format!(
            "{author} is not bound to that agent; run `nightdesk binding create` first"
        )))
    }

    /// Grants a chat, a scope or a bot to an agent. The same grant again changes nothing.
    pub async fn grant_chat(
        &self,
        access: &Access,
        on: AgentOnBot,
        target: &GrantTarget,
        open_to: Principal,
    ) -> Result<ChatGrantView, OfficeError> {
        check_target(target)?;
        self.check_opens_bot(access, on).await?;
        let store = self.desk.stops.register.store();
        if store.grant(on, target, Some(open_to)).await? {
            return Ok(grant_view(on, target));
        }
        let grants = store.reach_of(on.scope, on.agent).await?.grants;
        let own = grants.iter().find(|(bot, granted, _)| (*bot, granted) == (on.bot, target));
        match own {
            Some((_, _, present)) if *present == open_to => Ok(grant_view(on, target)),
            Some((_, _, present)) => Err(OfficeError::Conflict(format!(
                "the agent has that grant, open to {}; remove it first, or change all its grants with \
                 `nightdesk agent reach --open-to`",
                present.slug()
            ))),
            None => Err(OfficeError::Conflict(format!(
                "chat {} is granted to another agent; remove that grant first",
                scope_and_chat(target).1
            ))),
        }
    }

    /// Removes a grant.
    pub async fn release_chat(
        &self,
        on: AgentOnBot,
        target: &GrantTarget,
    ) -> Result<ChatGrantView, OfficeError> {
        check_target(target)?;
        if self.desk.stops.register.store().release(on, target).await? {
            return Ok(grant_view(on, target));
        }
        Err(no_grant(target, "`nightdesk agent reach` shows its grants"))
    }

    /// Lets an agent change messages of other agents in a chat, or on a bot, that is granted to it.
    pub async fn allow_moderation(
        &self,
        access: &Access,
        on: AgentOnBot,
        target: &GrantTarget,
    ) -> Result<ChatGrantView, OfficeError> {
        check_target(target)?;
        if matches!(target, GrantTarget::Scope(_)) {
            return Err(OfficeError::Invalid(
                "a whole scope cannot be moderated; grant and name each chat, or the whole bot"
                    .to_owned(),
            ));
        }
        self.check_opens_bot(access, on).await?;
        if self.desk.stops.register.store().allow_moderation(on, target).await? {
            return Ok(grant_view(on, target));
        }
        Err(no_grant(target, "run `nightdesk grant create` first"))
    }

    /// Checks that the caller may open a bot to an agent. On a bot of another tenant only an operator may: a tenant
    /// could otherwise take over people and chats of that tenant. The bot's people link themselves with a code, and
    /// the agent claims the chats that they see.
    async fn check_opens_bot(&self, access: &Access, on: AgentOnBot) -> Result<(), OfficeError> {
        let store = self.desk.stops.register.store();
        let found = store.bot(on.bot).await?;
        let is_own = found.as_ref().is_some_and(|bot| bot.operator == on.scope.tenant());
        if is_own || (found.is_some() && access.allows(Place::Desk, Right::Operate)) {
            return Ok(());
        }
        let open = store.open_bots(on.scope).await?;
        Err(if open.iter().any(|bot| bot.id == on.bot) {
            OfficeError::NotAllowed(
                "another tenant runs the bot; link people with `nightdesk link create`, let the agent claim chats \
                 with /manage/scope, or ask an operator of the desk"
                    .to_owned(),
            )
        } else {
            unknown_bot()
        })
    }
}

/// Reads the people that an agent is open to.
pub fn read_principal(open_to: &str) -> Result<Principal, OfficeError> {
    Principal::from_slug(open_to).ok_or_else(|| {
        OfficeError::Invalid(format!(
            "an agent cannot be open to {open_to}; use owner-only, allow-list or any"
        ))
    })
}

fn no_grant(target: &GrantTarget, next: &str) -> OfficeError {
    let (_, chat) = scope_and_chat(target);
    OfficeError::NotFound(format!("the agent has no grant for chat {chat}; {next}"))
}

fn binding_view(on: AgentOnBot, author: &str) -> BindingView {
    BindingView { agent_id: on.agent, author: author.to_owned() }
}

fn grant_view(on: AgentOnBot, target: &GrantTarget) -> ChatGrantView {
    ChatGrantView { agent_id: on.agent, chat: scope_and_chat(target).1.to_owned() }
}

fn check_target(target: &GrantTarget) -> Result<(), OfficeError> {
    let (scope, chat) = scope_and_chat(target);
    scope.map_or(Ok(()), |scope| check_platform_id("a scope", scope))?;
    check_platform_id("a chat", chat)
}

/// Checks that a platform could have such an id.
fn check_platform_id(noun: &str, id: &str) -> Result<(), OfficeError> {
    let is_plain =
        (1..=PLATFORM_ID_BYTES_MAX).contains(&id.len()) && !id.chars().any(char::is_control);
    if is_plain {
        return Ok(());
    }
    Err(OfficeError::Invalid(format!(
        "the id of {noun} has 1 to {PLATFORM_ID_BYTES_MAX} bytes on one line; use the platform's id"
    )))
}
