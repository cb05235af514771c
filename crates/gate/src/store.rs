//! What the gate asks of a store.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope, Timestamp};

use crate::known::{Agent, Change};
use crate::{Reach, Refusal};

/// One refusal, as it is kept for `explain`. It holds no text of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalNote {
    /// In whose ring it is kept: the bot's operator, when no other tenant is known.
    pub scope: TenantScope,
    /// The bot that heard it.
    pub bot: BotId,
    /// The platform's key of the event.
    pub event_key: String,
    /// The agent that came closest.
    pub agent: Option<AgentId>,
    /// Which layer said no.
    pub refusal: Refusal,
}

/// A refusal that is kept, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRefusal {
    /// When it was written down.
    pub at: Timestamp,
    /// What was refused.
    pub note: RefusalNote,
}

/// A question with buttons, on a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prompt<'a> {
    /// The bot that showed it.
    pub bot: BotId,
    /// What its client calls it.
    pub id: &'a str,
}

/// What is known about who may reach whom.
#[async_trait]
pub trait Store: Send + Sync {
    /// What changed since a version about who may be reached through a bot, over all tenants; or
    /// everything, without a version or when it is too old.
    async fn changes(&self, bot: BotId, since: Option<i64>) -> Result<Change, StoreError>;

    /// Of these bots, the ones of which something changed since.
    async fn changed(&self, bots: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError>;

    /// Through which bots an agent may write to a chat: because the chat was granted to it, or
    /// has the id of a person bound to it, or because an entry came from there in the last 30
    /// days and the agent still is bound or granted something on that bot.
    async fn reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError>;

    /// Whether an agent has received something in a chat through a bot in the last 30 days.
    async fn takes_part(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
        chat: &str,
    ) -> Result<bool, StoreError>;

    /// Notes that an agent asks something with buttons on a bot. False: a prompt of another agent is
    /// called so there.
    async fn ask(
        &self,
        scope: TenantScope,
        agent: AgentId,
        prompt: Prompt<'_>,
    ) -> Result<bool, StoreError>;

    /// Which agent asked, over all tenants.
    async fn asker(&self, prompt: Prompt<'_>) -> Result<Option<Agent>, StoreError>;

    /// The refusals that are kept of an event in a tenant's ring, newest first.
    async fn refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<KeptRefusal>, StoreError>;

    /// Writes refusals into their tenants' rings; the oldest fall out.
    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError>;
}
