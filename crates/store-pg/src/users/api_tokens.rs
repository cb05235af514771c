//! API tokens.

use async_trait::async_trait;
use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::{API_TOKENS_MAX, LIST_ROWS_MAX};
use nightdesk_types::{Actor, ApiTokenId, StoreError, UserId};
use nightdesk_users::{
    ApiTokenStore, ListedApiToken, NewApiToken, Right, StoredApiToken, TokenCreation,
};

use super::access::read_limits;
use super::desk_scope;
use crate::Pg;

#[async_trait]
impl ApiTokenStore for Pg {
    async fn create_api_token(
        &self,
        by: Actor,
        user: UserId,
        new: &NewApiToken,
    ) -> Result<TokenCreation, StoreError> {
        let NewApiToken { name, secret, limits, lasts } = new.clone();
        let rights: Vec<String> =
            limits.rights.iter().map(|right| Right::slug(*right).to_owned()).collect();
        run_to_end!(self.for_tenant("create an API token", desk_scope(by)), |connection| {
            // The lock makes creations of one user wait for each other, so none exceeds the maximum.
            let live = sqlx::query_scalar!(
                r#"select (
                       select count(*) from api_tokens t
                       where t.user_id = u.user_id and t.revoked_at is null and t.expires_at > now()
                   ) as "live!"
                   from users u where u.user_id = $1 for update"#,
                user.uuid()
            )
            .fetch_optional(&mut *connection)
            .await?;
            match live {
                None => return Ok(TokenCreation::UnknownUser),
                Some(live) if live >= API_TOKENS_MAX => return Ok(TokenCreation::TooMany),
                Some(_) => {}
            }
            let id = sqlx::query_scalar!(
                "insert into api_tokens (secret_sha256, user_id, name, rights, tenant_id, expires_at)
                 values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6)) returning token_id",
                secret.as_bytes(),
                user.uuid(),
                name,
                &rights,
                limits.tenant.map(nightdesk_types::TenantId::uuid),
                lasts.as_secs_f64()
            )
            .fetch_one(connection)
            .await?;
            Ok(TokenCreation::Created(ApiTokenId::from_uuid(id)))
        })
    }

    async fn api_token(&self, shown: Digest) -> Result<Option<StoredApiToken>, StoreError> {
        self.lookups.api_tokens.find(*shown.as_bytes()).await
    }

    async fn touch_api_token(&self, id: ApiTokenId) -> Result<(), StoreError> {
        run_to_end!(self.single("record the use of an API token"), |connection| {
            sqlx::query!("update api_tokens set used_at = now() where token_id = $1", id.uuid())
                .execute(connection)
                .await?;
            Ok(())
        })
    }

    async fn api_tokens(
        &self,
        user: Option<UserId>,
        after: Option<ApiTokenId>,
    ) -> Result<Vec<ListedApiToken>, StoreError> {
        run_to_end!(self.single("list API tokens"), |connection| {
            let rows = sqlx::query!(
                r#"select token_id, user_id, name, rights, tenant_id,
                       created_at as "created_at: jiff_sqlx::Timestamp",
                       expires_at as "expires_at: jiff_sqlx::Timestamp",
                       used_at as "used_at: jiff_sqlx::Timestamp",
                       revoked_at as "revoked_at: jiff_sqlx::Timestamp"
                   from api_tokens
                   where coalesce(user_id = $1, true) and coalesce(token_id > $2, true)
                   order by token_id limit $3"#,
                user.map(UserId::uuid),
                after.map(ApiTokenId::uuid),
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let listed = rows.into_iter().map(|row| {
                Ok(ListedApiToken {
                    id: ApiTokenId::from_uuid(row.token_id),
                    user: UserId::from_uuid(row.user_id),
                    name: row.name,
                    limits: read_limits(&row.rights, row.tenant_id)?,
                    created_at: row.created_at.to_jiff(),
                    expires_at: row.expires_at.to_jiff(),
                    used_at: row.used_at.map(jiff_sqlx::Timestamp::to_jiff),
                    revoked_at: row.revoked_at.map(jiff_sqlx::Timestamp::to_jiff),
                })
            });
            listed.collect()
        })
    }

    async fn revoke_api_token(
        &self,
        by: Actor,
        id: ApiTokenId,
        of: Option<UserId>,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("revoke an API token", desk_scope(by)), |connection| {
            let revoked = sqlx::query!(
                "update api_tokens set revoked_at = now()
                 where token_id = $1 and coalesce(user_id = $2, true) and revoked_at is null",
                id.uuid(),
                of.map(UserId::uuid)
            )
            .execute(connection)
            .await?;
            Ok(revoked.rows_affected() == 1)
        })
    }
}
