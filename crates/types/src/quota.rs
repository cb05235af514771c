//! Quotas of a tenant.

use crate::limits::{
    AGENT_JOBS_QUOTA, AGENT_PROMPTS_QUOTA, AGENT_SENDS_QUOTA, AGENTS_QUOTA, ARMED_JOBS_QUOTA,
    DATA_ENTRIES_QUOTA, GATEWAYS_QUOTA, GRANTS_QUOTA, INBOX_BYTES_MAX, INBOX_ENTRIES_MAX,
    PARKED_BYTES_QUOTA, PARKED_ENTRIES_QUOTA, SHELF_BYTES_QUOTA, SKILLS_QUOTA,
};

/// A resource with a limit per tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quota {
    /// The number of agents.
    Agents,
    /// Chats, scopes and bots granted to the tenant's agents.
    Grants,
    /// Entries that wait for one agent; further entries are parked.
    PendingEntries,
    /// Bytes of entries that wait for one agent; further entries are parked.
    PendingBytes,
    /// Armed jobs.
    ArmedJobs,
    /// Armed jobs of one agent.
    AgentJobs,
    /// Skills.
    Skills,
    /// Data entries.
    DataEntries,
    /// Bytes of data and of skills, including every stored revision.
    ShelfBytes,
    /// Gateways, also the revoked ones.
    Gateways,
    /// Stored sends of one agent.
    AgentSends,
    /// Stored prompts of one agent.
    AgentPrompts,
    /// Parked entries of one agent.
    ParkedEntries,
    /// Bytes of parked entries of one agent.
    ParkedBytes,
}

crate::slugs! {
    Quota:
    Agents = "agents",
    Grants = "grants",
    PendingEntries = "pending-entries",
    PendingBytes = "pending-bytes",
    ArmedJobs = "armed-jobs",
    AgentJobs = "agent-jobs",
    Skills = "skills",
    DataEntries = "data-entries",
    ShelfBytes = "shelf-bytes",
    Gateways = "gateways",
    AgentSends = "agent-sends",
    AgentPrompts = "agent-prompts",
    ParkedEntries = "parked-entries",
    ParkedBytes = "parked-bytes",
}

impl Quota {
    /// Returns the limit of a tenant for which no limit is set.
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
            Self::Gateways => GATEWAYS_QUOTA,
            Self::AgentSends => AGENT_SENDS_QUOTA,
            Self::AgentPrompts => AGENT_PROMPTS_QUOTA,
            Self::ParkedEntries => PARKED_ENTRIES_QUOTA,
            Self::ParkedBytes => PARKED_BYTES_QUOTA,
        }
    }
}

/// The tenant has reached a quota. It is the source of a [`StoreError`](crate::StoreError).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tenant has reached its quota of {}, {allowed}; remove one, or have it raised with \
     `nightdesk tenant quota --tenant NAME {}={}`",
    quota.slug(), quota.slug(), allowed.saturating_mul(2).max(1)
)]
pub struct OverQuota {
    /// The quota.
    pub quota: Quota,
    /// Its limit.
    pub allowed: i64,
}
