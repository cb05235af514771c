//! Client rules: which generation of the stock client an agent runs, as far as the desk has seen.

/// The rules an agent's client is served by. The desk learns them from the hello or from the first operation that only one
/// generation sends; a client newer than all known ones is served by the newest rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientRules {
    /// Hermes up to 0.19: without a declared policy it wants everything that people write. Also a client that has shown no
    /// sign of being another.
    #[default]
    Hermes019,
    /// Hermes from 0.20 on: without a declared policy it wants to be addressed, and goes on in threads it takes part in.
    Hermes020,
    /// An agent that is built on our SDK.
    Sdk,
}

impl ClientRules {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Hermes019, Self::Hermes020, Self::Sdk];

    /// The name in rows, on pages and in the list of proved clients.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Hermes019 => "hermes-0.19",
            Self::Hermes020 => "hermes-0.20",
            Self::Sdk => "nightdesk-sdk",
        }
    }

    /// The rules of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rules| rules.slug() == slug)
    }

    /// Whether an agent that declared no policy wants to be addressed where others write.
    pub const fn requires_address_by_default(self) -> bool {
        matches!(self, Self::Hermes020)
    }

    /// Whether an agent need not be addressed again in a thread that it takes part in.
    pub const fn continues_threads(self) -> bool {
        matches!(self, Self::Hermes020)
    }
}
