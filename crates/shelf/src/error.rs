//! Errors of stores, as the contract defines them.

use nightdesk_types::StoreError;

use crate::capability::ConnectorType;

/// Errors of a store of skills.
#[derive(Debug, thiserror::Error)]
pub enum SkillStoreError {
    /// The skill does not exist.
    #[error("there is no skill {skill_name:?}")]
    SkillNotFound {
        /// The skill's name.
        skill_name: String,
    },
    /// The skill exists, but never had this version, or no longer stores it.
    #[error("the skill {skill_name:?} has no version {version:?}")]
    VersionNotFound {
        /// The skill's name.
        skill_name: String,
        /// The requested version.
        version: String,
    },
    /// The skill cannot be stored because of its name, its size or its author.
    #[error("the skill {skill_name:?} cannot be stored: {reason}")]
    StorageConflict {
        /// The skill's name.
        skill_name: String,
        /// The reason.
        reason: String,
    },
    /// A store that parses the language found an error. The stores here do not parse it.
    #[error("the skill {skill_name:?} does not compile")]
    LintFailure {
        /// The skill's name.
        skill_name: String,
        /// The diagnostics.
        diagnostics: Vec<String>,
    },
    /// The skill lacks a valid signature.
    #[error("the skill {skill_name:?} is not approved: {reason}")]
    ApprovalRejected {
        /// The skill's name.
        skill_name: String,
        /// The reason.
        reason: String,
    },
    /// The query is invalid.
    #[error("the query for skills is not valid: {reason}")]
    Query {
        /// The reason.
        reason: String,
    },
    /// The operation took too long.
    #[error("the store did not respond within {timeout_ms} ms")]
    Timeout {
        /// The time limit.
        timeout_ms: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SkillStoreError {
    /// Returns the kind of contract.
    pub const fn connector_type(&self) -> ConnectorType {
        ConnectorType::SkillStore
    }

    /// Returns the contract's name of the error.
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

    /// Creates a `SkillNotFound` error.
    pub fn not_found(name: &str) -> Self {
        Self::SkillNotFound { skill_name: name.to_owned() }
    }

    /// Creates a `StorageConflict` error.
    pub fn conflict(name: &str, reason: impl Into<String>) -> Self {
        Self::StorageConflict { skill_name: name.to_owned(), reason: reason.into() }
    }
}

/// Errors of a store of data.
#[derive(Debug, thiserror::Error)]
pub enum DataStoreError {
    /// The query has unsupported filters.
    #[error(
        "{substrate} does not support the filters {}; it supports {}",
        unsupported.join(", "), supported.join(", ")
    )]
    UnsupportedFilter {
        /// The unsupported filters.
        unsupported: Vec<String>,
        /// The supported filters.
        supported: Vec<String>,
        /// The store.
        substrate: String,
    },
    /// The query or the entry is invalid.
    #[error("the query or the entry is not valid: {reason}")]
    Query {
        /// The reason.
        reason: String,
    },
    /// The operation took too long.
    #[error("the store did not respond within {timeout_ms} ms")]
    Timeout {
        /// The time limit.
        timeout_ms: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DataStoreError {
    /// Returns the kind of contract, or `None` for a filter that is rejected before the store is called.
    pub const fn connector_type(&self) -> Option<ConnectorType> {
        match self {
            Self::UnsupportedFilter { .. } => None,
            Self::Query { .. } | Self::Timeout { .. } | Self::Store(_) => {
                Some(ConnectorType::DataStore)
            }
        }
    }

    /// Returns the contract's name of the error.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::UnsupportedFilter { .. } => "UnsupportedFilterError",
            Self::Query { .. } => "QueryError",
            Self::Timeout { .. } => "TimeoutError",
            Self::Store(_) => "ConnectorError",
        }
    }

    /// Creates a `Query` error.
    pub fn query(reason: impl Into<String>) -> Self {
        Self::Query { reason: reason.into() }
    }
}
