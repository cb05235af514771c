//! The vault's store: the rows that the locksmith replaces. Sealed values stay sealed here. The desk's own secrets belong
//! to no tenant, so no row-level security covers them.

use async_trait::async_trait;
use nightdesk_types::limits::{DATA_KEY_KEPT_FOR, REKEY_ROWS_MAX, UPKEEP_ROWS_MAX};
use nightdesk_types::{DataKeyId, StoreError, TenantId, TenantScope};
use nightdesk_vault::{
    KekId, OwnRow, OwnTable, ResealedRow, RewrappedKey, SealedRow, SealedTable, Store, TenantState,
    WrappedKey, WrappedRow,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::row::bad_column;

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
            Ok(rows.into_iter().map(|row| wrapped_row(row.tenant, row.key, row.wrapped)).collect())
        })
    }

    async fn rewrap(&self, rows: &[RewrappedKey]) -> Result<u64, StoreError> {
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
        run_to_end!(self.single("read the desk's secrets"), |connection| {
            let keys = sqlx::query!("select number, sealed from signing_keys order by number");
            let keys = keys.fetch_all(&mut *connection).await?;
            let shared =
                sqlx::query!("select secret_id, sealed from desk_secrets order by secret_id");
            let shared = shared.fetch_all(connection).await?;
            let key = |number: i64| Uuid::from_u128(number.unsigned_abs().into());
            let keys = keys.into_iter().map(|row| {
                let table = OwnTable::SigningKeys;
                OwnRow { table, row: key(row.number), sealed: row.sealed }
            });
            let shared = shared.into_iter().map(|row| {
                let table = OwnTable::DeskSecrets;
                OwnRow { table, row: row.secret_id, sealed: row.sealed }
            });
            Ok(keys.chain(shared).collect())
        })
    }

    async fn reseal_own(&self, was: &OwnRow, sealed: &[u8]) -> Result<bool, StoreError> {
        let (was, sealed) = (was.clone(), sealed.to_vec());
        run_to_end!(self.single("reseal a secret of the desk"), |connection| {
            let resealed = match was.table {
                OwnTable::SigningKeys => {
                    let number = i64::try_from(was.row.as_u128())
                        .map_err(|_| bad_column("signing_keys", "number"))?;
                    sqlx::query!(
                        "update signing_keys set sealed = $3 where number = $1 and sealed = $2",
                        number,
                        was.sealed,
                        sealed
                    )
                    .execute(connection)
                    .await?
                }
                OwnTable::DeskSecrets => {
                    sqlx::query!(
                        "update desk_secrets set sealed = $3
                         where secret_id = $1 and sealed = $2",
                        was.row,
                        was.sealed,
                        sealed
                    )
                    .execute(connection)
                    .await?
                }
            };
            Ok(resealed.rows_affected() == 1)
        })
    }

    async fn shared_secret(&self, name: &str, first: &OwnRow) -> Result<OwnRow, StoreError> {
        let (name, first) = (name.to_owned(), first.clone());
        run_to_end!(self.single("share a secret"), |connection| {
            // If two nodes insert it, the first one wins and the other reads that row.
            sqlx::query!(
                "insert into desk_secrets (secret_id, name, sealed) values ($1, $2, $3)
                 on conflict do nothing",
                first.row,
                name,
                first.sealed
            )
            .execute(&mut *connection)
            .await?;
            let row =
                sqlx::query!("select secret_id, sealed from desk_secrets where name = $1", name)
                    .fetch_one(connection)
                    .await?;
            Ok(OwnRow { table: first.table, row: row.secret_id, sealed: row.sealed })
        })
    }

    async fn data_keys(&self, scope: TenantScope) -> Result<Vec<WrappedRow>, StoreError> {
        run_to_end!(self.for_tenant("read a tenant's keys", scope), |connection| {
            let rows = sqlx::query!(
                "select tenant_id, key_id, wrapped from tenant_keys where tenant_id = $1
                 order by key_id",
                scope.tenant().uuid()
            )
            .fetch_all(connection)
            .await?;
            let keys = rows.into_iter();
            Ok(keys.map(|key| wrapped_row(key.tenant_id, key.key_id, key.wrapped)).collect())
        })
    }

    async fn add_data_key(&self, scope: TenantScope, row: &WrappedRow) -> Result<bool, StoreError> {
        let row = row.clone();
        run_to_end!(self.for_tenant("store a data key", scope), |connection| {
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
                mark_replaced(connection, &row).await?;
            }
            Ok(added == 1)
        })
    }

    async fn sealed_before(
        &self,
        scope: TenantScope,
        key: DataKeyId,
    ) -> Result<Vec<SealedRow>, StoreError> {
        run_to_end!(self.for_tenant("read secrets under older keys", scope), |connection| {
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

    async fn reseal(
        &self,
        scope: TenantScope,
        key: DataKeyId,
        rows: &[ResealedRow],
    ) -> Result<u64, StoreError> {
        let rows = rows.to_vec();
        run_to_end!(self.for_tenant("reseal a tenant's secrets", scope), |connection| {
            let (bots, gateways): (Vec<_>, Vec<_>) =
                rows.into_iter().partition(|row| row.was.table == SealedTable::BotKeys);
            let gateways = ResealColumns::new(gateways);
            let bots = ResealColumns::new(bots);
            let done = reseal_gateway_secrets(connection, scope, key, &gateways).await?;
            Ok(done + reseal_bot_keys(connection, scope, key, &bots).await?)
        })
    }

    async fn erase(&self, scope: TenantScope) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("erase a tenant", scope), |connection| {
            sqlx::query!("select tenant_erase($1)", scope.tenant().uuid())
                .execute(connection)
                .await?;
            Ok(())
        })
    }

    async fn erase_texts(&self, scope: TenantScope) -> Result<u64, StoreError> {
        run_to_end!(self.for_tenant("erase a tenant's texts", scope), |connection| {
            let gone = sqlx::query_scalar!(
                r#"select tenant_erase_texts($1, $2) as "gone!""#,
                scope.tenant().uuid(),
                i64::from(UPKEEP_ROWS_MAX)
            )
            .fetch_one(connection)
            .await?;
            Ok(gone.unsigned_abs())
        })
    }

    async fn compare_erasures(&self, listed: &[TenantId]) -> Result<Vec<TenantState>, StoreError> {
        let listed: Vec<Uuid> = listed.iter().map(|tenant| tenant.uuid()).collect();
        run_to_end!(self.single("compare the list of erased tenants"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", is_erased as "is_erased!" from door_erasures($1)"#,
                &listed
            )
            .fetch_all(connection)
            .await?;
            let state =
                |tenant, is_erased| TenantState { tenant: TenantId::from_uuid(tenant), is_erased };
            Ok(rows.into_iter().map(|row| state(row.tenant, row.is_erased)).collect())
        })
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

pub(crate) fn wrapped_row(tenant: Uuid, key: i64, wrapped: Vec<u8>) -> WrappedRow {
    let tenant = TenantId::from_uuid(tenant);
    WrappedRow { tenant, key: DataKeyId::new(key), wrapped: WrappedKey(wrapped) }
}

/// Marks the older keys of the tenant as replaced, so that they seal nothing new.
async fn mark_replaced(connection: &mut PgConnection, by: &WrappedRow) -> sqlx::Result<()> {
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

/// Rows as columns, in the form of the statement's parameters.
struct ResealColumns {
    rows: Vec<Uuid>,
    was: Vec<Vec<u8>>,
    sealed: Vec<Vec<u8>>,
}

impl ResealColumns {
    fn new(resealed: Vec<ResealedRow>) -> Self {
        let rows = resealed.iter().map(|row| row.was.row).collect();
        let (was, sealed) = resealed.into_iter().map(|row| (row.was.sealed, row.sealed)).unzip();
        Self { rows, was, sealed }
    }
}

async fn reseal_gateway_secrets(
    connection: &mut PgConnection,
    scope: TenantScope,
    key: DataKeyId,
    ResealColumns { rows, was, sealed }: &ResealColumns,
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

async fn reseal_bot_keys(
    connection: &mut PgConnection,
    scope: TenantScope,
    key: DataKeyId,
    ResealColumns { rows, was, sealed }: &ResealColumns,
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
