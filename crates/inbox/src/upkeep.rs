//! Upkeep: days come and go.

use async_trait::async_trait;
use nightdesk_types::StoreError;

/// What one round of upkeep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Entries nobody took in time, set aside.
    pub expired: u64,
    /// Acknowledged entries forgotten.
    pub forgotten: u64,
    /// Days dropped.
    pub days_dropped: u64,
}

/// Opens the days ahead and closes those behind.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// One round, in bounded batches. It takes no input and may be run at any time, by any
    /// node. An entry that was not acknowledged is set aside before its day is dropped.
    async fn keep(&self) -> Result<Swept, StoreError>;
}
