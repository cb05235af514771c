//! The generation of the stock client that an agent runs, as far as the desk has seen it.

/// The rules for serving an agent's client. The desk learns them from the hello or from the first operation that only
/// one generation sends. A client newer than all known ones is served by the newest rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientRules {
    /// Hermes up to 0.19: without a declared policy it gets every message. Also the default for an unknown client.
    #[default]
    Hermes019,
    /// Hermes from 0.20 on: without a declared policy it must be addressed, and continues in threads it takes part in.
    Hermes020,
    /// An agent that uses the Nightdesk SDK.
    Sdk,
}

impl ClientRules {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Hermes019, Self::Hermes020, Self::Sdk];

    /// Returns the name in rows, on pages and in the list of proved clients.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Hermes019 => "hermes-0.19",
            Self::Hermes020 => "hermes-0.20",
            Self::Sdk => "nightdesk-sdk",
        }
    }

    /// Returns the rules with this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rules| rules.slug() == slug)
    }

    /// Returns true if an agent without a declared policy must be addressed in shared chats.
    pub const fn requires_address_by_default(self) -> bool {
        matches!(self, Self::Hermes020)
    }

    /// Returns true if an agent need not be addressed again in a thread that it takes part in.
    pub const fn continues_threads(self) -> bool {
        matches!(self, Self::Hermes020)
    }
}
