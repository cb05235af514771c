//! Gathers the ends of concurrent fires, so that many of them share a transaction.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_inbox::batch::Batch;
use nightdesk_types::{AgentId, StoreError, TenantScope};

use crate::fire::FireEnding;
use crate::job::JobId;
use crate::store::Store;

/// Ends of fires, for one store call.
pub(super) struct EndingBatch(pub(super) Arc<dyn Store>);

#[async_trait]
impl Batch for EndingBatch {
    type Ask = FireEnding;
    type Answer = bool;
    /// The job: the end of a fire changes its job, so two fires of one job are not decided on at once.
    type Key = (TenantScope, AgentId, JobId);
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, endings: &[FireEnding]) -> Result<Vec<bool>, StoreError> {
        self.0.end(endings).await
    }

    fn key(FireEnding { claimed, .. }: &FireEnding) -> Self::Key {
        (claimed.scope, claimed.agent, claimed.job.clone())
    }

    fn share(ending: &FireEnding) -> TenantScope {
        ending.claimed.scope
    }
}
