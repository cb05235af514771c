//! `/v1/login/link`, `/v1/me`, `/v1/tokens`: a user's command line logs in, and manages its tokens.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{CreatedTokenView, NewTokenRequest, Office, TokenView, WhoAmI};
use nightdesk_types::{Actor, ApiTokenId};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{ClientAddress, JsonBody, QueryParameters, RequestBody, SignedIn, UrlQuery};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(by_link))
        .routes(routes!(whoami))
        .routes(routes!(list_tokens, create_token))
        .routes(routes!(revoke_token))
}

/// The code of a login link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkLogin {
    /// The code, which is in the link's address.
    code: String,
}

impl RequestBody for LinkLogin {
    const EXPECTED: &'static str = "send JSON with code, from the address of a login link";
}

impl RequestBody for NewTokenRequest {
    const EXPECTED: &'static str = "send JSON with name and rights, and if needed tenant and days";
}

/// A page of tokens.
#[derive(Deserialize)]
pub(super) struct TokenPage {
    after: Option<ApiTokenId>,
}

impl QueryParameters for TokenPage {
    const EXPECTED: &'static str = "after is the id of the last token of the previous page";
}

/// Exchanges the code of a login link, once, for a token with every right of the link's user.
#[utoipa::path(
    post, path = "/v1/login/link", tag = "users",
    request_body = LinkLogin,
    responses((status = 200, description = "The token", body = CreatedTokenView), Problems)
)]
async fn by_link(
    State(api): State<ApiState>,
    ClientAddress(from): ClientAddress,
    JsonBody(LinkLogin { code }): JsonBody<LinkLogin>,
) -> Result<Json<CreatedTokenView>, Problem> {
    match api.office.log_in_by_link(&code).await {
        Ok(token) => Ok(Json(token)),
        Err(nightdesk_office::OfficeError::NotFound(_)) => Err(api.unauthorized(
            from,
            "the link is unknown, used or older than fifteen minutes; ask for a new one",
        )),
        Err(error) => Err(error.into()),
    }
}

/// Describes the user and the token.
#[utoipa::path(
    get, path = "/v1/me", tag = "users", security(("user" = [])),
    responses((status = 200, description = "The user", body = WhoAmI), Problems)
)]
async fn whoami(SignedIn(access): SignedIn) -> Json<WhoAmI> {
    Json(Office::who_am_i(&access))
}

/// Lists the user's tokens.
#[utoipa::path(
    get, path = "/v1/tokens", tag = "users", security(("user" = [])),
    params(("after" = Option<String>, Query, description = "The last token of the previous page")),
    responses((status = 200, description = "A page of tokens", body = Vec<TokenView>), Problems)
)]
async fn list_tokens(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    UrlQuery(TokenPage { after }): UrlQuery<TokenPage>,
) -> Result<Json<Vec<TokenView>>, Problem> {
    Ok(Json(api.office.tokens(&access, after).await?))
}

/// Creates a token of the user. It has no right that the caller lacks.
#[utoipa::path(
    post, path = "/v1/tokens", tag = "users", security(("user" = [])),
    request_body = NewTokenRequest,
    responses((status = 201, description = "The token, shown once", body = CreatedTokenView), Problems)
)]
async fn create_token(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    JsonBody(request): JsonBody<NewTokenRequest>,
) -> Result<(StatusCode, Json<CreatedTokenView>), Problem> {
    Ok((StatusCode::CREATED, Json(api.office.create_token(&access, &request).await?)))
}

/// Revokes a token of the user.
#[utoipa::path(
    delete, path = "/v1/tokens/{id}", tag = "users", security(("user" = [])),
    params(("id" = String, Path, description = "The token's id, or `this` for the one of the request")),
    responses((status = 204, description = "It is revoked"), Problems)
)]
async fn revoke_token(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = match (id.as_str(), access.actor) {
        ("this", Actor::Token(own)) => own,
        _ => id.parse().map_err(|_| problem::NOT_FOUND.with_detail("there is no such token"))?,
    };
    api.office.revoke_token(&access, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
