//! Reaching: who may reach an agent, as it is written down.

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, ClientRules, Granted, Principal, Relevance, StoreError, TenantScope,
};

/// An agent on a bot, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnBot {
    /// Whose.
    pub scope: TenantScope,
    /// Which agent.
    pub agent: AgentId,
    /// On which bot.
    pub bot: BotId,
}

/// Writes down who may reach an agent. Admits decided before a change do not count any more.
#[async_trait]
pub trait Reaching: Send + Sync {
    /// Binds a person on a platform to their agent.
    async fn bind(&self, on: OnBot, author: &str) -> Result<(), StoreError>;

    /// Takes a binding back.
    async fn unbind(&self, on: OnBot, author: &str) -> Result<(), StoreError>;

    /// Makes an agent a person's where nothing else says which of theirs. Answers whether they are
    /// bound to it.
    async fn prefer(&self, on: OnBot, author: &str) -> Result<bool, StoreError>;

    /// Gives a chat, a scope or a bot to an agent. Without a principal the agent's own counts.
    /// Answers whether it was free.
    async fn grant(
        &self,
        on: OnBot,
        granted: &Granted,
        principal: Option<Principal>,
    ) -> Result<bool, StoreError>;

    /// Takes a grant back. Answers whether the agent had it.
    async fn release(&self, on: OnBot, granted: &Granted) -> Result<bool, StoreError>;

    /// Says who may reach an agent wherever it was granted something, and will be.
    async fn open_to(
        &self,
        scope: TenantScope,
        agent: AgentId,
        principal: Principal,
    ) -> Result<(), StoreError>;

    /// Replaces an agent's list of who else may reach it.
    async fn list(&self, on: OnBot, authors: &[String]) -> Result<(), StoreError>;

    /// Notes by which rules an agent's client is served from now on.
    async fn follow_rules(
        &self,
        scope: TenantScope,
        agent: AgentId,
        rules: ClientRules,
    ) -> Result<(), StoreError>;

    /// Replaces what concerns an agent on a platform.
    async fn declare(
        &self,
        scope: TenantScope,
        agent: AgentId,
        platform: &str,
        relevance: &Relevance,
    ) -> Result<(), StoreError>;
}
