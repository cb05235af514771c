//! The store interface of the gate.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope, Timestamp};

use crate::bot_reach::{ReachChange, ScopedAgent};
use crate::{Reach, Refusal};

/// One refusal as stored for `explain`. It contains no text of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalNote {
    /// The tenant in whose ring it is stored: the bot's operator if no other tenant is known.
    pub scope: TenantScope,
    /// The bot that received the event.
    pub bot: BotId,
    /// The platform's key of the event.
    pub event_key: String,
    /// The agent that came closest.
    pub agent: Option<AgentId>,
    /// The refusal.
    pub refusal: Refusal,
}

/// A stored refusal and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRefusal {
    /// The time when it was stored.
    pub at: Timestamp,
    /// The refusal.
    pub note: RefusalNote,
}

/// A prompt with buttons, on a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BotPrompt<'a> {
    /// The bot that showed it.
    pub bot: BotId,
    /// The client's id of the prompt.
    pub id: &'a str,
}

/// A message or a thread that a bot made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BotMessage {
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat: String,
    /// The platform's id of the message or thread.
    pub id: String,
}

/// The store of reach and prompts.
#[async_trait]
pub trait Store: Send + Sync {
    /// Returns the changes of a bot's reach since a version, over all tenants. Without a version, or if it is too old,
    /// returns the complete reach.
    async fn read_changes(&self, bot: BotId, since: Option<i64>)
    -> Result<ReachChange, StoreError>;

    /// Returns those of these bots that changed since their version.
    async fn changed_bots(&self, bots: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError>;

    /// Returns the bots through which an agent may write to a chat: because the chat was granted to it, or has the id
    /// of a person bound to it, or because an entry came from there in the last 30 days and the agent still has a
    /// binding or grant on that bot.
    async fn find_reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError>;

    /// Returns true if an agent has received an entry in a chat through a bot in the last 30 days.
    async fn takes_part(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
        chat: &str,
    ) -> Result<bool, StoreError>;

    /// Records that an agent shows a prompt on a bot. Returns false if a prompt of another agent has this id there.
    async fn record_prompt(
        &self,
        scope: TenantScope,
        agent: AgentId,
        prompt: BotPrompt<'_>,
    ) -> Result<bool, StoreError>;

    /// Returns the agent that showed a prompt, over all tenants.
    async fn find_prompt_agent(
        &self,
        prompt: BotPrompt<'_>,
    ) -> Result<Option<ScopedAgent>, StoreError>;

    /// Returns the agent whose send made a message or a thread, over all tenants. It is known as long as the send is
    /// stored.
    async fn find_message_sender(
        &self,
        message: &BotMessage,
    ) -> Result<Option<ScopedAgent>, StoreError>;

    /// Returns the stored refusals of an event in a tenant's ring, newest first.
    async fn read_refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError>;

    /// Writes refusals into their tenants' rings and removes the oldest.
    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError>;
}
