//! What is written down of a file: who may have it, and where it lies.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::MediaId;

/// An agent, and whose it is.
pub type Agent = (TenantScope, AgentId);

/// A file, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What it is, as far as anybody said.
    pub mime: Option<String>,
    /// What it is called.
    pub filename: Option<String>,
    /// How large it is.
    pub size: Option<u64>,
    /// Where its bytes are.
    pub lies: Lies,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lies {
    /// With the desk.
    Here,
    /// With a platform.
    There {
        /// The bot whose key leads to it.
        bot: BotId,
        /// What the platform calls it.
        reference: String,
    },
}

/// Remembers who may have which file.
#[async_trait]
pub trait Store: Send + Sync {
    /// Lets an agent have files, for so long.
    async fn keep(
        &self,
        agent: Agent,
        files: &[(MediaId, Kept)],
        good_for: Duration,
    ) -> Result<(), StoreError>;

    /// A file, if this very agent may have it and its time is not over.
    async fn find(&self, agent: Agent, id: MediaId) -> Result<Option<Kept>, StoreError>;
}
