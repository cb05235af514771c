//! An agent's reach, as callers see it.

use nightdesk_register::{AgentReach, OpenBot};
use nightdesk_types::reach::EVERY_CHAT;
use nightdesk_types::{AgentId, BotId, GrantTarget, Principal};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent's reach.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentReachView {
    /// The people that the agent is open to in later grants: `owner-only`, `allow-list` or `any`.
    pub open_to: &'static str,
    /// The people bound to the agent.
    pub people: Vec<PersonView>,
    /// The chats and scopes that are granted to the agent.
    pub granted: Vec<GrantView>,
    /// Further people that may reach the agent where it is open to them.
    pub allow_list: Vec<PersonView>,
    /// The platforms on which the agent declared the messages that concern it.
    pub policies: Vec<String>,
}

/// A person on a platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PersonView {
    /// The person, by the platform's id.
    pub author: String,
    /// The bot of that platform.
    #[schema(value_type = String)]
    pub bot_id: BotId,
}

/// A chat or a scope that is granted to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GrantView {
    /// The bot in the chat.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The chat's guild, workspace or server.
    pub scope: Option<String>,
    /// The chat; `*` for every chat of the scope, or of the bot if there is no scope.
    pub chat: String,
    /// The people that reach the agent there: `owner-only`, `allow-list` or `any`.
    pub open_to: &'static str,
}

impl From<AgentReach> for AgentReachView {
    fn from(reach: AgentReach) -> Self {
        let AgentReach { principal, people, grants, listed, relevance } = reach;
        let person = |(bot_id, author)| PersonView { author, bot_id };
        let grant = |(bot_id, target, open_to): (BotId, GrantTarget, Principal)| {
            let (scope, chat) = scope_and_chat(&target);
            let (scope, chat) = (scope.map(str::to_owned), chat.to_owned());
            GrantView { bot_id, scope, chat, open_to: open_to.slug() }
        };
        Self {
            open_to: principal.slug(),
            people: people.into_iter().map(person).collect(),
            granted: grants.into_iter().map(grant).collect(),
            allow_list: listed.into_iter().map(person).collect(),
            policies: relevance.into_iter().map(|(platform, _)| platform).collect(),
        }
    }
}

/// A code by which a person links themselves to an agent: it is shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LinkCodeView {
    /// The message that the person sends.
    pub say: String,
    /// The bots that accept it.
    pub to: Vec<LinkBotView>,
    /// The time that it is valid: `10m`.
    pub good_for: String,
}

/// A bot on which agents may be linked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LinkBotView {
    /// Its id.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// Its platform's name.
    pub platform: String,
    /// Its handle on the platform.
    pub handle: String,
    /// True if the tenant runs it.
    pub own: bool,
}

impl From<OpenBot> for LinkBotView {
    fn from(bot: OpenBot) -> Self {
        let OpenBot { id, platform, handle, is_own } = bot;
        Self { bot_id: id, platform, handle, own: is_own }
    }
}

/// A binding that a request is about.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BindingView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The person, by the platform's id.
    pub author: String,
}

/// A grant that a request is about.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChatGrantView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The chat.
    pub chat: String,
}

/// Returns the scope and the chat of a grant, as a request names them.
pub(super) fn scope_and_chat(target: &GrantTarget) -> (Option<&str>, &str) {
    match target {
        GrantTarget::Chat { chat, scope } => (scope.as_deref(), chat),
        GrantTarget::Scope(scope) => (Some(scope), EVERY_CHAT),
        GrantTarget::Bot => (None, EVERY_CHAT),
    }
}
