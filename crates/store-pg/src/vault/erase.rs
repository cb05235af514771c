//! Erases a tenant.

use nightdesk_types::limits::UPKEEP_ROWS_MAX;
use nightdesk_types::{StoreError, TenantScope};

use crate::Pg;

pub(super) async fn keys(store: &Pg, scope: TenantScope) -> Result<(), StoreError> {
    store
        .scoped("erase a tenant", scope, move |connection| {
            Box::pin(async move {
                sqlx::query!("select tenant_erase($1)", scope.tenant().uuid())
                    .execute(connection)
                    .await?;
                Ok(())
            })
        })
        .await
}

pub(super) async fn texts(store: &Pg, scope: TenantScope) -> Result<u64, StoreError> {
    store
        .scoped("erase a tenant's texts", scope, move |connection| {
            Box::pin(async move {
                let gone = sqlx::query_scalar!(
                    r#"select tenant_erase_texts($1, $2) + shelf_erase($1, $2) as "gone!""#,
                    scope.tenant().uuid(),
                    i64::from(UPKEEP_ROWS_MAX)
                )
                .fetch_one(connection)
                .await?;
                Ok(gone.unsigned_abs())
            })
        })
        .await
}
