//! Quota: how much a tenant may have.

use crate::limits::{
    AGENT_JOBS_QUOTA, AGENTS_QUOTA, ARMED_JOBS_QUOTA, DATA_ENTRIES_QUOTA, GRANTS_QUOTA,
    INBOX_BYTES_MAX, INBOX_ENTRIES_MAX, SHELF_BYTES_QUOTA, SKILLS_QUOTA,
};

/// Something a tenant may only have so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quota {
    /// Agents.
    Agents,
    /// Chats, scopes and bots granted to its agents.
    Grants,
    /// Entries that wait for one agent; more are parked.
    PendingEntries,
    /// Bytes of entries that wait for one agent; more are parked.
    PendingBytes,
    /// Jobs that are armed.
    ArmedJobs,
    /// Jobs of one agent that are armed.
    AgentJobs,
    /// Skills.
    Skills,
    /// Entries of data.
    DataEntries,
    /// Bytes of skills, every kept revision counted, and of data.
    ShelfBytes,
}

impl Quota {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Agents,
        Self::Grants,
        Self::PendingEntries,
        Self::PendingBytes,
        Self::ArmedJobs,
        Self::AgentJobs,
        Self::Skills,
        Self::DataEntries,
        Self::ShelfBytes,
    ];

    /// Its name in rows and commands.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Grants => "grants",
            Self::PendingEntries => "pending-entries",
            Self::PendingBytes => "pending-bytes",
            Self::ArmedJobs => "armed-jobs",
            Self::AgentJobs => "agent-jobs",
            Self::Skills => "skills",
            Self::DataEntries => "data-entries",
            Self::ShelfBytes => "shelf-bytes",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quota| quota.slug() == slug)
    }

    /// What a tenant has that nobody set anything for.
    pub const fn default_allowed(self) -> i64 {
        match self {
            Self::Agents => AGENTS_QUOTA,
            Self::Grants => GRANTS_QUOTA,
            Self::PendingEntries => INBOX_ENTRIES_MAX,
            Self::PendingBytes => INBOX_BYTES_MAX,
            Self::ArmedJobs => ARMED_JOBS_QUOTA,
            Self::AgentJobs => AGENT_JOBS_QUOTA,
            Self::Skills => SKILLS_QUOTA,
            Self::DataEntries => DATA_ENTRIES_QUOTA,
            Self::ShelfBytes => SHELF_BYTES_QUOTA,
        }
    }
}

/// A tenant has all that it may have. It is what a [`StoreError`](crate::StoreError) comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tenant has all the {} it may have, {allowed}; give one up, or have it raised with \
     `nightdesk tenant quota --tenant NAME {}={}`",
    quota.slug(), quota.slug(), allowed.saturating_mul(2).max(1)
)]
pub struct OverQuota {
    /// Of what.
    pub quota: Quota,
    /// How much that is.
    pub allowed: i64,
}
