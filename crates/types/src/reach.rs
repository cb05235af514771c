//! Types that describe which people may reach an agent, and where.

use crate::ClientRules;

/// A place that can be granted to an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantTarget {
    /// A chat, in the scope it was claimed in.
    Chat {
        /// The chat.
        chat: String,
        /// Its scope, where the platform has scopes.
        scope: Option<String>,
    },
    /// Every chat in a scope: a guild, a workspace, a server.
    Scope(String),
    /// Every chat of the bot.
    Bot,
}

/// The text that stands for every chat of a scope or a bot.
pub const EVERY_CHAT: &str = "*";

impl GrantTarget {
    /// Returns the grant for a chat of a scope. [`EVERY_CHAT`] means the whole scope, or the whole bot without a scope.
    pub fn for_chat(scope: Option<&str>, chat: &str) -> Self {
        match scope {
            Some(scope) if chat == EVERY_CHAT => Self::Scope(scope.to_owned()),
            None if chat == EVERY_CHAT => Self::Bot,
            scope => Self::Chat { chat: chat.to_owned(), scope: scope.map(str::to_owned) },
        }
    }
}

/// The people who may reach an agent in a granted place, the smallest group first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Principal {
    /// Only people bound to the agent.
    OwnerOnly,
    /// People bound to the agent and people on its allow list.
    AllowList,
    /// Any person.
    Any,
}

crate::slugs! {
    Principal:
    OwnerOnly = "owner-only",
    AllowList = "allow-list",
    Any = "any",
}

/// The messages of a granted place that an agent gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relevance {
    /// Only messages that address the bot.
    pub require_address: bool,
    /// The chats, channels or scopes in which the agent need not be addressed.
    pub free_scopes: Vec<String>,
    /// Also messages of other programs.
    pub allow_other_bots: bool,
    /// The agent need not be addressed again in a thread that it takes part in.
    pub continues_threads: bool,
}

impl Relevance {
    /// Returns the policy for an agent: the declared one, or else the default of its client.
    pub fn for_client(declared: Option<Self>, rules: ClientRules) -> Self {
        let default =
            || Self { require_address: rules.requires_address_by_default(), ..Self::default() };
        Self { continues_threads: rules.continues_threads(), ..declared.unwrap_or_else(default) }
    }
}

/// A person's visibility of a place on its platform, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// The person can see it.
    Sees,
    /// The platform has not answered yet. It does not count as visible.
    Unknown,
    /// The person cannot see it.
    Blind,
}
