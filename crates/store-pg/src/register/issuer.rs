//! The desk's signing keys. They belong to no tenant, so no row-level security covers them; they are sealed by a key
//! that is not in the database.

use async_trait::async_trait;
use nightdesk_register::issuer::{Issuing, KeyAlgorithm, StoredKey};
use nightdesk_types::{Actor, StoreError, TenantScope};
use sqlx::PgConnection;

use crate::Pg;
use crate::row::{bad_column, moment};

#[async_trait]
impl Issuing for Pg {
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError> {
        run_to_end!(self.single("read signing keys"), |connection| all_keys(connection).await)
    }

    async fn enter_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError> {
        let key = key.clone();
        run_to_end!(self.single("store a signing key"), |connection| {
            // The first insert of a number wins, also if it commits only now.
            sqlx::query!(
                "insert into signing_keys (number, kid, algorithm, sealed, used_from)
                 values ($1, $2, $3, $4, $5) on conflict (number) do nothing",
                key.number,
                key.kid,
                key.algorithm.slug(),
                key.sealed,
                moment(key.used_from) as jiff_sqlx::Timestamp
            )
            .execute(&mut *connection)
            .await?;
            all_keys(connection).await
        })
    }

    async fn retire_signing_key(&self, by: Actor, kid: &str) -> Result<bool, StoreError> {
        let kid = kid.to_owned();
        let by = TenantScope::desk_own().with_actor(by);
        run_to_end!(self.for_tenant("retire a signing key", by), |connection| {
            let found = sqlx::query!(
                "update signing_keys set retired_at = coalesce(retired_at, now())
                 where kid = $1",
                kid
            )
            .execute(connection)
            .await?;
            Ok(found.rows_affected() == 1)
        })
    }
}

async fn all_keys(connection: &mut PgConnection) -> sqlx::Result<Vec<StoredKey>> {
    let rows = sqlx::query!(
        r#"select number, kid, algorithm, sealed, retired_at is not null as "retired!",
               used_from as "used_from: jiff_sqlx::Timestamp"
           from signing_keys order by number"#
    )
    .fetch_all(connection)
    .await?;
    let keys = rows.into_iter().map(|row| {
        let algorithm = KeyAlgorithm::from_slug(&row.algorithm);
        Ok(StoredKey {
            number: row.number,
            kid: row.kid,
            algorithm: algorithm.ok_or_else(|| bad_column("signing_keys", "algorithm"))?,
            sealed: row.sealed,
            used_from: row.used_from.to_jiff(),
            retired: row.retired,
        })
    });
    keys.collect()
}
