//! The store of wakes. Each method is one transaction that locks, reads facts, calls `nightdesk-wake`, and writes.

mod claim;
pub(crate) mod operator;
pub(crate) mod rows;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::BURIED_LINES_MAX;
use nightdesk_types::{AgentId, Generation, Seq, StoreError, TenantScope};
use nightdesk_wake::{LineEnd, Store, Suspicion, WakeClaim, WakeSelection, WakeTerms};
use sqlx::PgConnection;

use self::rows::{WakeKey, begin_wakes, change_wake};
use crate::Pg;

#[async_trait]
impl Store for Pg {
    async fn claim(
        &self,
        which: WakeSelection,
        terms: &WakeTerms,
    ) -> Result<Vec<WakeClaim>, StoreError> {
        claim::claim(self, which, *terms).await
    }

    async fn record_outcome(
        &self,
        claimed: &WakeClaim,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError> {
        let (call, outcome) = (claimed.clone(), outcome.to_owned());
        run_to_end!(self.for_tenant("store a call", claimed.scope), |connection| {
            let key = WakeKey::new(call.scope, call.agent);
            change_wake(connection, key, |row, now| row.record_outcome(&call, &outcome, wait, now))
                .await
        })
    }

    async fn put_off(&self, claimed: &WakeClaim, wait: Duration) -> Result<(), StoreError> {
        let call = claimed.clone();
        run_to_end!(self.for_tenant("postpone a call", claimed.scope), |connection| {
            let key = WakeKey::new(call.scope, call.agent);
            change_wake(connection, key, |row, now| row.put_off(&call, wait, now)).await
        })
    }

    async fn record_notified(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let call = claimed.clone();
        run_to_end!(self.for_tenant("store a notification", claimed.scope), |connection| {
            let key = WakeKey::new(call.scope, call.agent);
            change_wake(connection, key, |row, _| row.finish_giving_up(&call)).await
        })
    }

    async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: Generation,
    ) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("suspect a line", scope), |connection| {
            let key = WakeKey::new(scope, agent);
            let Some(acked) = waiting_cursor(connection, key, line).await? else {
                return Ok(());
            };
            let suspicion = Suspicion { line, acked };
            begin_wakes(connection, &[key], |_, row, now| row.suspect(suspicion, now)).await
        })
    }

    async fn close_dead_lines(&self) -> Result<u64, StoreError> {
        run_to_end!(self.for_tenant("close dead lines", TenantScope::desk_own()), |connection| {
            let lines = sqlx::query!(
                r#"select tenant as "tenant!", agent as "agent!",
                       ended_at as "ended_at!: jiff_sqlx::Timestamp",
                       grace_seconds as "grace_seconds!", waits as "waits!"
                   from bury_lines($1)"#,
                BURIED_LINES_MAX
            )
            .fetch_all(&mut *connection)
            .await?;
            let waiting = lines.iter().filter(|line| line.waits);
            let ends = waiting.map(|line| {
                let grace = Duration::try_from_secs_f64(line.grace_seconds).unwrap_or_default();
                let key = WakeKey { tenant: line.tenant, agent: line.agent };
                (key, LineEnd { at: line.ended_at.to_jiff(), grace })
            });
            end_lines(connection, &ends.collect()).await?;
            Ok(u64::try_from(lines.len()).unwrap_or(u64::MAX))
        })
    }
}

/// Returns the cursor of an agent for which an entry waits, if this is its newest line.
async fn waiting_cursor(
    connection: &mut PgConnection,
    key: WakeKey,
    line: Generation,
) -> sqlx::Result<Option<Seq>> {
    let row = sqlx::query!(
        r#"select acked_seq, inbox_waits(tenant_id, agent_id) as "waits!" from inbox_cursors
           where tenant_id = $1 and agent_id = $2 and generation = $3"#,
        key.tenant,
        key.agent,
        line.get()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.filter(|row| row.waits).map(|row| Seq::new(row.acked_seq)))
}

/// Makes wakes due for agents whose lines ended while entries wait.
pub(crate) async fn end_lines(
    connection: &mut PgConnection,
    ends: &BTreeMap<WakeKey, LineEnd>,
) -> sqlx::Result<()> {
    if ends.is_empty() {
        return Ok(());
    }
    let keys: Vec<WakeKey> = ends.keys().copied().collect();
    begin_wakes(connection, &keys, |key, row, now| match ends.get(&key) {
        Some(end) => row.end_line(*end, now),
        None => row,
    })
    .await
}
