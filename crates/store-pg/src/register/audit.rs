//! The audit log. Triggers write its rows in the transaction of the change that they record.

use async_trait::async_trait;
use nightdesk_register::audit::{AuditRecord, Auditing, Chain, ChainLink, Kind};
use nightdesk_types::limits::{AUDIT_ANCHORED_EVERY, AUDIT_HEADS_MAX};
use nightdesk_types::{StoreError, TenantId, TenantScope};
use serde_json::Value;
use sqlx::PgConnection;

use crate::Pg;

/// The number of anchoring rounds for which a moved head is reported, so that a failed round leaves no gap.
const ROUNDS: f64 = 3.0;

#[async_trait]
impl Auditing for Pg {
    async fn note(&self, scope: TenantScope, kind: Kind, about: &Value) -> Result<(), StoreError> {
        let about = about.clone();
        run_to_end!(self.for_tenant("record an act", scope), |connection| {
            record_act(connection, scope, kind, about).await
        })
    }

    async fn audit_records(
        &self,
        scope: TenantScope,
        after: i64,
        rows_max: i64,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        run_to_end!(self.for_tenant("read the audit log", scope), |connection| {
            let rows = sqlx::query!(
                r#"select seq, at as "at: jiff_sqlx::Timestamp", actor, kind, about, hash
                   from audit_log where tenant_id = $1 and seq > $2
                   order by seq limit $3"#,
                scope.tenant().uuid(),
                after,
                rows_max
            )
            .fetch_all(connection)
            .await?;
            let deeds = rows.into_iter().map(|row| AuditRecord {
                seq: row.seq,
                at: row.at.to_jiff(),
                actor: row.actor,
                kind: row.kind,
                about: row.about,
                hash: row.hash,
            });
            Ok(deeds.collect())
        })
    }

    async fn chain(&self, scope: TenantScope) -> Result<Chain, StoreError> {
        run_to_end!(self.for_tenant("read the end of an audit chain", scope), |connection| {
            let row = sqlx::query!(
                "select seq, hash, begins_seq, begins_hash from audit_heads
                 where tenant_id = $1",
                scope.tenant().uuid()
            )
            .fetch_optional(connection)
            .await?;
            let nothing = Chain { begins: ChainLink::start(), head: ChainLink::start() };
            Ok(row.map_or(nothing, |row| Chain {
                begins: ChainLink { seq: row.begins_seq, hash: row.begins_hash },
                head: ChainLink { seq: row.seq, hash: row.hash },
            }))
        })
    }

    async fn chain_heads(
        &self,
        after: Option<TenantId>,
        lately: bool,
    ) -> Result<Vec<(TenantId, ChainLink)>, StoreError> {
        let since = lately.then(|| AUDIT_ANCHORED_EVERY.as_secs_f64() * ROUNDS);
        run_to_end!(self.single("read the ends of audit chains"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", seq as "seq!", hash as "hash!"
                   from door_audit_heads($1, make_interval(secs => $2), $3)"#,
                after.map(TenantId::uuid),
                since,
                i32::try_from(AUDIT_HEADS_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            let link = |seq, hash| ChainLink { seq, hash };
            let heads = rows
                .into_iter()
                .map(|row| (TenantId::from_uuid(row.tenant), link(row.seq, row.hash)));
            Ok(heads.collect())
        })
    }
}

/// Records an act that may change no row. It comes last in its transaction, so that no transaction waits for anything
/// else while it holds the head of a chain.
pub(crate) async fn record_act(
    connection: &mut PgConnection,
    scope: TenantScope,
    kind: Kind,
    about: Value,
) -> sqlx::Result<()> {
    sqlx::query!("select tell_act($1, $2, $3)", scope.tenant().uuid(), kind.slug(), about)
        .execute(connection)
        .await?;
    Ok(())
}
