//! The record of a file: the agents that may read it, and its location.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::{ContentKey, MediaId};

/// An agent with its tenant.
pub type ScopedAgent = (TenantScope, AgentId);

/// A file's record, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRecord {
    /// The media type, if known.
    pub mime: Option<String>,
    /// The file's name.
    pub filename: Option<String>,
    /// The file's size.
    pub size: Option<u64>,
    /// The location of its bytes.
    pub location: MediaLocation,
}

/// The location of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaLocation {
    /// In the desk's store.
    Here {
        /// The key that seals it there.
        key: ContentKey,
    },
    /// On a platform.
    There {
        /// The bot whose key gives access to it.
        bot: BotId,
        /// The platform's reference to it.
        reference: String,
    },
}

/// Stores the agents' permissions for files.
#[async_trait]
pub trait Store: Send + Sync {
    /// Permits an agent to read files, for the given time.
    async fn permit_read(
        &self,
        scope: TenantScope,
        agent: AgentId,
        files: &[(MediaId, MediaRecord)],
        good_for: Duration,
    ) -> Result<(), StoreError>;

    /// Returns a file's record, if exactly this agent may read it and it has not expired.
    async fn find_record(
        &self,
        scope: TenantScope,
        agent: AgentId,
        id: MediaId,
    ) -> Result<Option<MediaRecord>, StoreError>;
}
