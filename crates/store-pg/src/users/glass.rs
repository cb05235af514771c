//! Requests of operators to read a tenant's messages.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{Actor, BreakGlassId, StoreError, TenantId, TenantScope, Timestamp, UserId};
use nightdesk_users::{GlassRefusal, GlassRequest, GlassState, GlassStore, decide_approval};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::row::moment;

/// A row of a request.
struct GlassRow {
    tenant: Uuid,
    request: Uuid,
    asked_by: Uuid,
    asked_at: jiff_sqlx::Timestamp,
    reason: String,
    lasts_s: i64,
    approved_by: Option<Uuid>,
    open_until: Option<jiff_sqlx::Timestamp>,
    ended_at: Option<jiff_sqlx::Timestamp>,
}

impl From<GlassRow> for GlassRequest {
    fn from(row: GlassRow) -> Self {
        let approval = row.approved_by.zip(row.open_until);
        let state = match (row.ended_at, approval) {
            (Some(_), _) => GlassState::Ended,
            (None, Some((by, until))) => {
                GlassState::Open { approved_by: UserId::from_uuid(by), until: until.to_jiff() }
            }
            (None, None) => GlassState::Asked,
        };
        Self {
            id: BreakGlassId::from_uuid(row.request),
            tenant: TenantId::from_uuid(row.tenant),
            asked_by: UserId::from_uuid(row.asked_by),
            asked_at: row.asked_at.to_jiff(),
            reason: row.reason,
            lasts: Duration::from_secs(row.lasts_s.unsigned_abs()),
            state,
        }
    }
}

#[async_trait]
impl GlassStore for Pg {
    async fn ask_glass(
        &self,
        scope: TenantScope,
        by: UserId,
        reason: &str,
        lasts: Duration,
    ) -> Result<GlassRequest, StoreError> {
        let reason = reason.to_owned();
        run_to_end!(self.for_tenant("ask to read messages", scope), |connection| {
            let row = sqlx::query!(
                r#"insert into glass_requests (tenant_id, asked_by, reason, lasts)
                   values ($1, $2, $3, make_interval(secs => $4))
                   returning request_id, asked_at as "asked_at: jiff_sqlx::Timestamp""#,
                scope.tenant().uuid(),
                by.uuid(),
                reason,
                lasts.as_secs_f64()
            )
            .fetch_one(connection)
            .await?;
            Ok(GlassRequest {
                id: BreakGlassId::from_uuid(row.request_id),
                tenant: scope.tenant(),
                asked_by: by,
                asked_at: row.asked_at.to_jiff(),
                reason,
                lasts,
                state: GlassState::Asked,
            })
        })
    }

    async fn approve_glass(
        &self,
        by: UserId,
        id: BreakGlassId,
    ) -> Result<Option<Result<GlassRequest, GlassRefusal>>, StoreError> {
        let Some(known) = self.find_glass(id).await? else { return Ok(None) };
        let scope = TenantScope::for_tenant(known.tenant).with_actor(Actor::User(by));
        run_to_end!(self.for_tenant("approve reading messages", scope), |connection| {
            let (request, now) = lock_request(connection, scope, id).await?;
            match decide_approval(&request, by, now) {
                Ok(GlassState::Open { approved_by, until }) => {
                    write_approval(connection, &request, approved_by, until).await?;
                    let state = GlassState::Open { approved_by, until };
                    Ok(Some(Ok(GlassRequest { state, ..request })))
                }
                Ok(GlassState::Asked | GlassState::Ended) => Ok(Some(Ok(request))),
                Err(refusal) => Ok(Some(Err(refusal))),
            }
        })
    }

    async fn end_glass(&self, by: UserId, id: BreakGlassId) -> Result<bool, StoreError> {
        let Some(known) = self.find_glass(id).await? else { return Ok(false) };
        let scope = TenantScope::for_tenant(known.tenant).with_actor(Actor::User(by));
        run_to_end!(self.for_tenant("end reading messages", scope), |connection| {
            let ended = sqlx::query!(
                "update glass_requests set ended_at = now()
                 where tenant_id = $1 and request_id = $2 and ended_at is null
                   and coalesce(open_until > now(), true)",
                scope.tenant().uuid(),
                id.uuid()
            )
            .execute(connection)
            .await?;
            Ok(ended.rows_affected() == 1)
        })
    }

    async fn glass_requests(
        &self,
        tenant: Option<TenantId>,
    ) -> Result<Vec<GlassRequest>, StoreError> {
        self.read_glass(tenant, None).await
    }
}

impl Pg {
    async fn find_glass(&self, id: BreakGlassId) -> Result<Option<GlassRequest>, StoreError> {
        Ok(self.read_glass(None, Some(id)).await?.pop())
    }

    async fn read_glass(
        &self,
        tenant: Option<TenantId>,
        id: Option<BreakGlassId>,
    ) -> Result<Vec<GlassRequest>, StoreError> {
        run_to_end!(self.single("read requests to read messages"), |connection| {
            let rows = sqlx::query_as!(
                GlassRow,
                r#"select tenant_id as "tenant!", request_id as "request!",
                       asked_by as "asked_by!", asked_at as "asked_at!: jiff_sqlx::Timestamp",
                       reason as "reason!", lasts_s as "lasts_s!", approved_by,
                       open_until as "open_until: jiff_sqlx::Timestamp",
                       ended_at as "ended_at: jiff_sqlx::Timestamp"
                   from door_glass($1, $2, $3)"#,
                tenant.map(TenantId::uuid),
                id.map(BreakGlassId::uuid),
                i32::try_from(LIST_ROWS_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(GlassRequest::from).collect())
        })
    }
}

/// Locks a request. Returns it and the time.
async fn lock_request(
    connection: &mut PgConnection,
    scope: TenantScope,
    id: BreakGlassId,
) -> sqlx::Result<(GlassRequest, Timestamp)> {
    let row = sqlx::query_as!(
        GlassRow,
        r#"select tenant_id as tenant, request_id as request, asked_by,
               asked_at as "asked_at: jiff_sqlx::Timestamp", reason,
               extract(epoch from lasts)::bigint as "lasts_s!", approved_by,
               open_until as "open_until: jiff_sqlx::Timestamp",
               ended_at as "ended_at: jiff_sqlx::Timestamp"
           from glass_requests where tenant_id = $1 and request_id = $2 for update"#,
        scope.tenant().uuid(),
        id.uuid()
    )
    .fetch_one(&mut *connection)
    .await?;
    let now = sqlx::query_scalar!(r#"select now() as "now!: jiff_sqlx::Timestamp""#);
    Ok((row.into(), now.fetch_one(connection).await?.to_jiff()))
}

async fn write_approval(
    connection: &mut PgConnection,
    request: &GlassRequest,
    by: UserId,
    until: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update glass_requests set approved_by = $3, open_until = $4
         where tenant_id = $1 and request_id = $2",
        request.tenant.uuid(),
        request.id.uuid(),
        by.uuid(),
        moment(until) as jiff_sqlx::Timestamp
    )
    .execute(connection)
    .await?;
    Ok(())
}
