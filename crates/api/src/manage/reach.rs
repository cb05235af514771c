//! The whole reach of an agent.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use nightdesk_protocol::http::{manage, policy};
use nightdesk_register::AgentReach;
use nightdesk_types::{BotId, GrantTarget, Principal, Relevance};

use super::DONE;
use crate::extract::{AgentCaller, JsonBody, RequestBody};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

impl RequestBody for manage::Principal {
    const EXPECTED: &'static str = "send JSON with principal: owner-only, allow-list or any";
}

/// Shows the people, chats and scopes that reach the agent.
#[utoipa::path(
    get, path = "/manage", tag = "reach", security(("agent" = [])),
    responses((status = 200, description = "The whole reach", body = manage::Reach), Problems)
)]
pub(super) async fn show(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
) -> Result<Json<manage::Reach>, Problem> {
    Ok(Json(reach_body(&api.desk.reach_manager.show(&caller).await?)))
}

/// Sets the people who may reach the agent in chats and scopes that are granted to it.
#[utoipa::path(
    post, path = "/manage/principal", tag = "reach", security(("agent" = [])),
    request_body = manage::Principal,
    responses((status = 204, description = "It is set"), Problems)
)]
pub(super) async fn principal(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(body): JsonBody<manage::Principal>,
) -> Result<StatusCode, Problem> {
    let unknown = || problem::BAD_REQUEST.with_detail(manage::Principal::EXPECTED);
    let principal = Principal::from_slug(&body.principal).ok_or_else(unknown)?;
    api.desk.reach_manager.open_to(&caller, principal).await?;
    Ok(DONE)
}

/// Removes the whole reach of the agent and revokes its gateways.
#[utoipa::path(
    post, path = "/manage/deprovision", tag = "reach", security(("agent" = [])),
    responses((status = 204, description = "The agent is deprovisioned"), Problems)
)]
pub(super) async fn deprovision(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
) -> Result<StatusCode, Problem> {
    api.desk.reach_manager.deprovision(&caller).await?;
    Ok(DONE)
}

fn reach_body(reach: &AgentReach) -> manage::Reach {
    let AgentReach { principal, people, grants, listed, relevance } = reach;
    manage::Reach {
        principal: principal.slug().to_owned(),
        people: people.iter().map(|(bot, author)| person(*bot, author)).collect(),
        scopes: grants
            .iter()
            .map(|(bot, granted, principal)| place(*bot, granted, *principal))
            .collect(),
        allow_list: listed.iter().map(|(bot, author)| person(*bot, author)).collect(),
        policies: relevance
            .iter()
            .map(|(platform, relevance)| policy_body(platform, relevance))
            .collect(),
    }
}

fn person(bot: BotId, author: &str) -> manage::BotPerson {
    manage::BotPerson { bot: bot.to_string(), user_id: author.to_owned() }
}

fn place(bot: BotId, granted: &GrantTarget, principal: Principal) -> manage::GrantedPlace {
    let (scope_id, chat_id) = match granted.clone() {
        GrantTarget::Chat { chat, scope } => (scope, Some(chat)),
        GrantTarget::Scope(scope) => (Some(scope), None),
        GrantTarget::Bot => (None, None),
    };
    manage::GrantedPlace {
        bot: bot.to_string(),
        scope_id,
        chat_id,
        principal: principal.slug().to_owned(),
    }
}

fn policy_body(platform: &str, relevance: &Relevance) -> policy::PolicyRequest {
    let Relevance { require_address, free_scopes, allow_other_bots, continues_threads: _ } =
        relevance.clone();
    policy::PolicyRequest {
        platform: platform.to_owned(),
        require_address,
        free_response_scopes: free_scopes,
        allow_other_bots,
    }
}
