//! People: those linked to an agent, and those on its allow list.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use nightdesk_protocol::http::manage::{AllowList, BotSelector, LinkCodeResponse, Person};
use nightdesk_register::OpenBot;
use nightdesk_types::limits::{LINK_CODE_LIFE, LISTED_AUTHORS_MAX};

use super::{DONE, bot_name};
use crate::extract::{AgentCaller, JsonBody, RequestBody};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

impl RequestBody for Person {
    const EXPECTED: &'static str =
        "send JSON with platform and userId, and botId if the platform has several bots";
}

impl RequestBody for AllowList {
    const EXPECTED: &'static str = "send JSON with platform and userIds, at most a thousand, and botId if the platform has several bots";
}

/// Issues a code. A person who sends it to one of the bots is linked to the agent.
#[utoipa::path(
    post, path = "/manage/link", tag = "reach", security(("agent" = [])),
    responses((status = 200, description = "The code, which can be used once", body = LinkCodeResponse), Problems)
)]
pub(super) async fn link(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
) -> Result<impl IntoResponse, Problem> {
    let (code, bots) = api.desk.reach_manager.link(&caller).await?;
    let bot = |bot: OpenBot| BotSelector { platform: bot.platform, bot_id: Some(bot.handle) };
    let link = LinkCodeResponse {
        code: code.with(str::to_owned),
        expires_in: LINK_CODE_LIFE.as_secs(),
        bots: bots.into_iter().map(bot).collect(),
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(link)))
}

/// Unlinks a person from the agent.
#[utoipa::path(
    post, path = "/manage/unlink", tag = "reach", security(("agent" = [])),
    request_body = Person,
    responses((status = 204, description = "The person is unlinked"), Problems)
)]
pub(super) async fn unlink(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(Person { on, user_id }): JsonBody<Person>,
) -> Result<StatusCode, Problem> {
    api.desk.reach_manager.unlink(&caller, bot_name(&on), &user_id).await?;
    Ok(DONE)
}

/// Makes this agent the one that gets the direct messages of a person who has several agents.
#[utoipa::path(
    post, path = "/manage/dm-default", tag = "reach", security(("agent" = [])),
    request_body = Person,
    responses((status = 204, description = "The agent is the default"), Problems)
)]
pub(super) async fn dm_default(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(Person { on, user_id }): JsonBody<Person>,
) -> Result<StatusCode, Problem> {
    api.desk.reach_manager.prefer(&caller, bot_name(&on), &user_id).await?;
    Ok(DONE)
}

/// Replaces the agent's allow list on a bot.
#[utoipa::path(
    post, path = "/manage/allow-list", tag = "reach", security(("agent" = [])),
    request_body = AllowList,
    responses((status = 204, description = "The list is replaced"), Problems)
)]
pub(super) async fn allow_list(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(AllowList { on, user_ids }): JsonBody<AllowList>,
) -> Result<StatusCode, Problem> {
    if user_ids.len() > LISTED_AUTHORS_MAX {
        return Err(problem::BAD_REQUEST.with_detail(AllowList::EXPECTED));
    }
    api.desk.reach_manager.list(&caller, bot_name(&on), &user_ids).await?;
    Ok(DONE)
}
