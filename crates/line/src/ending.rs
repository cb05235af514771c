//! Records the end of a line, also if the store is down at that time.
//!
//! Until the end is recorded, the agent appears to be connected, and the desk does not call it.

use std::time::Duration;

use nightdesk_inbox::LineClaim;
use nightdesk_types::limits::LINE_END_TRIES_MAX;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::store::{CloseRecord, Store};

/// Retries recording the end of a line until the node stops. A stopping node ends its lines anyway.
pub(crate) async fn retry_recording_end(
    store: &dyn Store,
    line: &LineClaim,
    end: CloseRecord,
    again: Duration,
    drain: &CancellationToken,
) {
    // The failed write may have been committed, and then the try was counted.
    let end = CloseRecord { tried: None, ..end };
    for _ in 0..LINE_END_TRIES_MAX {
        tokio::select! {
            biased;
            () = drain.cancelled() => return,
            () = sleep(again) => {}
        }
        if store.close(line, end).await.is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use nightdesk_protocol::session_names::SessionNames;
    use nightdesk_types::{
        AgentId, Generation, Incarnation, Seq, StoreError, TenantId, TenantScope,
    };
    use uuid::Uuid;

    use super::*;
    use crate::store::{ClosingSide, LineRequest, LineStart};

    /// A store that fails the first `for_tries` calls.
    struct Away {
        for_tries: u32,
        asked: AtomicU32,
    }

    #[async_trait]
    impl Store for Away {
        async fn take(&self, _: LineRequest<'_>) -> Result<LineStart, StoreError> {
            unreachable!("nobody takes a line")
        }

        async fn find_holder(
            &self,
            _: TenantScope,
            _: AgentId,
        ) -> Result<Option<String>, StoreError> {
            unreachable!("nobody looks for a line")
        }

        async fn tell_sessions(&self, _: &LineClaim, _: &SessionNames) -> Result<(), StoreError> {
            unreachable!("no agent names its sessions")
        }

        async fn close(&self, _: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
            assert_eq!(end.tried, None, "a try counts once");
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            if asked < self.for_tries {
                return Err(StoreError::unavailable("close a line", "it is away"));
            }
            Ok(())
        }
    }

    async fn asked(for_tries: u32, drain: &CancellationToken) -> u32 {
        let store = Away { for_tries, asked: AtomicU32::new(0) };
        let line = LineClaim {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
            agent: AgentId::from_uuid(Uuid::nil()),
            incarnation: Incarnation::new(1),
            generation: Generation::new(1),
        };
        let end =
            CloseRecord { code: 1006, tried: Some(Seq::new(1)), closed_by: ClosingSide::Client };
        retry_recording_end(&store, &line, end, Duration::ZERO, drain).await;
        store.asked.into_inner()
    }

    #[tokio::test]
    async fn an_end_is_noted_once_the_store_is_back() {
        assert_eq!(asked(20, &CancellationToken::new()).await, 21);
    }

    #[tokio::test]
    async fn a_node_that_stops_waits_for_no_store() {
        let drain = CancellationToken::new();
        drain.cancel();
        assert_eq!(asked(20, &drain).await, 0);
    }
}
