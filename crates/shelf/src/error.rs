//! What a store could not do, in the words of the contract.

use nightdesk_types::StoreError;

use crate::capability::ConnectorType;

/// Why a store of skills did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SkillStoreError {
    /// There is no such skill.
    #[error("there is no skill {skill_name:?}")]
    SkillNotFound {
        /// Its name.
        skill_name: String,
    },
    /// There is such a skill, and it never was so, or that was too long ago.
    #[error("the skill {skill_name:?} has no version {version:?}")]
    VersionNotFound {
        /// Its name.
        skill_name: String,
        /// What was asked for.
        version: String,
    },
    /// It cannot be kept so: its name, its size, or whose it is.
    #[error("the skill {skill_name:?} cannot be stored: {reason}")]
    StorageConflict {
        /// Its name.
        skill_name: String,
        /// Why.
        reason: String,
    },
    /// A store that reads the language found something wrong. Those here do not.
    #[error("the skill {skill_name:?} does not compile")]
    LintFailure {
        /// Its name.
        skill_name: String,
        /// What is wrong.
        diagnostics: Vec<String>,
    },
    /// Nobody who may vouch for it does.
    #[error("the skill {skill_name:?} is not approved: {reason}")]
    ApprovalRejected {
        /// Its name.
        skill_name: String,
        /// Why.
        reason: String,
    },
    /// The question cannot be answered.
    #[error("the skills cannot be looked through: {reason}")]
    Query {
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[error("the store did not answer within {timeout_ms} ms")]
    Timeout {
        /// How long was waited.
        timeout_ms: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SkillStoreError {
    /// Of which contract it is.
    pub const fn connector_type(&self) -> ConnectorType {
        ConnectorType::SkillStore
    }

    /// What it is called in the contract.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::SkillNotFound { .. } => "SkillNotFoundError",
            Self::VersionNotFound { .. } => "VersionNotFoundError",
            Self::StorageConflict { .. } => "StorageConflictError",
            Self::LintFailure { .. } => "LintFailureError",
            Self::ApprovalRejected { .. } => "ApprovalRejectedError",
            Self::Query { .. } => "QueryError",
            Self::Timeout { .. } => "TimeoutError",
            Self::Store(_) => "ConnectorError",
        }
    }

    /// There is no such skill.
    pub fn not_found(name: &str) -> Self {
        Self::SkillNotFound { skill_name: name.to_owned() }
    }

    /// It cannot be kept so.
    pub fn conflict(name: &str, reason: impl Into<String>) -> Self {
        Self::StorageConflict { skill_name: name.to_owned(), reason: reason.into() }
    }
}

/// Why a store of data did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DataStoreError {
    /// It was to keep filters that it does not keep.
    #[error(
        "{substrate} does not keep the filters {}; it keeps {}",
        unsupported.join(", "), supported.join(", ")
    )]
    UnsupportedFilter {
        /// Those.
        unsupported: Vec<String>,
        /// What it keeps.
        supported: Vec<String>,
        /// Who says so.
        substrate: String,
    },
    /// The question cannot be answered, or the entry not be kept.
    #[error("the data cannot be had or kept so: {reason}")]
    Query {
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[error("the store did not answer within {timeout_ms} ms")]
    Timeout {
        /// How long was waited.
        timeout_ms: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DataStoreError {
    /// Of which contract it is, if it is of one: a filter is refused before a store is asked.
    pub const fn connector_type(&self) -> Option<ConnectorType> {
        match self {
            Self::UnsupportedFilter { .. } => None,
            Self::Query { .. } | Self::Timeout { .. } | Self::Store(_) => {
                Some(ConnectorType::DataStore)
            }
        }
    }

    /// What it is called in the contract.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::UnsupportedFilter { .. } => "UnsupportedFilterError",
            Self::Query { .. } => "QueryError",
            Self::Timeout { .. } => "TimeoutError",
            Self::Store(_) => "ConnectorError",
        }
    }

    /// The question cannot be answered, or the entry not be kept.
    pub fn query(reason: impl Into<String>) -> Self {
        Self::Query { reason: reason.into() }
    }
}
