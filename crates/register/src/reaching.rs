//! Stores who may reach an agent.

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, ClientRules, GrantTarget, Principal, Relevance, StoreError, TenantScope,
};

/// An agent on a bot, with its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentOnBot {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The bot.
    pub bot: BotId,
}

/// Stores who may reach an agent. A change invalidates earlier admissions.
#[async_trait]
pub trait Reaching: Send + Sync {
    /// Binds a person on a platform to their agent.
    async fn bind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError>;

    /// Removes a binding.
    async fn unbind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError>;

    /// Makes an agent a person's preferred agent where nothing else selects one. Returns true if the person is bound to
    /// it.
    async fn prefer(&self, on: AgentOnBot, author: &str) -> Result<bool, StoreError>;

    /// Grants a chat, a scope or a bot to an agent. Without a principal the agent's own applies. Returns true if it was
    /// free.
    async fn grant(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
        principal: Option<Principal>,
    ) -> Result<bool, StoreError>;

    /// Lets an agent change messages of others in a chat, or on a bot, that is granted to it, until the grant is
    /// released. Returns true if the agent has the grant.
    async fn allow_moderation(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
    ) -> Result<bool, StoreError>;

    /// Releases a grant. Returns true if the agent had it.
    async fn release(&self, on: AgentOnBot, granted: &GrantTarget) -> Result<bool, StoreError>;

    /// Sets the principal of an agent's existing and future grants.
    async fn open_to(
        &self,
        scope: TenantScope,
        agent: AgentId,
        principal: Principal,
    ) -> Result<(), StoreError>;

    /// Replaces an agent's list of further people who may reach it.
    async fn list(&self, on: AgentOnBot, authors: &[String]) -> Result<(), StoreError>;

    /// Records the rules by which an agent's client is served from now on.
    async fn follow_rules(
        &self,
        scope: TenantScope,
        agent: AgentId,
        rules: ClientRules,
    ) -> Result<(), StoreError>;

    /// Replaces an agent's relevance rules on a platform.
    async fn declare(
        &self,
        scope: TenantScope,
        agent: AgentId,
        platform: &str,
        relevance: &Relevance,
    ) -> Result<(), StoreError>;
}
