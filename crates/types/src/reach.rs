//! Reach: the words for who may reach an agent, and where.

use crate::ClientRules;

/// What can be granted to an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Granted {
    /// A chat, in the scope it was claimed in.
    Chat {
        /// The chat.
        chat: String,
        /// Its scope, where the platform has scopes.
        scope: Option<String>,
    },
    /// Everything in a scope: a guild, a workspace, a server.
    Scope(String),
    /// Every chat of the bot.
    Bot,
}

/// In words, everything of a scope or a bot.
pub const EVERY_CHAT: &str = "*";

impl Granted {
    /// A chat of a scope in words; [`EVERY_CHAT`] is all of the scope, or without one of the bot.
    pub fn of(scope: Option<&str>, chat: &str) -> Self {
        match scope {
            Some(scope) if chat == EVERY_CHAT => Self::Scope(scope.to_owned()),
            None if chat == EVERY_CHAT => Self::Bot,
            scope => Self::Chat { chat: chat.to_owned(), scope: scope.map(str::to_owned) },
        }
    }
}

/// Who may reach an agent where it was granted something, the fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Principal {
    /// Only people bound to it.
    OwnerOnly,
    /// They, and who is on its list.
    AllowList,
    /// Anyone.
    Any,
}

impl Principal {
    /// Its name in rows, requests and commands.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::OwnerOnly => "owner-only",
            Self::AllowList => "allow-list",
            Self::Any => "any",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        [Self::OwnerOnly, Self::AllowList, Self::Any].into_iter().find(|one| one.slug() == slug)
    }
}

/// What concerns an agent, of what others write where it may be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relevance {
    /// Only what is said to the bot.
    pub require_address: bool,
    /// The chats, channels or scopes where that is waived.
    pub free_scopes: Vec<String>,
    /// Also what other programs write.
    pub allow_other_bots: bool,
    /// In a thread that the agent takes part in, nobody needs to address it again.
    pub continues_threads: bool,
}

impl Relevance {
    /// The policy an agent is served by: the one it declared, or else the one its client expects.
    pub fn served(declared: Option<Self>, rules: ClientRules) -> Self {
        let default =
            || Self { require_address: rules.requires_address_by_default(), ..Self::default() };
        Self { continues_threads: rules.continues_threads(), ..declared.unwrap_or_else(default) }
    }
}

/// Whether somebody can see a place on its platform, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// They can.
    Sees,
    /// The platform has not told yet. That is no yes.
    Unknown,
    /// They cannot.
    Blind,
}
