//! `POST /oauth/token`: a machine identity gets an access token (RFC 6749, section 4.4), or an agent
//! the next one of its session (section 6).

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::token::{self, TokenRequestError, TokenResponse};
use nightdesk_register::issuer::{NoGrant, TokenPair};
use nightdesk_types::limits::ACCESS_TOKEN_LIFE;
use nightdesk_vault::Key;
use serde_json::json;
use utoipa::ToSchema;

use crate::extract::read_body;
use crate::problem::{OrUnavailable, Problem};
use crate::state::ApiState;

/// The headers that the RFC requires on every response that may hold a token.
const NO_STORE: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

/// The form in the route's description; [`token::Request`] parses it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct TokenForm {
    /// `client_credentials` or `refresh_token`.
    grant_type: String,
    client_id: String,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// Issues an access token to a machine identity, or the next one of its session to an agent.
///
/// The stock client calls `/api/oauth/token`, which is the same.
#[utoipa::path(
    post, path = "/oauth/token", tag = "issuer",
    params((
        "x-nous-refresh-token" = Option<String>, Header,
        description = "The refresh token, if it is not in the form",
    )),
    request_body(content = TokenForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token", body = TokenResponse),
        (status = 400, description = "An error as RFC 6749 defines it"),
        (status = 401, description = "The client id or its secret is not valid"),
    )
)]
pub(super) async fn token(
    State(api): State<ApiState>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Result<AccessTokenResponse, TokenError> {
    let (head, body) = request.into_parts();
    let form = read_body(body).await?;
    let text = |name: &str| head.headers.get(name)?.to_str().ok();
    let authorization = text(header::AUTHORIZATION.as_str());
    let refresh = text(token::REFRESH_TOKEN_HEADER);
    match token::TokenRequest::read(&form, authorization, refresh) {
        Ok(token::TokenRequest::ClientCredentials { client_id, client_secret, scope: _ }) => {
            by_secret(&api, from, &client_id, &client_secret).await
        }
        // The refresh token alone selects the session; the client's id is not needed.
        Ok(token::TokenRequest::RefreshToken { client_id: _, refresh_token }) => {
            by_refresh(&api, from, &refresh_token).await
        }
        Err(TokenRequestError::InvalidClient) => {
            Err(refuse_client(&api, from, TokenRequestError::InvalidClient))
        }
        Err(refused) => Err(TokenError::Refused(refused)),
    }
}

async fn by_secret(
    api: &ApiState,
    from: SocketAddr,
    client_id: &str,
    secret: &Secret,
) -> Result<AccessTokenResponse, TokenError> {
    let issued = api.issuer().token(client_id, secret.expose(), api.now()).await;
    let issued = issued.or_unavailable("an access token could not be issued")?;
    let access =
        issued.ok_or_else(|| refuse_client(api, from, TokenRequestError::InvalidClient))?;
    Ok(AccessTokenResponse { access, refresh: None })
}

async fn by_refresh(
    api: &ApiState,
    from: SocketAddr,
    shown: &Secret,
) -> Result<AccessTokenResponse, TokenError> {
    let granted = api.issuer().refresh(shown.expose(), api.now()).await;
    let granted = granted.or_unavailable("a session could not be refreshed")?;
    let TokenPair { access, refresh } = granted.map_err(|no| {
        if no == NoGrant::Reused {
            tracing::warn!(
                "a refresh token was used again long after its exchange: two clients have it, so its \
                 session has ended; begin another with `nightdesk issuer session`"
            );
        }
        refuse_client(api, from, TokenRequestError::InvalidGrant)
    })?;
    Ok(AccessTokenResponse { access, refresh: Some(refresh) })
}

/// An issued access token, in the form of RFC 6749.
pub(crate) struct AccessTokenResponse {
    pub(crate) access: Key,
    pub(crate) refresh: Option<Key>,
}

impl IntoResponse for AccessTokenResponse {
    fn into_response(self) -> Response {
        let Self { access, refresh } = self;
        let answer = TokenResponse {
            access_token: access.with(|text| Secret::new(text)),
            token_type: "Bearer".to_owned(),
            expires_in_secs: ACCESS_TOKEN_LIFE.as_secs(),
            refresh_token: refresh.map(|token| token.with(|text| Secret::new(text))),
            scope: None,
        };
        (NO_STORE, Json(answer)).into_response()
    }
}

/// A request without a token as its result.
pub(super) enum TokenError {
    /// The error codes of RFC 6749.
    Refused(TokenRequestError),
    /// The address has too many failed authentications.
    TooManyFailures,
    /// The body could not be read, or the desk failed.
    Problem(Problem),
}

impl From<Problem> for TokenError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Counts a failed authentication. An unknown client, a wrong secret and a revoked client get the same response.
fn refuse_client(api: &ApiState, from: SocketAddr, refused: TokenRequestError) -> TokenError {
    if api.count_failure(from.ip()) {
        TokenError::Refused(refused)
    } else {
        TokenError::TooManyFailures
    }
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(refused) => refused_response(refused),
            Self::TooManyFailures => {
                // `invalid_client` or `invalid_grant` would make a client discard a valid credential.
                let text = "too many bad secrets; wait a minute";
                let body = describe(TokenRequestError::InvalidRequest, text);
                let later = [(header::RETRY_AFTER, "60")];
                (StatusCode::TOO_MANY_REQUESTS, later, NO_STORE, body).into_response()
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

fn refused_response(refused: TokenRequestError) -> Response {
    let (status, description) = match refused {
        TokenRequestError::InvalidClient => (
            StatusCode::UNAUTHORIZED,
            "no live client has this id and secret; create one with `nightdesk gateway token`",
        ),
        TokenRequestError::InvalidRequest => (
            StatusCode::BAD_REQUEST,
            "send a form with grant_type, client_id and client_secret or refresh_token, each once",
        ),
        TokenRequestError::InvalidGrant => (
            StatusCode::BAD_REQUEST,
            "no live session has this refresh token; begin another with `nightdesk issuer session`",
        ),
        TokenRequestError::UnsupportedGrantType => (
            StatusCode::BAD_REQUEST,
            "only grant_type=client_credentials and refresh_token are supported",
        ),
    };
    let mut response = (status, NO_STORE, describe(refused, description)).into_response();
    if status == StatusCode::UNAUTHORIZED {
        let basic = axum::http::HeaderValue::from_static("Basic realm=\"nightdesk\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
    }
    response
}

fn describe(refused: TokenRequestError, description: &str) -> Json<serde_json::Value> {
    let mut body = json!(refused);
    body["error_description"] = json!(description);
    Json(body)
}
