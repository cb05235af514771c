//! Bell: what can be rung.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, GatewayId, Generation, Seq};

/// What the bell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ring {
    /// An inbox has an entry of this number.
    Entry {
        /// Whose.
        agent: AgentId,
        /// The number.
        seq: Seq,
    },
    /// A newer line speaks for the agent.
    Replaced {
        /// Which agent.
        agent: AgentId,
        /// The newer line's number.
        by: Generation,
    },
    /// A turn is to be stopped.
    Stop {
        /// Whose.
        agent: AgentId,
        /// The session, by the name its gateway gave it.
        session_key: String,
        /// The chat it is held in.
        chat_id: String,
    },
    /// A gateway was revoked.
    Revoked {
        /// Which one.
        gateway: GatewayId,
    },
    /// Something changed in a chat that people look at through us.
    Chat {
        /// Whose chat.
        bot: BotId,
        /// Which one.
        chat: String,
    },
}

/// Rings for whoever holds a line.
#[async_trait]
pub trait Bell: Send + Sync {
    /// Rings. It answers whether anybody heard, as far as it can tell; nothing but an honest
    /// word to a person may depend on that.
    async fn ring(&self, ring: Ring) -> bool;
}
