//! The vault's store: the rows that the locksmith replaces. Sealed values stay sealed here.

mod data_keys;
mod erase;
mod own;

use async_trait::async_trait;
use nightdesk_types::limits::{DATA_KEY_KEPT_FOR, REKEY_ROWS_MAX, UPKEEP_ROWS_MAX};
use nightdesk_types::{DataKeyId, StoreError, TenantId, TenantScope};
use nightdesk_vault::{
    KekId, OwnRow, Resealed, Rewrapped, SealedRow, Store, WrappedKey, WrappedRow,
};
use uuid::Uuid;

use crate::Pg;

#[async_trait]
impl Store for Pg {
    async fn vault_keys(&self) -> Result<Vec<Option<KekId>>, StoreError> {
        run_to_end!(self.single("read which vault keys are in use"), |connection| {
            let ids = sqlx::query_scalar!(r#"select vault_key as "id!" from door_vault_keys()"#);
            let ids = ids.fetch_all(connection).await?;
            Ok(ids.iter().map(|id| KekId::from_bytes(id)).collect())
        })
    }

    async fn wrapped_by(&self, kek: Option<KekId>) -> Result<Vec<WrappedRow>, StoreError> {
        let kek = kek.map(|kek| kek.bytes().to_vec()).unwrap_or_default();
        run_to_end!(self.single("read wrapped keys"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", key_id as "key!", wrapped as "wrapped!"
                   from door_wrapped_by($1, $2)"#,
                kek,
                REKEY_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(|row| wrapped(row.tenant, row.key, row.wrapped)).collect())
        })
    }

    async fn rewrap(&self, rows: &[Rewrapped]) -> Result<u64, StoreError> {
        let rows = rows.to_vec();
        run_to_end!(self.single("rewrap keys"), |connection| {
            let tenants: Vec<Uuid> = rows.iter().map(|row| row.was.tenant.uuid()).collect();
            let keys: Vec<i64> = rows.iter().map(|row| row.was.key.get()).collect();
            let (was, wrapped): (Vec<_>, Vec<_>) =
                rows.into_iter().map(|row| (row.was.wrapped.0, row.wrapped.0)).unzip();
            let rewrapped = sqlx::query_scalar!(
                r#"select door_rewrap($1, $2, $3, $4) as "rewrapped!""#,
                &tenants,
                &keys,
                &was,
                &wrapped
            )
            .fetch_one(connection)
            .await?;
            Ok(rewrapped.unsigned_abs())
        })
    }

    async fn own_secrets(&self) -> Result<Vec<OwnRow>, StoreError> {
        own::all(self).await
    }

    async fn reseal_own(&self, was: &OwnRow, sealed: &[u8]) -> Result<bool, StoreError> {
        own::reseal(self, was.clone(), sealed.to_vec()).await
    }

    async fn shared_secret(&self, name: &str, first: &OwnRow) -> Result<OwnRow, StoreError> {
        own::shared(self, name.to_owned(), first.clone()).await
    }

    async fn data_keys(&self, scope: TenantScope) -> Result<Vec<WrappedRow>, StoreError> {
        data_keys::all(self, scope).await
    }

    async fn add_data_key(&self, scope: TenantScope, row: &WrappedRow) -> Result<bool, StoreError> {
        data_keys::add(self, scope, row.clone()).await
    }

    async fn sealed_before(
        &self,
        scope: TenantScope,
        key: DataKeyId,
    ) -> Result<Vec<SealedRow>, StoreError> {
        data_keys::sealed_before(self, scope, key).await
    }

    async fn reseal(
        &self,
        scope: TenantScope,
        key: DataKeyId,
        rows: &[Resealed],
    ) -> Result<u64, StoreError> {
        data_keys::reseal(self, scope, key, rows.to_vec()).await
    }

    async fn erase(&self, scope: TenantScope) -> Result<(), StoreError> {
        erase::keys(self, scope).await
    }

    async fn erase_texts(&self, scope: TenantScope) -> Result<u64, StoreError> {
        erase::texts(self, scope).await
    }

    async fn forget_ended(&self) -> Result<u64, StoreError> {
        run_to_end!(self.single("delete expired secrets"), |connection| {
            let gone = sqlx::query_scalar!(
                r#"select forget_ended(make_interval(secs => $1), $2) as "gone!""#,
                DATA_KEY_KEPT_FOR.as_secs_f64(),
                i64::from(UPKEEP_ROWS_MAX)
            )
            .fetch_one(connection)
            .await?;
            Ok(gone.unsigned_abs())
        })
    }
}

fn wrapped(tenant: Uuid, key: i64, wrapped: Vec<u8>) -> WrappedRow {
    let tenant = TenantId::from_uuid(tenant);
    WrappedRow { tenant, key: DataKeyId::new(key), wrapped: WrappedKey(wrapped) }
}
