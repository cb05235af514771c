//! Records failed authentications in the audit log, as counts.
//!
//! At most one row per minute is written, in the desk's own chain: a failed caller belongs to no tenant.

use std::sync::Arc;

use nightdesk_desk::sweep;
use nightdesk_line::LineContext;
use nightdesk_register::audit::{Auditing, Kind};
use nightdesk_types::limits::AUTH_FAILURES_TOLD_EVERY;
use nightdesk_types::{StoreError, TenantScope};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Records failures until the node stops, and then the last ones.
pub(crate) async fn record_failures(
    room: Arc<LineContext>,
    store: Arc<dyn Auditing>,
    stop: CancellationToken,
) {
    let round = || record_recent(&room, &*store);
    sweep::repeat_every(AUTH_FAILURES_TOLD_EVERY, "record failures", &stop, round).await;
    // The node stops, so no later round could report the error.
    drop(round().await);
}

async fn record_recent(room: &LineContext, store: &dyn Auditing) -> Result<(), StoreError> {
    let failures = room.failures.take_unreported();
    if failures == 0 {
        return Ok(());
    }
    let about = json!({ "node": room.node.name, "failures": failures });
    store.note(TenantScope::desk_own(), Kind::AuthFailed, &about).await
}
