//! Upkeep: what is too old is forgotten, a share at a time.

use std::error::Error;
use std::sync::Arc;

use nightdesk_types::limits::UPKEEP_EVERY;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::store::Store;

/// Forgets again and again until this node stops. A failure is told, and the next round tries
/// again.
pub async fn run(store: Arc<dyn Store>, drain: CancellationToken) {
    while !drain.is_cancelled() {
        if let Err(error) = store.forget().await {
            tracing::warn!(
                error = &error as &dyn Error,
                "lines of chats that are too old could not be forgotten"
            );
        }
        // Either way it is time to look again.
        drop(timeout(UPKEEP_EVERY, drain.cancelled()).await);
    }
}
