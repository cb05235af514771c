//! Creates and drops daily partitions, and deletes old rows.
//!
//! Each step runs on its own: one that fails, for example because a backup reads a table that should be dropped, is logged
//! and left to the next round. No step waits for a lock longer than [`UPKEEP_LOCK_WAIT`], because accepts would queue
//! behind it.
//!
//! [`UPKEEP_LOCK_WAIT`]: nightdesk_types::limits::UPKEEP_LOCK_WAIT

use std::error::Error;

use async_trait::async_trait;
use nightdesk_inbox::{InboxSweeper, SweepReport};
use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    ACKED_HOURS, AUDIT_KEPT_DAYS, DAYS_DROPPED_MAX, DAYS_NEEDED_BEHIND, DAYS_OPENED_AHEAD,
    DEDUPE_DAYS, FIRES_KEPT, LETTERS_KEPT, LINK_KEPT_HOURS, PARKED_DAYS, PENDING_DAYS, PROMPT_DAYS,
    REACH_CHANGES_HOURS, SEND_HOURS, UPKEEP_BLOCKS_MAX, UPKEEP_ROWS_MAX, UPKEEP_STEP_MAX,
};
use tokio::time::Instant;

use crate::Pg;

/// The days until a partition is dropped, when neither its keys nor its entries are needed any more.
const KEPT_DAYS: i32 = if PENDING_DAYS > DEDUPE_DAYS { PENDING_DAYS } else { DEDUPE_DAYS } + 1;

/// Runs a function that removes old rows, again while its batches are full. Its last argument is the size of a batch.
macro_rules! run_batches {
    ($store:ident.upkeep($operation:literal), $sql:literal $(, $age:expr)?) => {
        crate::upkeep::run_in_batches(|| async move {
            run_to_end!($store.upkeep($operation), |connection| {
                let rows = sqlx::query_scalar!($sql, $($age,)? UPKEEP_ROWS_MAX);
                Ok(crate::upkeep::UpkeepBatch::of_rows(rows.fetch_one(connection).await?))
            })
        })
        .await
    };
}
pub(crate) use run_batches;

#[async_trait]
impl InboxSweeper for Pg {
    async fn sweep(&self) -> Result<SweepReport, StoreError> {
        let mut failures = StepFailures::default();
        failures.settle(self.open_days(DAYS_OPENED_AHEAD).await);
        let expired = failures.settle(run_batches!(
            self.upkeep("set aside what nobody took"),
            r#"select expire_entries(make_interval(days => $1), $2) as "expired!""#,
            PENDING_DAYS
        ));
        let forgotten = failures.settle(self.forget_acked().await);
        self.forget_old_rows(&mut failures).await;
        let days_dropped = self.close_days(&mut failures).await;
        Ok(SweepReport { expired, forgotten, days_dropped, failed_steps: failures.0 })
    }
}

/// The number of steps that failed in a round.
#[derive(Debug, Default)]
struct StepFailures(u32);

impl StepFailures {
    /// Returns the result of a step. A failure is logged, and the next round tries the step again.
    fn settle<T: Default>(&mut self, step: Result<T, StoreError>) -> T {
        step.unwrap_or_else(|error| {
            self.0 += 1;
            tracing::warn!(error = &error as &dyn Error, "a step of upkeep failed; it is retried");
            T::default()
        })
    }
}

/// The result of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpkeepBatch {
    rows: u64,
    is_last: bool,
}

impl UpkeepBatch {
    /// Returns the result of a batch that may have up to [`UPKEEP_ROWS_MAX`] rows.
    pub(crate) fn of_rows(rows: i64) -> Self {
        Self { rows: rows.unsigned_abs(), is_last: rows < i64::from(UPKEEP_ROWS_MAX) }
    }
}

/// Runs batches until the last one, or until the time of the step is over. Returns the number of rows.
pub(crate) async fn run_in_batches<F: Future<Output = Result<UpkeepBatch, StoreError>>>(
    batch: impl Fn() -> F,
) -> Result<u64, StoreError> {
    let (began, mut rows) = (Instant::now(), 0);
    while began.elapsed() < UPKEEP_STEP_MAX {
        let done = batch().await?;
        rows += done.rows;
        if done.is_last {
            break;
        }
    }
    Ok(rows)
}

impl Pg {
    /// Creates the partitions of the days from yesterday on that do not exist yet. Neither waits it for a reader or a
    /// writer, nor they for it.
    pub async fn open_days(&self, ahead: i32) -> Result<(), StoreError> {
        run_to_end!(self.upkeep("create partitions"), |connection| {
            sqlx::query!("select open_days($1, $2)", DAYS_NEEDED_BEHIND, ahead)
                .execute(connection)
                .await
        })?;
        Ok(())
    }

    async fn forget_acked(&self) -> Result<u64, StoreError> {
        run_in_batches(|| async move {
            run_to_end!(self.upkeep("delete acknowledged entries"), |connection| {
                let batch = sqlx::query!(
                    r#"select forgotten as "forgotten!", is_done as "is_done!"
                       from forget_acked(make_interval(hours => $1), $2)"#,
                    ACKED_HOURS,
                    UPKEEP_BLOCKS_MAX
                );
                let batch = batch.fetch_one(connection).await?;
                Ok(UpkeepBatch { rows: batch.forgotten.unsigned_abs(), is_last: batch.is_done })
            })
        })
        .await
    }

    async fn forget_old_rows(&self, failures: &mut StepFailures) {
        failures.settle(run_batches!(
            self.upkeep("delete old parked entries"),
            r#"select forget_parked(make_interval(days => $1), $2) as "forgotten!""#,
            PARKED_DAYS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete parked entries above a quota"),
            r#"select trim_parked($1) as "trimmed!""#
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old sends"),
            r#"select forget_sends(make_interval(hours => $1), $2) as "forgotten!""#,
            SEND_HOURS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old prompts"),
            r#"select forget_prompts(make_interval(days => $1), $2) as "forgotten!""#,
            PROMPT_DAYS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old media"),
            r#"select forget_media($1) as "forgotten!""#
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old changes"),
            r#"select forget_changes(make_interval(hours => $1), $2) as "forgotten!""#,
            REACH_CHANGES_HOURS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old acts"),
            r#"select forget_audit(make_interval(days => $1), $2) as "forgotten!""#,
            AUDIT_KEPT_DAYS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old link codes"),
            r#"select forget_links(make_interval(hours => $1), $2) as "forgotten!""#,
            LINK_KEPT_HOURS
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old fires"),
            r#"select forget_fires(make_interval(secs => $1), $2) as "forgotten!""#,
            FIRES_KEPT.as_secs_f64()
        ));
        failures.settle(run_batches!(
            self.upkeep("delete old letters"),
            r#"select forget_letters(make_interval(secs => $1), $2) as "forgotten!""#,
            LETTERS_KEPT.as_secs_f64()
        ));
    }

    /// Drops the partitions before the kept days, each on its own. Returns the number of dropped ones.
    async fn close_days(&self, failures: &mut StepFailures) -> u64 {
        let mut dropped = 0;
        for name in failures.settle(self.old_days().await) {
            dropped += u64::from(failures.settle(self.close_day(name).await));
        }
        dropped
    }

    async fn old_days(&self) -> Result<Vec<String>, StoreError> {
        run_to_end!(self.upkeep("find old partitions"), |connection| {
            sqlx::query_scalar!(
                r#"select name as "name!" from stored_days()
                   where day < (clock_timestamp() at time zone 'utc')::date - $1::integer
                   order by day, name limit $2"#,
                KEPT_DAYS,
                DAYS_DROPPED_MAX
            )
            .fetch_all(connection)
            .await
        })
    }

    async fn close_day(&self, name: String) -> Result<bool, StoreError> {
        run_to_end!(self.upkeep("drop an old partition"), |connection| {
            sqlx::query_scalar!(r#"select close_day($1, $2) as "is_dropped!""#, name, KEPT_DAYS)
                .fetch_one(connection)
                .await
        })
    }
}
