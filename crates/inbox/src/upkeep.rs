//! Creates and drops the day partitions.

use async_trait::async_trait;
use nightdesk_types::StoreError;

/// The result of one run of upkeep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Entries that expired and were parked.
    pub expired: u64,
    /// Acknowledged entries that were removed.
    pub forgotten: u64,
    /// Day partitions that were dropped.
    pub days_dropped: u64,
    /// Steps that failed. The next round tries them again.
    pub failed_steps: u32,
}

/// Creates the partitions of coming days and drops old ones.
#[async_trait]
pub trait InboxSweeper: Send + Sync {
    /// Runs one round in bounded batches. Any node may run it at any time. An unacknowledged entry is parked before its
    /// day is dropped. A step that fails stops no other step.
    async fn sweep(&self) -> Result<SweepReport, StoreError>;
}
