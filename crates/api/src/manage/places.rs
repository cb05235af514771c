//! Chats and scopes that are granted to an agent.

use axum::extract::State;
use axum::http::StatusCode;
use nightdesk_protocol::http::manage::Scope;
use nightdesk_types::GrantTarget;
use nightdesk_types::reach::EVERY_CHAT;

use super::{DONE, bot_name};
use crate::extract::{AgentCaller, JsonBody, RequestBody};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

impl RequestBody for Scope {
    const EXPECTED: &'static str = "send JSON with platform, and scopeId or chatId or both; chatId names one chat, \
                                    without it everything in the scope is meant";
}

/// Grants the agent a chat, or everything in a scope. It belongs to one agent at most.
#[utoipa::path(
    post, path = "/manage/scope", tag = "reach", security(("agent" = [])),
    request_body = Scope,
    responses((status = 204, description = "It is granted"), Problems)
)]
pub(super) async fn scope(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(scope): JsonBody<Scope>,
) -> Result<StatusCode, Problem> {
    api.desk.reach_manager.claim(&caller, bot_name(&scope.on), &read_grant(&scope)?).await?;
    Ok(DONE)
}

/// Releases a chat or scope of the agent.
#[utoipa::path(
    post, path = "/manage/scope/release", tag = "reach", security(("agent" = [])),
    request_body = Scope,
    responses((status = 204, description = "It is released"), Problems)
)]
pub(super) async fn release(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(scope): JsonBody<Scope>,
) -> Result<StatusCode, Problem> {
    api.desk.reach_manager.release(&caller, bot_name(&scope.on), &read_grant(&scope)?).await?;
    Ok(DONE)
}

/// The grant that a body names. Only the operator of a bot can grant all its chats.
fn read_grant(scope: &Scope) -> Result<GrantTarget, Problem> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    match (given(&scope.scope_id), given(&scope.chat_id)) {
        (scope, Some(chat)) if chat != EVERY_CHAT => Ok(GrantTarget::Chat { chat, scope }),
        (Some(scope), None) => Ok(GrantTarget::Scope(scope)),
        (_, Some(_)) | (None, None) => Err(problem::BAD_REQUEST.with_detail(Scope::EXPECTED)),
    }
}
