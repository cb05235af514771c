//! Finds the holders of sessions and tokens that unproven callers present.

use std::collections::HashMap;

use nightdesk_types::{ApiTokenId, TenantId, UserId};
use nightdesk_users::{
    CredentialHolder, OpenGlass, Right, SessionTimes, StoredApiToken, StoredUserSession,
    TokenLimits,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::read_role;
use crate::lookup::Finder;
use crate::row::bad_column;

/// Finds sessions by the digests of their cookies.
pub(crate) struct SessionByCookie;

impl Finder for SessionByCookie {
    type Name = [u8; 32];
    type Found = StoredUserSession;
    const OPERATION: &'static str = "find a session of a user";

    async fn find(
        connection: &mut PgConnection,
        names: Vec<Self::Name>,
    ) -> sqlx::Result<HashMap<Self::Name, StoredUserSession>> {
        let digests: Vec<Vec<u8>> = names.iter().map(|digest| digest.to_vec()).collect();
        let rows = sqlx::query!(
            r#"select s.cookie_sha256, s.user_id, u.name,
                   s.begun_at as "begun_at: jiff_sqlx::Timestamp",
                   s.used_at as "used_at: jiff_sqlx::Timestamp",
                   now() as "now!: jiff_sqlx::Timestamp",
                   a.role_tenants as "tenants!", a.roles as "roles!", a.glass_tenants as "glass!"
               from user_sessions s join users u on u.user_id = s.user_id
                   cross join lateral door_user_access(array[s.user_id]) a
               where s.cookie_sha256 = any ($1) and s.ended_at is null"#,
            &digests
        )
        .fetch_all(connection)
        .await?;
        let found = rows.into_iter().map(|row| {
            let times =
                SessionTimes { begun_at: row.begun_at.to_jiff(), used_at: row.used_at.to_jiff() };
            let access = UserAccess { tenants: row.tenants, roles: row.roles, glass: row.glass };
            let holder = access.holder(row.user_id, row.name)?;
            let session = StoredUserSession { holder, times, now: row.now.to_jiff() };
            Ok((read_digest(row.cookie_sha256)?, session))
        });
        found.collect()
    }
}

/// Finds tokens by the digests of their texts.
pub(crate) struct TokenBySecret;

impl Finder for TokenBySecret {
    type Name = [u8; 32];
    type Found = StoredApiToken;
    const OPERATION: &'static str = "find an API token";

    async fn find(
        connection: &mut PgConnection,
        names: Vec<Self::Name>,
    ) -> sqlx::Result<HashMap<Self::Name, StoredApiToken>> {
        let digests: Vec<Vec<u8>> = names.iter().map(|digest| digest.to_vec()).collect();
        let rows = sqlx::query!(
            r#"select t.secret_sha256, t.token_id, t.user_id, u.name, t.rights, t.tenant_id,
                   t.expires_at as "expires_at: jiff_sqlx::Timestamp",
                   t.used_at as "used_at: jiff_sqlx::Timestamp",
                   now() as "now!: jiff_sqlx::Timestamp",
                   a.role_tenants as "tenants!", a.roles as "roles!", a.glass_tenants as "glass!"
               from api_tokens t join users u on u.user_id = t.user_id
                   cross join lateral door_user_access(array[t.user_id]) a
               where t.secret_sha256 = any ($1) and t.revoked_at is null"#,
            &digests
        )
        .fetch_all(connection)
        .await?;
        let found = rows.into_iter().map(|row| {
            let access = UserAccess { tenants: row.tenants, roles: row.roles, glass: row.glass };
            let token = StoredApiToken {
                id: ApiTokenId::from_uuid(row.token_id),
                holder: access.holder(row.user_id, row.name)?,
                limits: read_limits(&row.rights, row.tenant_id)?,
                expires_at: row.expires_at.to_jiff(),
                used_at: row.used_at.map(jiff_sqlx::Timestamp::to_jiff),
                now: row.now.to_jiff(),
            };
            Ok((read_digest(row.secret_sha256)?, token))
        });
        found.collect()
    }
}

/// A row of `door_user_access`.
struct UserAccess {
    tenants: Vec<Uuid>,
    roles: Vec<String>,
    glass: Vec<Uuid>,
}

impl UserAccess {
    fn holder(self, user: Uuid, name: String) -> sqlx::Result<CredentialHolder> {
        let roles = self.tenants.iter().zip(&self.roles);
        let roles = roles.map(|(tenant, role)| read_role(*tenant, role));
        let glass = self.glass.into_iter().map(TenantId::from_uuid);
        Ok(CredentialHolder {
            user: UserId::from_uuid(user),
            name,
            roles: roles.collect::<sqlx::Result<_>>()?,
            open_glass: glass.map(|tenant| OpenGlass { tenant }).collect(),
        })
    }
}

/// Reads the limits of a token.
pub(super) fn read_limits(rights: &[String], tenant: Option<Uuid>) -> sqlx::Result<TokenLimits> {
    let read =
        |name: &String| Right::from_slug(name).ok_or_else(|| bad_column("api_tokens", "rights"));
    let rights = rights.iter().map(read).collect::<sqlx::Result<_>>()?;
    Ok(TokenLimits { rights, tenant: tenant.map(TenantId::from_uuid) })
}

fn read_digest(bytes: Vec<u8>) -> sqlx::Result<[u8; 32]> {
    bytes.try_into().map_err(|_| bad_column("users", "a digest"))
}

/// Returns true if a user has a role in the desk or in a tenant that lives.
pub(super) async fn has_role(connection: &mut PgConnection, user: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select cardinality(roles) > 0 as "has_role!" from door_user_access(array[$1]::uuid[])"#,
        user
    )
    .fetch_one(connection)
    .await
}
