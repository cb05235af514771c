//! Links a person to an agent by a code.
//!
//! A person who manages an agent gets a code for it. The person who sends the code to a bot in a direct message is
//! bound to the agent, by the id that the platform vouches for. A code is valid once and for a short time, and only its
//! digest is stored.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::enrolment::Digest;

/// The result of a code that a person sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedeemResult {
    /// The person is bound to this agent.
    Linked {
        /// The agent's tenant.
        scope: TenantScope,
        /// The agent.
        agent: AgentId,
        /// The agent's name.
        name: String,
    },
    /// The code does not exist.
    Unknown,
    /// The code expired.
    Expired,
    /// Another person used the code before.
    Used,
    /// The bot belongs to another tenant and is not shared.
    NotHere,
    /// The person tried too often; the code was not checked.
    TooMany,
}

/// Stores link codes.
#[async_trait]
pub trait Linking: Send + Sync {
    /// Stores a code for an agent. Returns false if the agent had too many within the hour.
    async fn enter_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
        code: &Digest,
    ) -> Result<bool, StoreError>;

    /// Binds the author who sent a code to a bot. The same author may send it again.
    async fn redeem(
        &self,
        bot: BotId,
        author: &str,
        code: &Digest,
    ) -> Result<RedeemResult, StoreError>;

    /// Sets if agents of other tenants may be linked on a bot of the tenant. Returns true if the tenant has that bot.
    async fn share(&self, scope: TenantScope, bot: BotId, shared: bool)
    -> Result<bool, StoreError>;
}
