//! Login links and sessions.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::SESSION_LIFE;
use nightdesk_types::{Actor, StoreError, UserId};
use nightdesk_users::{LoginStore, StoredUserSession};
use sqlx::PgConnection;

use super::{access, desk_scope};
use crate::Pg;

#[async_trait]
impl LoginStore for Pg {
    async fn create_link(
        &self,
        by: Actor,
        user: UserId,
        link: Digest,
        lasts: Duration,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("create a login link", desk_scope(by)), |connection| {
            // Links of earlier days are of no use any more.
            sqlx::query!(
                "delete from login_links where user_id = $1 and expires_at < now()",
                user.uuid()
            )
            .execute(&mut *connection)
            .await?;
            let created = sqlx::query!(
                "insert into login_links (code_sha256, user_id, expires_at)
                 select $1, user_id, now() + make_interval(secs => $3) from users where user_id = $2",
                link.as_bytes(),
                user.uuid(),
                lasts.as_secs_f64()
            )
            .execute(connection)
            .await?;
            Ok(created.rows_affected() == 1)
        })
    }

    async fn redeem_link(&self, shown: Digest) -> Result<Option<UserId>, StoreError> {
        run_to_end!(self.single("use a login link"), |connection| {
            let user = sqlx::query_scalar!(
                "with used as (
                     update login_links set used_at = now()
                     where code_sha256 = $1 and used_at is null and expires_at > now()
                     returning user_id
                 )
                 update users u set used_at = now() from used
                 where u.user_id = used.user_id
                 returning u.user_id",
                shown.as_bytes()
            )
            .fetch_optional(connection)
            .await?;
            Ok(user.map(UserId::from_uuid))
        })
    }

    async fn begin_user_session(&self, user: UserId, cookie: Digest) -> Result<bool, StoreError> {
        let scope = desk_scope(Actor::User(user));
        run_to_end!(self.for_tenant("begin a session of a user", scope), |connection| {
            if !access::has_role(connection, user.uuid()).await? {
                return Ok(false);
            }
            sqlx::query!(
                "delete from user_sessions
                 where user_id = $1 and begun_at < now() - make_interval(secs => $2)",
                user.uuid(),
                SESSION_LIFE.as_secs_f64()
            )
            .execute(&mut *connection)
            .await?;
            sqlx::query!(
                "insert into user_sessions (cookie_sha256, user_id) values ($1, $2)",
                cookie.as_bytes(),
                user.uuid()
            )
            .execute(&mut *connection)
            .await?;
            sqlx::query!("update users set used_at = now() where user_id = $1", user.uuid())
                .execute(connection)
                .await?;
            Ok(true)
        })
    }

    async fn user_session(&self, shown: Digest) -> Result<Option<StoredUserSession>, StoreError> {
        self.lookups.user_sessions.find(*shown.as_bytes()).await
    }

    async fn touch_session(&self, shown: Digest) -> Result<(), StoreError> {
        run_to_end!(self.single("record the use of a session"), |connection| {
            sqlx::query!(
                "update user_sessions set used_at = now() where cookie_sha256 = $1",
                shown.as_bytes()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn end_user_session(&self, shown: Digest) -> Result<(), StoreError> {
        let scope = desk_scope(Actor::Desk);
        run_to_end!(self.for_tenant("end a session of a user", scope), |connection| {
            sqlx::query!(
                "update user_sessions set ended_at = now()
                 where cookie_sha256 = $1 and ended_at is null",
                shown.as_bytes()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn end_user_sessions(&self, by: Actor, user: UserId) -> Result<i64, StoreError> {
        run_to_end!(self.for_tenant("end the sessions of a user", desk_scope(by)), |connection| {
            end_sessions(connection, user).await
        })
    }
}

/// Ends every session of a user. Returns their number.
pub(super) async fn end_sessions(connection: &mut PgConnection, user: UserId) -> sqlx::Result<i64> {
    let ended = sqlx::query!(
        "update user_sessions set ended_at = now() where user_id = $1 and ended_at is null",
        user.uuid()
    )
    .execute(connection)
    .await?;
    Ok(i64::try_from(ended.rows_affected()).unwrap_or(i64::MAX))
}
