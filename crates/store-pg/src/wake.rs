//! The store of wakes. Each method reads facts, calls `nightdesk-wake`, and writes: in one transaction that locks the
//! rows, or, for the hot changes of one row, with a write that checks the row's version.

mod claim;
pub(crate) mod operator;
pub(crate) mod rows;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::BURIED_LINES_MAX;
use nightdesk_types::{AgentId, Generation, Seq, StoreError, TenantScope, Timestamp};
use nightdesk_wake::{LineEnd, Store, Suspicion, WakeClaim, WakeRow, WakeSelection, WakeTerms};
use sqlx::PgConnection;

use self::rows::{WakeKey, begin_wakes, change_wake, read_wake, replace_wake_row};
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
        self.replace_wake("store a call", claimed, move |row, now| {
            row.record_outcome(&call, &outcome, wait, now)
        })
        .await
    }

    async fn put_off(&self, claimed: &WakeClaim, wait: Duration) -> Result<(), StoreError> {
        let call = claimed.clone();
        self.replace_wake("postpone a call", claimed, move |row, now| row.put_off(&call, wait, now))
            .await
    }

    async fn record_notified(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let call = claimed.clone();
        self.replace_wake("store a notification", claimed, move |row, _| {
            row.finish_giving_up(&call)
        })
        .await
    }

    async fn record_delay_told(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let call = claimed.clone();
        self.replace_wake("store the notice of a delay", claimed, move |row, _| {
            row.finish_delay_notice(&call)
        })
        .await
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

impl Pg {
    /// Changes the row of a claimed wake, if the rule changes it. The change holds no lock between read and write, so an
    /// agent that dials in meanwhile does not wait. If the row changed meanwhile, a transaction decides again.
    async fn replace_wake<R>(
        &self,
        operation: &'static str,
        claimed: &WakeClaim,
        rule: R,
    ) -> Result<(), StoreError>
    where
        R: Fn(WakeRow, Timestamp) -> Option<WakeRow> + Clone + Send + Sync + 'static,
    {
        let (key, first) = (WakeKey::new(claimed.scope, claimed.agent), rule.clone());
        let is_done = run_to_end!(self.single(operation), |connection| {
            let Some(read) = read_wake(connection, key).await? else { return Ok(true) };
            match first(read.row.clone(), read.now) {
                Some(row) => replace_wake_row(connection, &read, row).await,
                None => Ok(true),
            }
        })?;
        if is_done {
            return Ok(());
        }
        run_to_end!(self.for_tenant(operation, claimed.scope), |connection| {
            change_wake(connection, key, rule).await
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
