//! The desk's own secrets. They belong to no tenant, so no row-level security covers them.

use nightdesk_types::StoreError;
use nightdesk_vault::{OwnRow, OwnTable};
use uuid::Uuid;

use crate::Pg;
use crate::row::misfit;

pub(super) async fn all(store: &Pg) -> Result<Vec<OwnRow>, StoreError> {
    run_to_end!(store.single("read the desk's secrets"), |connection| {
        let keys = sqlx::query!("select number, sealed from signing_keys order by number");
        let keys = keys.fetch_all(&mut *connection).await?;
        let shared = sqlx::query!("select secret_id, sealed from desk_secrets order by secret_id");
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

pub(super) async fn reseal(store: &Pg, was: OwnRow, sealed: Vec<u8>) -> Result<bool, StoreError> {
    run_to_end!(store.single("reseal a secret of the desk"), |connection| {
        let resealed = match was.table {
            OwnTable::SigningKeys => {
                let number = i64::try_from(was.row.as_u128())
                    .map_err(|_| misfit("signing_keys", "number"))?;
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

pub(super) async fn shared(store: &Pg, name: String, first: OwnRow) -> Result<OwnRow, StoreError> {
    run_to_end!(store.single("share a secret"), |connection| {
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
        let row = sqlx::query!("select secret_id, sealed from desk_secrets where name = $1", name)
            .fetch_one(connection)
            .await?;
        Ok(OwnRow { table: first.table, row: row.secret_id, sealed: row.sealed })
    })
}
