//! The sessions that agents were set up with, and the refresh tokens of the desk's own sessions.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use nightdesk_register::enrolment::{Digest, Identity};
use nightdesk_register::issuer::{
    IssuerSession, NextRefresh, RefreshResult, RefreshSeed, RefreshStep, Sessions, TokenExchange,
    decide_refresh,
};
use nightdesk_types::limits::{REFRESH_KEPT_HOURS, REFRESH_OVERLAP};
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::lookup::Finder;
use crate::row::bad_column;

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
        next: NextRefresh,
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
            let Some(token) = lock_token(connection, scope, &session.id, shown).await? else {
                return Ok(RefreshResult::Unknown);
            };
            let exchange = read_exchange(connection, scope, &session.id, token).await?;
            let identity = Identity { scope, agent, client: None };
            match decide_refresh(exchange.as_ref()) {
                RefreshStep::Exchange => {
                    exchange_token(connection, scope, &session.id, shown, next).await?;
                    delete_old_tokens(connection, scope, &session.id).await?;
                    enter_token(connection, scope, &session.id, next.token).await?;
                    Ok(RefreshResult::Next { identity, seed: next.seed })
                }
                RefreshStep::Repeat(seed) => Ok(RefreshResult::Next { identity, seed }),
                RefreshStep::EndSession => {
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

/// A presented token's row.
struct TokenRow {
    seed: Option<Vec<u8>>,
    successor: Option<Vec<u8>>,
    is_recent: bool,
}

/// Locks a token, so that of two concurrent exchanges the later sees the successor of the earlier.
async fn lock_token(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
    shown: Digest,
) -> sqlx::Result<Option<TokenRow>> {
    let row = sqlx::query_as!(
        TokenRow,
        r#"select seed, successor_sha256 as successor,
               coalesce(traded_at > now() - make_interval(secs => $4), false) as "is_recent!"
           from refresh_tokens where tenant_id = $1 and session = $2 and token_sha256 = $3
           for update"#,
        scope.tenant().uuid(),
        session,
        shown.as_bytes(),
        REFRESH_OVERLAP.as_secs_f64()
    );
    row.fetch_optional(connection).await
}

/// Returns the earlier exchange of a locked token. A statement of its own, because one that waited for the lock does not
/// see the successor.
async fn read_exchange(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
    token: TokenRow,
) -> sqlx::Result<Option<TokenExchange>> {
    let (Some(seed), Some(successor)) = (token.seed, token.successor) else { return Ok(None) };
    let seed = seed.try_into().map_err(|_| bad_column("refresh_tokens", "seed"))?;
    let is_successor_unused = sqlx::query_scalar!(
        r#"select exists (
               select from refresh_tokens
               where tenant_id = $1 and session = $2 and token_sha256 = $3 and traded_at is null
           ) as "unused!""#,
        scope.tenant().uuid(),
        session,
        successor
    )
    .fetch_one(connection)
    .await?;
    let seed = RefreshSeed::from_bytes(seed);
    Ok(Some(TokenExchange { seed, is_recent: token.is_recent, is_successor_unused }))
}

async fn exchange_token(
    connection: &mut PgConnection,
    scope: TenantScope,
    session: &str,
    shown: Digest,
    next: NextRefresh,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update refresh_tokens set traded_at = now(), seed = $4, successor_sha256 = $5
         where tenant_id = $1 and session = $2 and token_sha256 = $3",
        scope.tenant().uuid(),
        session,
        shown.as_bytes(),
        next.seed.as_bytes(),
        next.token.as_bytes()
    )
    .execute(connection)
    .await?;
    Ok(())
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
