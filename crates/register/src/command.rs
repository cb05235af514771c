//! Records which agent registered which command in which scope.

use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::AgentOnBot;

/// The digest of a command as registered with a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandDigest([u8; 32]);

impl CommandDigest {
    /// Returns the digest of a command as it is written.
    pub fn from_bytes(written: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, written).as_ref());
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads a stored digest.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// A command name that an agent holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCommand {
    /// The scope of the bot's platform.
    pub scope_id: String,
    /// The command's name in that scope.
    pub name: String,
    /// The registered command and the platform's id for it. `None`: it is not registered yet.
    pub registered: Option<(CommandDigest, String)>,
}

/// Stores which agent holds which name in which scope.
#[async_trait]
pub trait CommandStore: Send + Sync {
    /// Returns the names that an agent holds on a bot.
    async fn commands_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
    ) -> Result<Vec<HeldCommand>, StoreError>;

    /// Gives an agent a name in a scope that was granted to it as a whole. Returns false if the scope was not granted
    /// or another agent holds the name.
    async fn claim_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<bool, StoreError>;

    /// Records what was registered with the platform for a command that the agent holds.
    async fn note_command(&self, on: AgentOnBot, command: &HeldCommand) -> Result<(), StoreError>;

    /// Releases a name.
    async fn drop_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<(), StoreError>;
}
