//! Data keys and the rows that they seal.

use nightdesk_types::limits::REKEY_ROWS_MAX;
use nightdesk_types::{DataKeyId, StoreError, TenantScope};
use nightdesk_vault::{Resealed, SealedRow, SealedTable, WrappedKey, WrappedRow};
use sqlx::PgConnection;
use uuid::Uuid;

use super::wrapped;
use crate::Pg;

pub(super) async fn all(store: &Pg, scope: TenantScope) -> Result<Vec<WrappedRow>, StoreError> {
    run_to_end!(store.for_tenant("read a tenant's keys", scope), |connection| {
        let rows = sqlx::query!(
            "select tenant_id, key_id, wrapped from tenant_keys where tenant_id = $1
             order by key_id",
            scope.tenant().uuid()
        )
        .fetch_all(connection)
        .await?;
        let row = |tenant, key, bytes: Vec<u8>| wrapped(tenant, key, bytes);
        Ok(rows.into_iter().map(|r| row(r.tenant_id, r.key_id, r.wrapped)).collect())
    })
}

pub(super) async fn add(
    store: &Pg,
    scope: TenantScope,
    row: WrappedRow,
) -> Result<bool, StoreError> {
    run_to_end!(store.for_tenant("store a data key", scope), |connection| {
        let added = sqlx::query!(
            "insert into tenant_keys (tenant_id, key_id, wrapped) values ($1, $2, $3)
             on conflict do nothing",
            row.tenant.uuid(),
            row.key.get(),
            row.wrapped.0
        )
        .execute(&mut *connection)
        .await?
        .rows_affected();
        if added == 1 {
            replace(connection, &row).await?;
        }
        Ok(added == 1)
    })
}

/// Marks the older keys of the tenant as replaced, so that they seal nothing new.
async fn replace(connection: &mut PgConnection, by: &WrappedRow) -> sqlx::Result<()> {
    sqlx::query!(
        "update tenant_keys set replaced_at = now()
         where tenant_id = $1 and key_id < $2 and replaced_at is null",
        by.tenant.uuid(),
        by.key.get()
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn sealed_before(
    store: &Pg,
    scope: TenantScope,
    key: DataKeyId,
) -> Result<Vec<SealedRow>, StoreError> {
    run_to_end!(store.for_tenant("read secrets under older keys", scope), |connection| {
        let rows = sqlx::query!(
            r#"select s.is_bot as "is_bot!", s.id as "id!", s.sealed as "sealed!",
                   s.key_id as "key_id!", k.wrapped
               from (
                   select false as is_bot, secret_id as id, sealed, key_id
                   from gateway_secrets where tenant_id = $1
                   union all
                   select true, bot_key_id, sealed, key_id
                   from bot_keys where tenant_id = $1
               ) as s join tenant_keys k on k.tenant_id = $1 and k.key_id = s.key_id
               where s.key_id < $2
               limit $3"#,
            scope.tenant().uuid(),
            key.get(),
            REKEY_ROWS_MAX
        )
        .fetch_all(connection)
        .await?;
        let table = |is_bot| {
            if is_bot { SealedTable::BotKeys } else { SealedTable::GatewaySecrets }
        };
        Ok(rows
            .into_iter()
            .map(|row| SealedRow {
                table: table(row.is_bot),
                row: row.id,
                sealed: row.sealed,
                key: DataKeyId::new(row.key_id),
                wrapped: WrappedKey(row.wrapped),
            })
            .collect())
    })
}

pub(super) async fn reseal(
    store: &Pg,
    scope: TenantScope,
    key: DataKeyId,
    rows: Vec<Resealed>,
) -> Result<u64, StoreError> {
    run_to_end!(store.for_tenant("reseal a tenant's secrets", scope), |connection| {
        let (bots, gateways): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.was.table == SealedTable::BotKeys);
        let gateways = Columns::of(gateways);
        let bots = Columns::of(bots);
        let done = gateway_secrets(connection, scope, key, &gateways).await?;
        Ok(done + bot_keys(connection, scope, key, &bots).await?)
    })
}

/// Rows as columns, in the form of the statement's parameters.
struct Columns {
    rows: Vec<Uuid>,
    was: Vec<Vec<u8>>,
    sealed: Vec<Vec<u8>>,
}

impl Columns {
    fn of(resealed: Vec<Resealed>) -> Self {
        let rows = resealed.iter().map(|row| row.was.row).collect();
        let (was, sealed) = resealed.into_iter().map(|row| (row.was.sealed, row.sealed)).unzip();
        Self { rows, was, sealed }
    }
}

async fn gateway_secrets(
    connection: &mut PgConnection,
    scope: TenantScope,
    key: DataKeyId,
    Columns { rows, was, sealed }: &Columns,
) -> sqlx::Result<u64> {
    let resealed = sqlx::query!(
        "update gateway_secrets s set sealed = r.sealed, key_id = $2
         from unnest($3::uuid[], $4::bytea[], $5::bytea[]) as r (id, was, sealed)
         where s.tenant_id = $1 and s.secret_id = r.id and s.sealed = r.was",
        scope.tenant().uuid(),
        key.get(),
        rows,
        was,
        sealed
    );
    Ok(resealed.execute(connection).await?.rows_affected())
}

async fn bot_keys(
    connection: &mut PgConnection,
    scope: TenantScope,
    key: DataKeyId,
    Columns { rows, was, sealed }: &Columns,
) -> sqlx::Result<u64> {
    let resealed = sqlx::query!(
        "update bot_keys b set sealed = r.sealed, key_id = $2
         from unnest($3::uuid[], $4::bytea[], $5::bytea[]) as r (id, was, sealed)
         where b.tenant_id = $1 and b.bot_key_id = r.id and b.sealed = r.was",
        scope.tenant().uuid(),
        key.get(),
        rows,
        was,
        sealed
    );
    Ok(resealed.execute(connection).await?.rows_affected())
}
