//! Tools for what the agents of a tenant share.

use nightdesk_desk::shelf::{Asker, Shelf, SkillWrite};
use nightdesk_mcp::Failed;
use nightdesk_shelf::{
    CatalogueFilter, DataStoreError, DataWrite, QueryFilters, SkillStatus, SkillStoreError,
};
use nightdesk_types::StoreError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{given, told};

type Arguments = Map<String, Value>;

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    filter: CatalogueFilter,
    if_none_match: Option<String>,
}

pub(super) async fn skill_list(shelf: &Shelf, by: Asker, with: Arguments) -> Result<Value, Failed> {
    let List { filter, if_none_match } = given(with)?;
    let listed = shelf.skill_list(by, &filter, if_none_match.as_deref()).await;
    told(listed.map_err(no_skill)?)
}

#[derive(Deserialize)]
struct Read {
    name: String,
    version: Option<String>,
}

pub(super) async fn skill_read(shelf: &Shelf, by: Asker, with: Arguments) -> Result<Value, Failed> {
    let Read { name, version } = given(with)?;
    told(shelf.skill_read(by, &name, version.as_deref()).await.map_err(no_skill)?)
}

pub(super) async fn skill_write(
    shelf: &Shelf,
    by: Asker,
    with: Arguments,
) -> Result<Value, Failed> {
    let write: SkillWrite = given(with)?;
    told(shelf.skill_write(by, &write).await.map_err(no_skill)?)
}

#[derive(Deserialize)]
struct Status {
    name: String,
    new_state: SkillStatus,
}

pub(super) async fn skill_status(
    shelf: &Shelf,
    by: Asker,
    with: Arguments,
) -> Result<Value, Failed> {
    let Status { name, new_state } = given(with)?;
    told(shelf.skill_status(by, &name, new_state).await.map_err(no_skill)?)
}

pub(super) async fn data_query(shelf: &Shelf, by: Asker, with: Arguments) -> Result<Value, Failed> {
    let filters: QueryFilters = given(with)?;
    let items = shelf.data_query(by, &filters).await.map_err(no_data)?;
    Ok(json!({ "items": items }))
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

pub(super) async fn data_read(shelf: &Shelf, by: Asker, with: Arguments) -> Result<Value, Failed> {
    let Id { id } = given(with)?;
    told(shelf.data_read(by, &id).await.map_err(no_data)?)
}

pub(super) async fn data_write(shelf: &Shelf, by: Asker, with: Arguments) -> Result<Value, Failed> {
    let write: DataWrite = given(with)?;
    told(shelf.data_write(by, &write).await.map_err(no_data)?)
}

fn no_skill(error: SkillStoreError) -> Failed {
    match error {
        SkillStoreError::Store(error) => failed(&error),
        SkillStoreError::Timeout { .. } => Failed::Unavailable(error.to_string()),
        SkillStoreError::SkillNotFound { .. }
        | SkillStoreError::VersionNotFound { .. }
        | SkillStoreError::StorageConflict { .. }
        | SkillStoreError::LintFailure { .. }
        | SkillStoreError::ApprovalRejected { .. }
        | SkillStoreError::Query { .. } => Failed::Refused(error.to_string()),
    }
}

fn no_data(error: DataStoreError) -> Failed {
    match error {
        DataStoreError::Store(error) => failed(&error),
        DataStoreError::Timeout { .. } => Failed::Unavailable(error.to_string()),
        DataStoreError::UnsupportedFilter { .. } | DataStoreError::Query { .. } => {
            Failed::Refused(error.to_string())
        }
    }
}

fn failed(error: &StoreError) -> Failed {
    if let Some(over) = error.over_quota() {
        let quota = over.quota.slug();
        return Failed::Refused(format!("there is no room; have an operator raise {quota}"));
    }
    let error = error as &dyn std::error::Error;
    tracing::warn!(error, "a tool could not be used");
    Failed::Unavailable("the desk cannot do it just now; call again".to_owned())
}
