//! `/v1/skills` and `/v1/data`: skills and data that the agents of a tenant share.
//!
//! The tenant and the author come from the authenticated agent. These routes remove nothing; only an operator can.

mod data;
mod skills;

use nightdesk_shelf::{DataStoreError, SkillStoreError};
use nightdesk_types::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem::{self, Problem, unavailable};
use crate::state::ApiState;

pub(crate) use skills::{StatusBody, VersionQuery};

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(skills::list, skills::write))
        .routes(routes!(skills::query))
        .routes(routes!(skills::read))
        .routes(routes!(skills::versions))
        .routes(routes!(skills::status))
        .routes(routes!(data::write))
        .routes(routes!(data::query))
        .routes(routes!(data::read))
}

impl From<SkillStoreError> for Problem {
    fn from(error: SkillStoreError) -> Self {
        match &error {
            SkillStoreError::SkillNotFound { .. } | SkillStoreError::VersionNotFound { .. } => {
                problem::NOT_FOUND.with_detail(format!("{error}; `GET /v1/skills` lists them"))
            }
            SkillStoreError::StorageConflict { .. } | SkillStoreError::LintFailure { .. } => {
                problem::SKILL_CONFLICT.with_detail(error.to_string())
            }
            SkillStoreError::ApprovalRejected { .. } => problem::NOT_APPROVED.with_detail(format!(
                "{error}; have the owner of the key sign it with `nightdesk skill approve`"
            )),
            SkillStoreError::Query { .. } => problem::BAD_REQUEST.with_detail(error.to_string()),
            SkillStoreError::Timeout { .. } => unavailable(&error, "a call about skills timed out"),
            SkillStoreError::Store(error) => store_failed(error, "a call about skills failed"),
        }
    }
}

impl From<DataStoreError> for Problem {
    fn from(error: DataStoreError) -> Self {
        match &error {
            DataStoreError::UnsupportedFilter { .. } => problem::UNSUPPORTED_FILTER.with_detail(
                format!("{error}; leave them out, or set permissive_filters: true to ignore them"),
            ),
            DataStoreError::Query { .. } => problem::BAD_REQUEST.with_detail(error.to_string()),
            DataStoreError::Timeout { .. } => unavailable(&error, "a call about data timed out"),
            DataStoreError::Store(error) => store_failed(error, "a call about data failed"),
        }
    }
}

fn store_failed(error: &StoreError, failure: &'static str) -> Problem {
    match error.over_quota() {
        Some(over) => problem::OVER_QUOTA.with_detail(format!(
            "have an operator remove unneeded items, or raise {}",
            over.quota.slug()
        )),
        None => unavailable(error, failure),
    }
}
