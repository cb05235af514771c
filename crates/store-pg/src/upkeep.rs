//! Creates and drops daily partitions, and deletes old rows.

use async_trait::async_trait;
use nightdesk_inbox::{InboxSweeper, SweepReport};
use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    ACKED_HOURS, AUDIT_KEPT_DAYS, DAYS_OPENED_AHEAD, DEDUPE_DAYS, FIRES_KEPT, LETTERS_KEPT,
    LINK_KEPT_HOURS, PARKED_DAYS, PENDING_DAYS, PROMPT_DAYS, REACH_CHANGES_HOURS, SEND_HOURS,
    UPKEEP_BATCHES_MAX, UPKEEP_ROWS_MAX,
};

use crate::Pg;

/// The days until a partition is dropped, when neither its keys nor its entries are needed any more.
const KEPT_DAYS: i32 = if PENDING_DAYS > DEDUPE_DAYS { PENDING_DAYS } else { DEDUPE_DAYS } + 1;

/// Runs a function that removes old rows, again while its batches are full. Its last argument is the size of a batch.
macro_rules! run_batches {
    ($store:ident.single($operation:literal), $sql:literal $(, $age:expr)?) => {
        crate::upkeep::run_in_batches(|| async move {
            run_to_end!($store.single($operation), |connection| {
                let rows = sqlx::query_scalar!($sql, $($age,)? UPKEEP_ROWS_MAX);
                Ok(rows.fetch_one(connection).await?.unsigned_abs())
            })
        })
        .await
    };
}
pub(crate) use run_batches;

#[async_trait]
impl InboxSweeper for Pg {
    async fn sweep(&self) -> Result<SweepReport, StoreError> {
        self.open_days().await?;
        let expired = run_batches!(
            self.single("set aside what nobody took"),
            r#"select expire_entries(make_interval(days => $1), $2) as "expired!""#,
            PENDING_DAYS
        )?;
        let forgotten = run_batches!(
            self.single("delete acknowledged entries"),
            r#"select forget_acked(make_interval(hours => $1), $2) as "forgotten!""#,
            ACKED_HOURS
        )?;
        self.forget_old_rows().await?;
        let days_dropped = self.close_days().await?;
        Ok(SweepReport { expired, forgotten, days_dropped })
    }
}

/// Runs batches until one is not full or the limit of the round is reached. Returns the number of rows.
pub(crate) async fn run_in_batches<F: Future<Output = Result<u64, StoreError>>>(
    batch: impl Fn() -> F,
) -> Result<u64, StoreError> {
    let mut rows = 0;
    for _ in 0..UPKEEP_BATCHES_MAX {
        let done = batch().await?;
        rows += done;
        if done < u64::from(UPKEEP_ROWS_MAX.unsigned_abs()) {
            break;
        }
    }
    Ok(rows)
}

impl Pg {
    /// Creates the partitions of the days ahead. A node needs them before it accepts an event.
    pub async fn open_days(&self) -> Result<(), StoreError> {
        run_to_end!(self.single("create partitions"), |connection| {
            sqlx::query!("select open_days(1, $1)", DAYS_OPENED_AHEAD).execute(connection).await
        })?;
        Ok(())
    }

    async fn forget_old_rows(&self) -> Result<(), StoreError> {
        run_batches!(
            self.single("delete old parked entries"),
            r#"select forget_parked(make_interval(days => $1), $2) as "forgotten!""#,
            PARKED_DAYS
        )?;
        run_batches!(
            self.single("delete old sends"),
            r#"select forget_sends(make_interval(hours => $1), $2) as "forgotten!""#,
            SEND_HOURS
        )?;
        run_batches!(
            self.single("delete old prompts"),
            r#"select forget_prompts(make_interval(days => $1), $2) as "forgotten!""#,
            PROMPT_DAYS
        )?;
        run_batches!(
            self.single("delete old media"),
            r#"select forget_media($1) as "forgotten!""#
        )?;
        run_batches!(
            self.single("delete old changes"),
            r#"select forget_changes(make_interval(hours => $1), $2) as "forgotten!""#,
            REACH_CHANGES_HOURS
        )?;
        run_batches!(
            self.single("delete old acts"),
            r#"select forget_audit(make_interval(days => $1), $2) as "forgotten!""#,
            AUDIT_KEPT_DAYS
        )?;
        run_batches!(
            self.single("delete old link codes"),
            r#"select forget_links(make_interval(hours => $1), $2) as "forgotten!""#,
            LINK_KEPT_HOURS
        )?;
        run_batches!(
            self.single("delete old fires"),
            r#"select forget_fires(make_interval(secs => $1), $2) as "forgotten!""#,
            FIRES_KEPT.as_secs_f64()
        )?;
        run_batches!(
            self.single("delete old letters"),
            r#"select forget_letters(make_interval(secs => $1), $2) as "forgotten!""#,
            LETTERS_KEPT.as_secs_f64()
        )?;
        Ok(())
    }

    async fn close_days(&self) -> Result<u64, StoreError> {
        run_to_end!(self.single("drop old partitions"), |connection| {
            let dropped = sqlx::query_scalar!(r#"select close_days($1) as "dropped!""#, KEPT_DAYS)
                .fetch_one(connection)
                .await?;
            Ok(dropped.unsigned_abs())
        })
    }
}
