//! Failures: that somebody showed what nobody signed is told in the audit log, in numbers.
//!
//! One row a minute at most, whatever comes. It is the desk's own: who fails is nobody's.

use std::sync::Arc;

use nightdesk_desk::sweep;
use nightdesk_line::Room;
use nightdesk_register::audit::{Auditing, Kind};
use nightdesk_types::limits::AUTH_FAILURES_TOLD_EVERY;
use nightdesk_types::{StoreError, TenantScope};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Tells of failures until the node stops, and then of the last ones.
pub(crate) async fn tell(room: Arc<Room>, store: Arc<dyn Auditing>, stop: CancellationToken) {
    let round = || lately(&room, &*store);
    sweep::every(AUTH_FAILURES_TOLD_EVERY, "tell of failures", &stop, round).await;
    // There is no next round that could say it failed.
    drop(round().await);
}

async fn lately(room: &Room, store: &dyn Auditing) -> Result<(), StoreError> {
    let failures = room.failures.untold();
    if failures == 0 {
        return Ok(());
    }
    let about = json!({ "node": room.node.name, "failures": failures });
    store.note(TenantScope::own(), Kind::AuthFailed, &about).await
}
