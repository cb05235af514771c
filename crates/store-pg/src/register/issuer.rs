//! The desk's signing keys. They are no tenant's, so there is no wall around them; they are
//! sealed by a key that is not in here.

use async_trait::async_trait;
use nightdesk_register::issuer::{Issuing, StoredKey};
use nightdesk_types::StoreError;
use sqlx::PgConnection;

use crate::Pg;
use crate::row::moment;

#[async_trait]
impl Issuing for Pg {
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError> {
        self.single("read signing keys", |connection| Box::pin(live(connection))).await
    }

    async fn first_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError> {
        let key = key.clone();
        self.single("enter a signing key", move |connection| {
            Box::pin(async move {
                // Whose number is taken first wins, also when that is committed only now.
                sqlx::query!(
                    "insert into signing_keys (number, kid, sealed, used_from)
                     values ($1, $2, $3, $4) on conflict (number) do nothing",
                    key.number,
                    key.kid,
                    key.sealed,
                    moment(key.used_from) as jiff_sqlx::Timestamp
                )
                .execute(&mut *connection)
                .await?;
                live(connection).await
            })
        })
        .await
    }
}

async fn live(connection: &mut PgConnection) -> sqlx::Result<Vec<StoredKey>> {
    let rows = sqlx::query!(
        r#"select number, kid, sealed, used_from as "used_from: jiff_sqlx::Timestamp"
           from signing_keys where retired_at is null order by number"#
    )
    .fetch_all(connection)
    .await?;
    let key = |number, kid, sealed, used_from: jiff_sqlx::Timestamp| StoredKey {
        number,
        kid,
        sealed,
        used_from: used_from.to_jiff(),
    };
    Ok(rows.into_iter().map(|row| key(row.number, row.kid, row.sealed, row.used_from)).collect())
}
