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

crate::slugs! {
    ClientRules:
    Hermes019 = "hermes-0.19",
    Hermes020 = "hermes-0.20",
    Sdk = "nightdesk-sdk",
}

impl ClientRules {
    /// Returns true if an agent without a declared policy must be addressed in shared chats.
    pub const fn requires_address_by_default(self) -> bool {
        matches!(self, Self::Hermes020)
    }

    /// Returns true if an agent need not be addressed again in a thread that it takes part in.
    pub const fn continues_threads(self) -> bool {
        matches!(self, Self::Hermes020)
    }
}
