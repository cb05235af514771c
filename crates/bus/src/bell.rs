//! Bell: what can be rung, and for whom.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, GatewayId, Generation, RequestId, Seq};
use serde::{Deserialize, Serialize};

/// What the bell says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
    /// A send waits for the node that calls the platform for a bot.
    Asked {
        /// That node.
        node: String,
        /// The bot.
        bot: BotId,
    },
    /// A send that was asked for on a node is settled.
    Settled {
        /// That node.
        node: String,
        /// Whose send.
        agent: AgentId,
        /// What its gateway called it.
        request: RequestId,
    },
}

/// Who is to hear something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// Every node.
    All,
    /// One node.
    Node(String),
    /// Whoever holds the agent's line.
    Agent(AgentId),
    /// Whoever shows the chat to somebody.
    Chat(BotId, String),
}

impl Ring {
    /// Who is to hear it.
    pub fn address(&self) -> Address {
        match self {
            Self::Entry { agent, .. } | Self::Replaced { agent, .. } | Self::Stop { agent, .. } => {
                Address::Agent(*agent)
            }
            Self::Revoked { .. } => Address::All,
            Self::Chat { bot, chat } => Address::Chat(*bot, chat.clone()),
            Self::Asked { node, .. } | Self::Settled { node, .. } => Address::Node(node.clone()),
        }
    }
}

/// Rings for whoever holds a line.
#[async_trait]
pub trait Bell: Send + Sync {
    /// Rings. It answers whether anybody heard, as far as it can tell; nothing but an honest
    /// word to a person may depend on that.
    async fn ring(&self, ring: Ring) -> bool;
}
