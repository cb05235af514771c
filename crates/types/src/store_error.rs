//! The error of a store.

use std::error::Error;

use crate::quota::OverQuota;

/// A store failed. Expected results (a duplicate, a replaced line) are values in the response and never this error.
#[derive(Debug, thiserror::Error)]
#[error("store could not {operation}")]
pub struct StoreError {
    /// The call as a verb clause: `put an event`.
    pub operation: &'static str,
    /// True if the same call may succeed later.
    pub retryable: bool,
    /// The driver's error.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// Creates the error of a store that is unreachable or too busy; the same call may succeed later.
    pub fn unavailable(
        operation: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { operation, retryable: true, source: source.into() }
    }

    /// Creates the error of a tenant that has reached a quota.
    pub fn quota_exceeded(operation: &'static str, over: OverQuota) -> Self {
        Self::broken(operation, over)
    }

    /// Returns the quota that a tenant has reached, if that is the cause.
    pub fn over_quota(&self) -> Option<OverQuota> {
        self.source.downcast_ref().copied()
    }

    /// Creates the error of a store with invalid data, or of a request that the store cannot execute.
    pub fn broken(
        operation: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { operation, retryable: false, source: source.into() }
    }
}
