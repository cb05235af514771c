//! The port that finds a bot's account, and the capabilities and files that sends refer to.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_port::{Bot, Deliver, File, PlatformCapabilities};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use nightdesk_vault::Key;
use tokio::time::Instant;

/// A bot, its adapter and its capabilities.
#[derive(Clone)]
pub struct Account {
    /// The bot with its key.
    pub bot: Arc<Bot>,
    /// Its adapter.
    pub platform: Arc<dyn Deliver>,
    /// Its operations, length limits and rate limits.
    pub capabilities: PlatformCapabilities,
}

/// Finds accounts.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Returns the account of a bot. `None`: the bot does not exist any more.
    async fn find_account(&self, bot: BotId) -> Result<Option<Account>, StoreError>;

    /// Returns the capability that a platform lent for one session of the agent that requested a send. `None`: none is
    /// bound for that session, or it has expired.
    async fn find_capability(
        &self,
        _asked: &CapabilityRequest<'_>,
    ) -> Result<Option<Key>, StoreError> {
        Ok(None)
    }

    /// Returns the file that an agent's send refers to, when there is memory for it. `None`: the desk does not hold it.
    async fn find_file(&self, _asked: &FileRequest<'_>) -> Result<Option<File>, FileError> {
        Ok(None)
    }
}

/// The capability that a send requests.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityRequest<'a> {
    /// The tenant of the send.
    pub scope: TenantScope,
    /// The agent that requested it.
    pub agent: AgentId,
    /// The bot that the send goes through.
    pub bot: BotId,
    /// The destination chat.
    pub chat: &'a str,
    /// The client's key of the session.
    pub session_key: &'a str,
    /// The kind of capability.
    pub kind: &'a str,
}

/// The file that a send refers to.
#[derive(Clone, Copy, Debug)]
pub struct FileRequest<'a> {
    /// The tenant of the send.
    pub scope: TenantScope,
    /// The agent that requested it.
    pub agent: AgentId,
    /// The URL of the file.
    pub url: &'a str,
    /// The deadline of the send.
    pub until: Instant,
}

/// The reason why there is no file to send.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file does not belong to the agent, or has expired.
    #[error("media absent or expired")]
    Gone,
    /// Too many files are on their way.
    #[error("too many files are on their way")]
    Busy,
    /// The file may be readable later.
    #[error("the file could not be read")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}
