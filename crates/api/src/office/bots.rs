//! `/v1/tenants/{tenant}/bots`: the desk's accounts on platforms.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{
    BotAudience, BotCheck, BotConnectRequest, BotKeyRequest, BotShare, BotView, CreatedBot,
    NewBotRequest, RemovedBot, RotatedBotKey,
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{JsonBody, Manage, Read, RequestBody, TenantAccess};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list_bots, create_bot))
        .routes(routes!(connect_bot))
        .routes(routes!(remove_bot))
        .routes(routes!(check_bot))
        .routes(routes!(rotate_bot_key))
        .routes(routes!(share_bot))
}

impl RequestBody for NewBotRequest {
    const EXPECTED: &'static str = "send JSON with platform and handle, and if needed adapter, key and settings, a JSON object";
}

impl RequestBody for BotConnectRequest {
    const EXPECTED: &'static str =
        "send JSON with platform and key, and if needed webhook and test_chat";
}

impl RequestBody for BotKeyRequest {
    const EXPECTED: &'static str = "send JSON with key, and if needed overlap_secs";
}

/// The tenants whose agents may be linked on a bot.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShareRequest {
    /// True if agents of all tenants may be linked.
    shared: bool,
}

impl RequestBody for ShareRequest {
    const EXPECTED: &'static str = "send JSON with shared: true or false";
}

/// The bot of a path.
#[derive(Deserialize)]
pub(super) struct BotPath {
    bot: String,
}

/// Lists the bots on which agents of a tenant may be linked: its own, and those that other tenants share.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/bots", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The bots", body = Vec<BotView>), Problems)
)]
async fn list_bots(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<BotView>>, Problem> {
    Ok(Json(api.office.bots(scope).await?))
}

/// Creates a bot.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bots", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = NewBotRequest,
    responses((status = 201, description = "The bot", body = CreatedBot), Problems)
)]
async fn create_bot(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    JsonBody(new): JsonBody<NewBotRequest>,
) -> Result<(StatusCode, Json<CreatedBot>), Problem> {
    Ok((StatusCode::CREATED, Json(api.office.create_bot(scope, new).await?)))
}

/// Creates a bot from its platform's data, and tells the platform where to deliver its updates.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bots/connect", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = BotConnectRequest,
    responses(
        (status = 201, description = "The bot, and the remaining steps", body = serde_json::Value),
        Problems,
    )
)]
async fn connect_bot(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    JsonBody(request): JsonBody<BotConnectRequest>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    Ok((StatusCode::CREATED, Json(api.office.connect_bot(scope, request).await?)))
}

/// Removes a bot, with its key and all data of people and agents on it. It cannot be undone.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/bots/{bot}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
    ),
    responses((status = 200, description = "It is removed", body = RemovedBot), Problems)
)]
async fn remove_bot(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(BotPath { bot }): Path<BotPath>,
) -> Result<Json<RemovedBot>, Problem> {
    Ok(Json(api.office.remove_bot(scope, &bot).await?))
}

/// Queries a bot's platform for the bot's state. The faults are in `wrong`, each with its fix.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/bots/{bot}/check", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
    ),
    responses((status = 200, description = "The bot's state", body = BotCheck), Problems)
)]
async fn check_bot(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(BotPath { bot }): Path<BotPath>,
) -> Result<Json<BotCheck>, Problem> {
    Ok(Json(api.office.check_bot(scope, &bot).await?))
}

/// Gives a bot a new key. Signatures with the previous key stay valid for a while.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bots/{bot}/rotate-key", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
    ),
    request_body = BotKeyRequest,
    responses((status = 200, description = "The key is replaced", body = RotatedBotKey), Problems)
)]
async fn rotate_bot_key(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(BotPath { bot }): Path<BotPath>,
    JsonBody(request): JsonBody<BotKeyRequest>,
) -> Result<Json<RotatedBotKey>, Problem> {
    Ok(Json(api.office.rotate_bot_key(scope, &bot, request).await?))
}

/// Lets agents of other tenants be linked on a bot, or forbids it again. Existing links stay.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/bots/{bot}/share", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("bot" = String, Path, description = "The bot's id"),
    ),
    request_body = ShareRequest,
    responses((status = 200, description = "The bot", body = BotShare), Problems)
)]
async fn share_bot(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(BotPath { bot }): Path<BotPath>,
    JsonBody(ShareRequest { shared }): JsonBody<ShareRequest>,
) -> Result<Json<BotShare>, Problem> {
    let audience = if shared { BotAudience::AllTenants } else { BotAudience::OwnTenant };
    Ok(Json(api.office.share_bot(scope, &bot, audience).await?))
}
