//! What a store could not do.

use std::error::Error;

use crate::quota::OverQuota;

/// A store failed. What may well happen (a duplicate, a replaced line) is never this: it is
/// a value in the answer.
#[derive(Debug, thiserror::Error)]
#[error("store could not {operation}")]
pub struct StoreError {
    /// Which call, as a verb clause: `put an event`.
    pub operation: &'static str,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// What the driver said.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// The store cannot be reached or is too busy; the same call may succeed later.
    pub fn unavailable(
        operation: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { operation, retryable: true, source: source.into() }
    }

    /// A tenant has all that it may have.
    pub fn over(operation: &'static str, over: OverQuota) -> Self {
        Self::broken(operation, over)
    }

    /// Whether a tenant has all that it may have, and of what.
    pub fn over_quota(&self) -> Option<OverQuota> {
        self.source.downcast_ref().copied()
    }

    /// The store holds something that does not fit, or was asked for something it cannot do.
    pub fn broken(
        operation: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { operation, retryable: false, source: source.into() }
    }
}
