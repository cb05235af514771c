//! Ceiling: how often all nodes together do something.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::pace::Rate;

/// Where all nodes count together. It carries no truth either: who cannot ask, or is told what cannot
/// be, counts for itself.
#[async_trait]
pub trait Ceiling: Debug + Send + Sync {
    /// Counts one, or says how long to wait. `None`: nobody can tell.
    async fn take(&self, key: &str, rate: Rate) -> Option<Result<(), Duration>>;
}

/// Of a node that has nobody to ask.
#[derive(Debug)]
pub struct NoCeiling;

#[async_trait]
impl Ceiling for NoCeiling {
    async fn take(&self, _key: &str, _rate: Rate) -> Option<Result<(), Duration>> {
        None
    }
}
