//! Commands: which agent made which known, and where.

use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::OnBot;

/// What a platform was told of a command, in a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandDigest([u8; 32]);

impl CommandDigest {
    /// The digest of a command as it is written.
    pub fn of(written: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, written).as_ref());
        Self(bytes)
    }

    /// The bytes, as the store keeps them.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// One that the store kept.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// A command an agent has a name for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCommand {
    /// In which scope of the bot's platform.
    pub scope_id: String,
    /// Its name there.
    pub name: String,
    /// What the platform was told, and what it calls that. `None`: nothing yet.
    pub told: Option<(CommandDigest, String)>,
}

/// Keeps who has which name where.
#[async_trait]
pub trait Commanding: Send + Sync {
    /// The names an agent has on a bot.
    async fn commands_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
    ) -> Result<Vec<HeldCommand>, StoreError>;

    /// Gives an agent a name in a scope that was granted to it as a whole. False: it was not, or another agent has
    /// the name.
    async fn claim_command(
        &self,
        on: OnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<bool, StoreError>;

    /// Notes what the platform was told of a command that the agent has.
    async fn note_command(&self, on: OnBot, command: &HeldCommand) -> Result<(), StoreError>;

    /// Gives a name back.
    async fn drop_command(&self, on: OnBot, scope_id: &str, name: &str) -> Result<(), StoreError>;
}
