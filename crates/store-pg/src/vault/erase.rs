//! Erases a tenant.

use nightdesk_types::limits::UPKEEP_ROWS_MAX;
use nightdesk_types::{StoreError, TenantScope};

use crate::Pg;

pub(super) async fn keys(store: &Pg, scope: TenantScope) -> Result<(), StoreError> {
    run_to_end!(store.for_tenant("erase a tenant", scope), |connection| {
        sqlx::query!("select tenant_erase($1)", scope.tenant().uuid()).execute(connection).await?;
        Ok(())
    })
}

pub(super) async fn texts(store: &Pg, scope: TenantScope) -> Result<u64, StoreError> {
    run_to_end!(store.for_tenant("erase a tenant's texts", scope), |connection| {
        let gone = sqlx::query_scalar!(
            r#"select tenant_erase_texts($1, $2) + shelf_erase($1, $2) as "gone!""#,
            scope.tenant().uuid(),
            i64::from(UPKEEP_ROWS_MAX)
        )
        .fetch_one(connection)
        .await?;
        Ok(gone.unsigned_abs())
    })
}
