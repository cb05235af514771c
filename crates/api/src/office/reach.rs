//! `/v1/tenants/{tenant}/agents/{agent}/reach`, `…/link-codes`, `…/bindings`, `…/grants`: who reaches an agent.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{AgentReachView, BindingView, ChatGrantView, LinkCodeView, read_principal};
use nightdesk_register::AgentOnBot;
use nightdesk_types::{AgentId, GrantTarget, Principal, TenantScope};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AgentAccess, JsonBody, Manage, QueryParameters, Read, RequestBody, UrlQuery};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(show_reach, open_agent))
        .routes(routes!(create_link_code))
        .routes(routes!(bind_person, unbind_person))
        .routes(routes!(prefer_agent))
        .routes(routes!(grant_chat, release_chat))
        .routes(routes!(allow_moderation))
}

/// The people that an agent is open to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenToRequest {
    /// `owner-only`, `allow-list` or `any`.
    open_to: String,
}

impl RequestBody for OpenToRequest {
    const EXPECTED: &'static str = "send JSON with open_to: owner-only, allow-list or any";
}

/// The people that a grant is open to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantRequest {
    /// `owner-only`, `allow-list` or `any`. Default: `owner-only`.
    #[serde(default)]
    open_to: Option<String>,
}

impl RequestBody for GrantRequest {
    const EXPECTED: &'static str =
        "send JSON, and if needed with open_to: owner-only, allow-list or any";
}

/// The bot and the person of a path.
#[derive(Deserialize)]
pub(super) struct BindingPath {
    bot: String,
    author: String,
}

/// The bot and the chat of a path.
#[derive(Deserialize)]
pub(super) struct GrantPath {
    bot: String,
    chat: String,
}

/// The scope of a chat.
#[derive(Deserialize)]
pub(super) struct ChatScope {
    scope: Option<String>,
}

impl QueryParameters for ChatScope {
    const EXPECTED: &'static str = "scope is the guild, workspace or server of the chat";
}

impl ChatScope {
    fn target(&self, chat: &str) -> GrantTarget {
        GrantTarget::for_chat(self.scope.as_deref().filter(|scope| !scope.is_empty()), chat)
    }
}

fn on_bot(scope: TenantScope, agent: AgentId, bot: &str) -> Result<AgentOnBot, Problem> {
    let unknown = "the path names no bot's id; `nightdesk bot list` shows the ids";
    let bot = bot.parse().map_err(|_| problem::NOT_FOUND.with_detail(unknown))?;
    Ok(AgentOnBot { scope, agent, bot })
}

/// Shows the people, chats and scopes that reach an agent.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/reach", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The reach", body = AgentReachView), Problems)
)]
async fn show_reach(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
) -> Result<Json<AgentReachView>, Problem> {
    Ok(Json(api.office.reach(scope, agent).await?))
}

/// Sets the people that an agent is open to, in its grants and in later ones.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/reach", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = OpenToRequest,
    responses((status = 200, description = "The reach", body = AgentReachView), Problems)
)]
async fn open_agent(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(request): JsonBody<OpenToRequest>,
) -> Result<Json<AgentReachView>, Problem> {
    let open_to = read_principal(&request.open_to)?;
    Ok(Json(api.office.open_agent(scope, agent, open_to).await?))
}

/// Creates a code. A person who sends it to one of the bots is linked to the agent.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/link-codes", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 201, description = "The code, shown once", body = LinkCodeView), Problems)
)]
async fn create_link_code(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<(StatusCode, Json<LinkCodeView>), Problem> {
    Ok((StatusCode::CREATED, Json(api.office.create_link_code(scope, agent).await?)))
}

/// Binds a person on a platform to their agent. On a bot of another tenant, only an operator may.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("author" = String, Path, description = "The person, by the platform's id"),
    ),
    responses((status = 200, description = "The person is bound", body = BindingView), Problems)
)]
async fn bind_person(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Manage>,
    Path(BindingPath { bot, author }): Path<BindingPath>,
) -> Result<Json<BindingView>, Problem> {
    let on = on_bot(scope, agent, &bot)?;
    Ok(Json(api.office.bind_person(&access, on, &author).await?))
}

/// Removes a binding.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("author" = String, Path, description = "The person, by the platform's id"),
    ),
    responses((status = 200, description = "The person is not bound any more", body = BindingView), Problems)
)]
async fn unbind_person(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    Path(BindingPath { bot, author }): Path<BindingPath>,
) -> Result<Json<BindingView>, Problem> {
    Ok(Json(api.office.unbind_person(on_bot(scope, agent, &bot)?, &author).await?))
}

/// Makes the agent a bound person's preferred one where nothing else selects an agent.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}/prefer",
    tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("author" = String, Path, description = "The person, by the platform's id"),
    ),
    responses((status = 200, description = "The agent is preferred", body = BindingView), Problems)
)]
async fn prefer_agent(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    Path(BindingPath { bot, author }): Path<BindingPath>,
) -> Result<Json<BindingView>, Problem> {
    Ok(Json(api.office.prefer_agent(on_bot(scope, agent, &bot)?, &author).await?))
}

/// Grants a chat, a scope or a bot to an agent. On a bot of another tenant, only an operator may.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("chat" = String, Path, description = "The chat, by the platform's id; `*` for every chat of the scope, or of the bot"),
        ("scope" = Option<String>, Query, description = "The chat's guild, workspace or server"),
    ),
    request_body = GrantRequest,
    responses((status = 200, description = "It is granted", body = ChatGrantView), Problems)
)]
async fn grant_chat(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Manage>,
    Path(GrantPath { bot, chat }): Path<GrantPath>,
    UrlQuery(of): UrlQuery<ChatScope>,
    JsonBody(request): JsonBody<GrantRequest>,
) -> Result<Json<ChatGrantView>, Problem> {
    let on = on_bot(scope, agent, &bot)?;
    let open_to = request.open_to.as_deref().map_or(Ok(Principal::OwnerOnly), read_principal)?;
    Ok(Json(api.office.grant_chat(&access, on, &of.target(&chat), open_to).await?))
}

/// Removes a grant.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("chat" = String, Path, description = "The chat, by the platform's id; `*` for every chat of the scope, or of the bot"),
        ("scope" = Option<String>, Query, description = "The chat's guild, workspace or server"),
    ),
    responses((status = 200, description = "It is removed", body = ChatGrantView), Problems)
)]
async fn release_chat(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    Path(GrantPath { bot, chat }): Path<GrantPath>,
    UrlQuery(of): UrlQuery<ChatScope>,
) -> Result<Json<ChatGrantView>, Problem> {
    Ok(Json(api.office.release_chat(on_bot(scope, agent, &bot)?, &of.target(&chat)).await?))
}

/// Lets an agent change messages of other agents in a chat, or on a bot, that is granted to it, until the grant is
/// removed. On a bot of another tenant, only an operator may.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}/moderation",
    tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
        ("chat" = String, Path, description = "The chat, by the platform's id; `*` for every chat of the bot"),
        ("scope" = Option<String>, Query, description = "The chat's guild, workspace or server"),
    ),
    responses((status = 200, description = "The agent may", body = ChatGrantView), Problems)
)]
async fn allow_moderation(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Manage>,
    Path(GrantPath { bot, chat }): Path<GrantPath>,
    UrlQuery(of): UrlQuery<ChatScope>,
) -> Result<Json<ChatGrantView>, Problem> {
    let on = on_bot(scope, agent, &bot)?;
    Ok(Json(api.office.allow_moderation(&access, on, &of.target(&chat)).await?))
}
