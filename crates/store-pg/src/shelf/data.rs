//! The store of data.

use async_trait::async_trait;
use nightdesk_shelf::{DataQuery, DataWriteRecord, NewData, PortableData, Records};
use nightdesk_types::limits::DATA_CLEARED_MAX;
use nightdesk_types::{StoreError, TenantScope};
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::lock_shelf;
use super::row::secs;
use crate::Pg;

type JsonFields = Map<String, Value>;

#[async_trait]
impl Records for Pg {
    async fn put_data(
        &self,
        scope: TenantScope,
        new: &NewData,
    ) -> Result<DataWriteRecord, StoreError> {
        let new = new.clone();
        run_to_end!(self.for_tenant("store data", scope), |connection| {
            let (_, now) = lock_shelf(&mut *connection, scope).await?;
            sqlx::query!(
                "select data_clear($1, $2, $3, $4)",
                scope.tenant().uuid(),
                new.id,
                now,
                DATA_CLEARED_MAX
            )
            .execute(&mut *connection)
            .await?;
            let created_at = sqlx::query_scalar!(
                r#"select data_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as "created_at!""#,
                scope.tenant().uuid(),
                new.id,
                new.content,
                new.tags.as_deref(),
                new.recipients.as_deref(),
                new.expires_at.is_some(),
                new.expires_at.flatten(),
                Json(&new.fields) as Json<&JsonFields>,
                new.metadata.as_ref().map(Json) as Option<Json<&JsonFields>>,
                i64::try_from(new.bytes()).unwrap_or(i64::MAX)
            )
            .fetch_one(connection)
            .await?;
            Ok(DataWriteRecord { id: new.id, created_at })
        })
    }

    async fn data(&self, scope: TenantScope, id: &str) -> Result<Option<PortableData>, StoreError> {
        let id = id.to_owned();
        run_to_end!(self.for_tenant("read data", scope), |connection| {
            let row = sqlx::query_as!(
                DataRow,
                r#"select data_id, content, tags, recipients, end_said, expires_at,
                       fields as "fields: Json<JsonFields>",
                       metadata as "metadata: Json<JsonFields>",
                       created_at as "created_at: jiff_sqlx::Timestamp", null::float8 as score
                   from data_entries
                   where tenant_id = $1 and data_id = $2
                     and coalesce(expires_at > extract(epoch from clock_timestamp()), true)"#,
                scope.tenant().uuid(),
                id
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(DataRow::portable))
        })
    }

    async fn query_data(
        &self,
        scope: TenantScope,
        query: &DataQuery,
    ) -> Result<Vec<PortableData>, StoreError> {
        let query = query.clone();
        let words = (!query.words.trim().is_empty()).then_some(query.words);
        run_to_end!(self.for_tenant("search data", scope), |connection| {
            let rows = sqlx::query_as!(
                DataRow,
                r#"select d.data_id, d.content, d.tags, d.recipients, d.end_said, d.expires_at,
                       d.fields as "fields: Json<JsonFields>",
                       d.metadata as "metadata: Json<JsonFields>",
                       d.created_at as "created_at: jiff_sqlx::Timestamp",
                       ts_rank_cd(d.words, asked, 32)::float8 as score
                   from data_entries d, plainto_tsquery('simple', $2::text) as asked
                   where d.tenant_id = $1
                     and coalesce(d.expires_at > extract(epoch from clock_timestamp()), true)
                     and coalesce(d.words @@ asked, true)
                     and ($3::text[] is null or coalesce(d.tags, '{}') && $3)
                     and d.fields @> $4
                   order by score desc nulls last, d.created_at desc, d.data_id
                   limit $5"#,
                scope.tenant().uuid(),
                words,
                query.tags.as_deref(),
                Json(&query.fields) as Json<&JsonFields>,
                i64::try_from(query.limit).unwrap_or(i64::MAX)
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(DataRow::portable).collect())
        })
    }
}

/// An entry.
struct DataRow {
    data_id: String,
    content: String,
    tags: Option<Vec<String>>,
    recipients: Option<Vec<String>>,
    end_said: bool,
    expires_at: Option<i64>,
    fields: Json<JsonFields>,
    metadata: Option<Json<JsonFields>>,
    created_at: jiff_sqlx::Timestamp,
    score: Option<f64>,
}

impl DataRow {
    fn portable(self) -> PortableData {
        let entry = NewData {
            id: self.data_id,
            content: self.content,
            tags: self.tags,
            recipients: self.recipients,
            expires_at: self.end_said.then_some(self.expires_at),
            fields: self.fields.0,
            metadata: self.metadata.map(|Json(metadata)| metadata),
        };
        entry.portable(secs(self.created_at), self.score)
    }
}
