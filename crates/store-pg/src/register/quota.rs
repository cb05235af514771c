//! The tenants' quotas. Triggers and the accept enforce them.

use async_trait::async_trait;
use nightdesk_register::Quotas;
use nightdesk_types::{Quota, StoreError, TenantScope};

use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl Quotas for Pg {
    async fn quotas(&self, scope: TenantScope) -> Result<Vec<(Quota, i64)>, StoreError> {
        run_to_end!(self.for_tenant("read quotas", scope), |connection| {
            let slugs = Quota::ALL.map(|quota| quota.slug().to_owned());
            let rows = sqlx::query!(
                r#"select q as "quota!", quota_of($1, q) as "allowed!"
                   from unnest($2::text[]) as q"#,
                scope.tenant().uuid(),
                &slugs
            )
            .fetch_all(connection)
            .await?;
            let known =
                |slug: &str| Quota::from_slug(slug).ok_or_else(|| bad_column("quotas", "quota"));
            rows.into_iter().map(|row| Ok((known(&row.quota)?, row.allowed))).collect()
        })
    }

    async fn set_quota(
        &self,
        scope: TenantScope,
        quota: Quota,
        most: i64,
    ) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("set a quota", scope), |connection| {
            sqlx::query!(
                "insert into quotas (tenant_id, quota, allowed) values ($1, $2, $3)
                 on conflict (tenant_id, quota) do update
                 set allowed = excluded.allowed, set_at = now()",
                scope.tenant().uuid(),
                quota.slug(),
                most
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}
