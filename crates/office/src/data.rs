//! Data that the agents of a tenant share.

use nightdesk_shelf::{
    DataStore as _, DataStoreError, DataWrite, DataWriteRecord, PortableData, QueryFilters,
};
use nightdesk_types::{Actor, TenantScope};
use nightdesk_users::Access;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// An entry of data in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DataEntryView {
    /// Its id.
    pub id: String,
    /// Its first line.
    pub summary: String,
    /// The writer.
    pub agent_id: Option<String>,
    /// The tags.
    pub tags: Option<Vec<String>>,
    /// The relevance for the query.
    pub score: Option<f64>,
}

impl From<PortableData> for DataEntryView {
    fn from(entry: PortableData) -> Self {
        let PortableData { id, summary, agent_id, domain_tags, score, .. } = entry;
        Self { id, summary, agent_id, tags: domain_tags, score }
    }
}

impl Office {
    /// Returns the entries of data that match the filters: best first, or newest first without words.
    pub async fn query_data(
        &self,
        scope: TenantScope,
        filters: &QueryFilters,
    ) -> Result<Vec<DataEntryView>, OfficeError> {
        let found = self.desk.stops.shelf.tenant_data(scope).query(filters).await?;
        Ok(found.into_iter().map(DataEntryView::from).collect())
    }

    /// Returns an entry of data.
    pub async fn read_data(
        &self,
        scope: TenantScope,
        id: &str,
    ) -> Result<PortableData, OfficeError> {
        let found = self.desk.stops.shelf.tenant_data(scope).get(id).await?;
        found.ok_or_else(|| {
            OfficeError::NotFound(format!(
                "there is no entry {id}, or it has expired; `nightdesk data query` lists them"
            ))
        })
    }

    /// Writes an entry of data. An identical entry of the same user is stored once.
    pub async fn write_data(
        &self,
        access: &Access,
        scope: TenantScope,
        write: &DataWrite,
    ) -> Result<DataWriteRecord, OfficeError> {
        // The writer is the user, who may come with another token the next time.
        let scope = scope.with_actor(Actor::User(access.user));
        Ok(self.desk.stops.shelf.tenant_data(scope).write(write).await?)
    }
}

impl From<DataStoreError> for OfficeError {
    fn from(error: DataStoreError) -> Self {
        match error {
            DataStoreError::Store(error) => error.into(),
            error @ (DataStoreError::UnsupportedFilter { .. }
            | DataStoreError::Query { .. }
            | DataStoreError::Timeout { .. }) => Self::Data(error),
        }
    }
}
