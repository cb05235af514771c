//! The history of the database: every new connection and every renewal of a lease checks that it goes on.

use std::sync::{Mutex, PoisonError};

use nightdesk_inbox::{HistoryBreak, RecordedHistory, SeenHistories, ServerPosition, find_break};
use nightdesk_register::audit::Kind;
use nightdesk_types::{Incarnation, StoreError, TenantScope};
use serde_json::json;
use sqlx::PgConnection;
use tokio::sync::watch;

use crate::Pg;
use crate::register::audit::record_act;

/// The history as this process last saw it.
#[derive(Debug, Default)]
pub(crate) struct HistoryWatch {
    seen: Mutex<SeenHistories>,
    current: watch::Sender<Option<Incarnation>>,
}

impl Pg {
    /// Returns the incarnation of the database's history, which changes when the database was restored or rolled back.
    /// `None`: no connection was made yet.
    pub fn watch_history(&self) -> watch::Receiver<Option<Incarnation>> {
        self.history.current.subscribe()
    }

    /// Begins a new history by order of the operator, and records the act. No node can recognise an older copy of the
    /// files that was put back while none ran. Returns the incarnation, or `None` if the database was not migrated yet.
    pub async fn begin_history(
        &self,
        by: TenantScope,
        reason: &str,
    ) -> Result<Option<Incarnation>, StoreError> {
        let reason = reason.to_owned();
        run_to_end!(self.for_tenant("begin a new history", by), |connection| {
            let Some((recorded, server)) = read(connection).await? else { return Ok(None) };
            let sign = HistoryBreak::Declared;
            let begun = begin(connection, recorded.incarnation, server, sign).await?;
            let about = json!({ "incarnation": begun, "reason": reason });
            record_act(connection, by, Kind::HistoryBegun, about).await?;
            Ok(Some(begun))
        })
    }
}

impl HistoryWatch {
    /// Returns the incarnation that this process last saw. `None`: no connection was made yet.
    pub(crate) fn incarnation(&self) -> Option<Incarnation> {
        *self.current.borrow()
    }

    /// Begins a new history if the server lost commits.
    pub(crate) async fn check(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        // Before the server is asked: a position that another connection sees meanwhile may be further than this one.
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((mut recorded, server)) = read(connection).await? else { return Ok(()) };
        if let Some(sign) = find_break(recorded, server, &seen) {
            recorded.incarnation = begin(connection, recorded.incarnation, server, sign).await?;
        }
        self.record(recorded.incarnation, server.log_bytes);
        Ok(())
    }

    /// Begins a new history, because a line acknowledged an entry that the given one does not have.
    pub(crate) async fn end(
        &self,
        connection: &mut PgConnection,
        incarnation: Incarnation,
    ) -> sqlx::Result<()> {
        let Some((_, server)) = read(connection).await? else { return Ok(()) };
        let next = begin(connection, incarnation, server, HistoryBreak::AckBeyondHead).await?;
        self.record(next, server.log_bytes);
        Ok(())
    }

    fn record(&self, incarnation: Incarnation, log_bytes: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is held while the others are told: they must not be told of an ended history last.
        if seen.record(incarnation, log_bytes) {
            self.current
                .send_if_modified(|current| current.replace(incarnation) != Some(incarnation));
        }
    }
}

/// Reads the recorded history and the position of the server. `None`: the database was not migrated yet.
async fn read(
    connection: &mut PgConnection,
) -> sqlx::Result<Option<(RecordedHistory, ServerPosition)>> {
    const UNDEFINED_TABLE: &str = "42P01";
    let row = sqlx::query!(
        r#"select h.incarnation, h.system_id, h.timeline, h.table_id,
               h.tableoid::bigint as "server_table!", s.system_identifier as "server_id!",
               server_timeline() as "server_timeline!",
               pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as "log_bytes!"
           from history h cross join pg_control_system() s"#
    )
    .fetch_one(connection)
    .await;
    let is_missing = |error: &sqlx::Error| {
        error
            .as_database_error()
            .is_some_and(|error| error.code().as_deref() == Some(UNDEFINED_TABLE))
    };
    let row = match row {
        Err(error) if is_missing(&error) => return Ok(None),
        row => row?,
    };
    let recorded = RecordedHistory {
        incarnation: Incarnation::new(row.incarnation),
        system_id: row.system_id,
        timeline: row.timeline,
        table_id: row.table_id,
    };
    let server = ServerPosition {
        system_id: row.server_id,
        timeline: row.server_timeline,
        table_id: row.server_table,
        // A crash may discard log that was not flushed, and it loses no commit thereby.
        log_bytes: row.log_bytes,
    };
    Ok(Some((recorded, server)))
}

/// Begins the history after `ended`, unless another connection did so already. Returns the incarnation that counts.
async fn begin(
    connection: &mut PgConnection,
    ended: Incarnation,
    server: ServerPosition,
    sign: HistoryBreak,
) -> sqlx::Result<Incarnation> {
    let begun = sqlx::query_scalar!(
        "update history
         set incarnation = new_incarnation(), system_id = $2, timeline = $3, table_id = $4,
             begun_at = now(), breaks = breaks + 1
         where incarnation = $1 returning incarnation",
        ended.get(),
        server.system_id,
        server.timeline,
        server.table_id
    )
    .fetch_optional(&mut *connection)
    .await?;
    if begun.is_some() {
        log_break(sign);
    }
    let current = match begun {
        Some(begun) => begun,
        None => {
            sqlx::query_scalar!("select incarnation from history").fetch_one(connection).await?
        }
    };
    Ok(Incarnation::new(current))
}

fn log_break(sign: HistoryBreak) {
    tracing::error!(
        sign = sign.slug(),
        "the database lost commits ({}): a new history begins, and all lines begin again; \
         docs/running.md tells what may be missing",
        sign.slug()
    );
}
