//! Tools for the skills and data that the agents of a tenant share.

use nightdesk_desk::shelf::{Shelf, SkillWrite};
use nightdesk_letters::Party;
use nightdesk_mcp::ToolError;
use nightdesk_shelf::{
    CatalogueFilter, DataStoreError, DataWrite, QueryFilters, SkillStatus, SkillStoreError,
};
use nightdesk_types::StoreError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{read_arguments, write_result};

type Arguments = Map<String, Value>;

#[derive(Deserialize)]
struct ListArguments {
    #[serde(default)]
    filter: CatalogueFilter,
    if_none_match: Option<String>,
}

pub(super) async fn skill_list(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let ListArguments { filter, if_none_match } = read_arguments(arguments)?;
    let listed = shelf.skill_list(agent, &filter, if_none_match.as_deref()).await;
    write_result(listed.map_err(skill_failure)?)
}

#[derive(Deserialize)]
struct ReadArguments {
    name: String,
    version: Option<String>,
}

pub(super) async fn skill_read(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let ReadArguments { name, version } = read_arguments(arguments)?;
    write_result(shelf.skill_read(agent, &name, version.as_deref()).await.map_err(skill_failure)?)
}

pub(super) async fn skill_write(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let write: SkillWrite = read_arguments(arguments)?;
    write_result(shelf.skill_write(agent, &write).await.map_err(skill_failure)?)
}

#[derive(Deserialize)]
struct StatusArguments {
    name: String,
    new_state: SkillStatus,
}

pub(super) async fn skill_status(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let StatusArguments { name, new_state } = read_arguments(arguments)?;
    write_result(shelf.skill_status(agent, &name, new_state).await.map_err(skill_failure)?)
}

pub(super) async fn data_query(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let filters: QueryFilters = read_arguments(arguments)?;
    let items = shelf.data_query(agent, &filters).await.map_err(data_failure)?;
    Ok(json!({ "items": items }))
}

#[derive(Deserialize)]
struct IdArguments {
    id: String,
}

pub(super) async fn data_read(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let IdArguments { id } = read_arguments(arguments)?;
    write_result(shelf.data_read(agent, &id).await.map_err(data_failure)?)
}

pub(super) async fn data_write(
    shelf: &Shelf,
    agent: Party,
    arguments: Arguments,
) -> Result<Value, ToolError> {
    let write: DataWrite = read_arguments(arguments)?;
    write_result(shelf.data_write(agent, &write).await.map_err(data_failure)?)
}

fn skill_failure(error: SkillStoreError) -> ToolError {
    match error {
        SkillStoreError::Store(error) => store_failure(&error),
        SkillStoreError::Timeout { .. } => ToolError::Unavailable(error.to_string()),
        SkillStoreError::SkillNotFound { .. }
        | SkillStoreError::VersionNotFound { .. }
        | SkillStoreError::StorageConflict { .. }
        | SkillStoreError::LintFailure { .. }
        | SkillStoreError::ApprovalRejected { .. }
        | SkillStoreError::Query { .. } => ToolError::Refused(error.to_string()),
    }
}

fn data_failure(error: DataStoreError) -> ToolError {
    match error {
        DataStoreError::Store(error) => store_failure(&error),
        DataStoreError::Timeout { .. } => ToolError::Unavailable(error.to_string()),
        DataStoreError::UnsupportedFilter { .. } | DataStoreError::Query { .. } => {
            ToolError::Refused(error.to_string())
        }
    }
}

fn store_failure(error: &StoreError) -> ToolError {
    if let Some(over) = error.over_quota() {
        let quota = over.quota.slug();
        return ToolError::Refused(format!(
            "the quota is exceeded; have an operator raise {quota}"
        ));
    }
    let error = error as &dyn std::error::Error;
    tracing::warn!(error, "a tool call failed");
    ToolError::Unavailable("the desk cannot respond at the moment; call again".to_owned())
}
