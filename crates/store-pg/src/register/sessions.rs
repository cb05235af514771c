//! The sessions that agents were set up with, and the refresh tokens of the desk's own sessions.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use nightdesk_register::enrolment::{Digest, Identity};
use nightdesk_register::issuer::{IssuerSession, RefreshResult, Sessions};
use nightdesk_types::limits::{REFRESH_KEPT_HOURS, REFRESH_OVERLAP};
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::lookup::Finder;

#[async_trait]
impl Sessions for Pg {
    async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        session: &IssuerSession,
        refresh: Option<Digest>,
    ) -> Result<bool, StoreError> {
        let session = session.clone();
        run_to_end!(self.for_tenant("begin a session", scope), |connection| {
            sqlx::query!(
                "insert into bootstrap_sessions (tenant_id, issuer, session, agent_id)
                 values ($1, $2, $3, $4) on conflict do nothing",
                scope.tenant().uuid(),
                session.issuer.as_deref().unwrap_or_default(),
                session.id,
                agent.uuid()
            )
            .execute(&mut *connection)
            .await?;
            if let Some(refresh) = refresh {
                enter_token(connection, scope, &session.id, refresh).await?;
            }
            Ok(live_agent(connection, scope, &session).await? == Some(agent))
        })
    }

    async fn end_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<bool, StoreError> {
        let session = session.clone();
        run_to_end!(self.for_tenant("end a session", scope), |connection| {
            revoke_session(connection, scope, &session).await
        })
    }

    async fn agent_of_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<Option<AgentId>, StoreError> {
        let session = session.clone();
        run_to_end!(self.for_tenant("find a session", scope), |connection| {
            live_agent(connection, scope, &session).await
        })
    }

    async fn refresh(
        &self,
        tenant: TenantId,
        session: &str,
        shown: Digest,
        next: Digest,
    ) -> Result<RefreshResult, StoreError> {
        // The tenant id is unverified until the token is found in it.
        let name = (tenant.uuid(), session.to_owned(), *shown.as_bytes());
        if self.lookups.refresh_tokens.find(name).await?.is_none() {
            return Ok(RefreshResult::Unknown);
        }
        let (scope, session) =
            (TenantScope::for_tenant(tenant), IssuerSession::from_own_issuer(session));
        run_to_end!(self.for_tenant("refresh a session", scope), |connection| {
            let Some(agent) = live_agent(connection, scope, &session).await? else {
                return Ok(RefreshResult::Unknown);
            };
            match trade_token(connection, scope, &session.id, shown).await? {
                None => Ok(RefreshResult::Unknown),
                Some(true) => {
                    delete_old_tokens(connection, scope, &session.id).await?;
                    enter_token(connection, scope, &session.id, next).await?;
                    Ok(RefreshResult::Next(Identity { scope, agent, client: None }))
                }
                Some(false) => {
                    revoke_session(connection, scope, &session).await?;
                    Ok(RefreshResult::Reused)
                }
            }
        })
    }
}

/// Finds out whether a refresh token exists, by its tenant, its session and its digest.
pub(crate) struct KnownRefreshToken;

impl Finder for KnownRefreshToken {
    type Name = (Uuid, String, [u8; 32]);
    type Found = ();
    const OPERATION: &'static str = "find a refresh token";

    async fn find(
        connection: &mut PgConnection,
        names: Vec<Self::Name>,
    ) -> sqlx::Result<HashMap<Self::Name, ()>> {
        let tenants: Vec<Uuid> = names.iter().map(|(tenant, ..)| *tenant).collect();
        let sessions: Vec<String> = names.iter().map(|(_, session, _)| session.clone()).collect();
        let digests: Vec<Vec<u8>> = names.iter().map(|(.., digest)| digest.to_vec()).collect();
        let known = sqlx::query_scalar!(
            r#"select token_sha256 as "digest!" from door_refresh_tokens($1, $2, $3)"#,
            &tenants,
            &sessions,
            &digests
        )
        .fetch_all(connection)
        .await?;
        let known: HashSet<Vec<u8>> = known.into_iter().collect();
        let names = names.into_iter().filter(|(.., digest)| known.contains(&digest[..]));
        Ok(names.map(|name| (name, ())).collect())
    }
}

async fn live_agent(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &IssuerSession,
) -> sqlx::Result<Option<AgentId>> {
    let agent = sqlx::query_scalar!(
        "select agent_id from bootstrap_sessions
         where tenant_id = $1 and issuer = $2 and session = $3 and revoked_at is null
           and tenant_lives(tenant_id)",
        scope.tenant().uuid(),
        session.issuer.as_deref().unwrap_or_default(),
        session.id
    )
    .fetch_optional(connection)
    .await?;
    Ok(agent.map(AgentId::from_uuid))
}

async fn revoke_session(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &IssuerSession,
) -> sqlx::Result<bool> {
    let ended = sqlx::query!(
        "update bootstrap_sessions set revoked_at = coalesce(revoked_at, now())
         where tenant_id = $1 and issuer = $2 and session = $3",
        scope.tenant().uuid(),
        session.issuer.as_deref().unwrap_or_default(),
        session.id
    )
    .execute(connection)
    .await?;
    Ok(ended.rows_affected() == 1)
}

/// Marks a token as traded. Returns true if it is still valid, or `None` if it does not exist.
async fn trade_token(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
    shown: Digest,
) -> sqlx::Result<Option<bool>> {
    let traded = sqlx::query_scalar!(
        r#"update refresh_tokens set traded_at = coalesce(traded_at, now())
           where tenant_id = $1 and session = $2 and token_sha256 = $3
           returning traded_at > now() - make_interval(secs => $4) as "good!""#,
        scope.tenant().uuid(),
        session,
        shown.as_bytes(),
        REFRESH_OVERLAP.as_secs_f64()
    );
    traded.fetch_optional(connection).await
}

/// Deletes tokens that were traded long ago. Each trade triggers this, so the table does not grow.
async fn delete_old_tokens(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "delete from refresh_tokens
         where tenant_id = $1 and session = $2 and traded_at < now() - make_interval(hours => $3)",
        scope.tenant().uuid(),
        session,
        REFRESH_KEPT_HOURS
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn enter_token(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
    token: Digest,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into refresh_tokens (tenant_id, session, token_sha256) values ($1, $2, $3)",
        scope.tenant().uuid(),
        session,
        token.as_bytes()
    )
    .execute(connection)
    .await?;
    Ok(())
}
