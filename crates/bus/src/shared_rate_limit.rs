//! Rate limits over all nodes together.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::rate_limit::Rate;

/// A rate limit that all nodes share. It is not authoritative: a node that gets no answer, or an impossible one, counts
/// for itself.
#[async_trait]
pub trait SharedRateLimit: Debug + Send + Sync {
    /// Counts one event, or returns the retry delay as an error. `None`: the shared count is not available.
    async fn take(&self, key: &str, rate: Rate) -> Option<Result<(), Duration>>;
}

/// The ceiling of a node without a shared counter.
#[derive(Debug)]
pub struct NoSharedRateLimit;

#[async_trait]
impl SharedRateLimit for NoSharedRateLimit {
    async fn take(&self, _key: &str, _rate: Rate) -> Option<Result<(), Duration>> {
        None
    }
}
