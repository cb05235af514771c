//! The hints that the bell carries, and their addresses.

use std::fmt;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, GatewayId, Generation, RequestId, Seq, StopId, StopOutcome, StopReceiver,
};
use serde::{Deserialize, Serialize};

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ring {
    /// An inbox has an entry with this number.
    Entry {
        /// The agent that owns the inbox.
        agent: AgentId,
        /// The number.
        seq: Seq,
    },
    /// A newer line took over the agent.
    Replaced {
        /// The agent.
        agent: AgentId,
        /// The newer line's number.
        by: Generation,
    },
    /// A turn must stop.
    Stop {
        /// The agent.
        agent: AgentId,
        /// The session's key as its gateway named it.
        session_key: String,
        /// The chat of the session.
        chat_id: String,
        /// The receiver of the result, if one waits for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report_to: Option<StopReceiver>,
    },
    /// The result of a stop that another node requested.
    StopReported {
        /// The node that requested it.
        node: String,
        /// The stop.
        stop_id: StopId,
        /// The result.
        outcome: StopOutcome,
    },
    /// A gateway was revoked.
    Revoked {
        /// The gateway.
        gateway: GatewayId,
    },
    /// A chat on the desk's own page changed.
    Chat {
        /// The bot of the chat.
        bot: BotId,
        /// The chat.
        chat: String,
    },
    /// A send waits for the node that owns its bot.
    Asked {
        /// The owner.
        node: String,
        /// The bot.
        bot: BotId,
    },
    /// A send that another node requested is settled.
    Settled {
        /// The node that got the request.
        node: String,
        /// The agent of the send.
        agent: AgentId,
        /// The gateway's id of the request.
        request: RequestId,
    },
}

/// The recipients of a hint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BellAddress {
    /// Every node.
    All,
    /// One node.
    Node(String),
    /// The node that holds the agent's line.
    Agent(AgentId),
    /// The nodes that show the chat to people.
    Chat(BotId, String),
}

impl Ring {
    /// Returns the recipients.
    pub fn address(&self) -> BellAddress {
        match self {
            Self::Entry { agent, .. } | Self::Replaced { agent, .. } | Self::Stop { agent, .. } => {
                BellAddress::Agent(*agent)
            }
            Self::Revoked { .. } => BellAddress::All,
            Self::Chat { bot, chat } => BellAddress::Chat(*bot, chat.clone()),
            Self::Asked { node, .. }
            | Self::Settled { node, .. }
            | Self::StopReported { node, .. } => BellAddress::Node(node.clone()),
        }
    }
}

/// Sends hints to the nodes that hold lines.
#[async_trait]
pub trait Bell: fmt::Debug + Send + Sync {
    /// Rings. Returns true if a recipient got the hint, as far as it is known. Only a message to a person may depend on
    /// that.
    async fn ring(&self, ring: Ring) -> bool;
}
