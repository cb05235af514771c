//! `POST /oauth/token`: a machine identity gets an access token (RFC 6749, section 4.4), or an agent
//! the next one of its session (section 6).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::token::{self, Answer, Refused};
use nightdesk_register::issuer::{Grant, NoGrant};
use nightdesk_types::limits::ACCESS_TOKEN_LIFE;
use nightdesk_vault::Key;
use serde_json::json;
use utoipa::ToSchema;

use crate::gateways::{Gateways, read_body, try_later};

/// What the RFC wants on every answer that may hold a token.
const NOT_KEPT: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

/// What is posted, for who reads the description; [`token::Request`] reads it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is told")]
struct Form {
    /// `client_credentials` or `refresh_token`.
    grant_type: String,
    client_id: String,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// A machine identity gets an access token, or an agent the next one of its session.
///
/// The stock client asks at `/api/oauth/token`, which is the same.
#[utoipa::path(
    post, path = "/oauth/token", tag = "issuer",
    params((
        "x-nous-refresh-token" = Option<String>, Header,
        description = "The refresh token, where it is not in the form",
    )),
    request_body(content = Form, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token", body = Answer),
        (status = 400, description = "An error in the words of RFC 6749"),
        (status = 401, description = "Nobody of that name and secret is known"),
    )
)]
pub(super) async fn token(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let form = match read_body(body).await {
        Ok(form) => form,
        Err(refused) => return refused,
    };
    let text = |name: &str| head.headers.get(name)?.to_str().ok();
    let authorization = text(header::AUTHORIZATION.as_str());
    let refresh = text(token::REFRESH_TOKEN_HEADER);
    match token::Request::read(&form, authorization, refresh) {
        Ok(token::Request::ClientCredentials { client_id, client_secret, scope: _ }) => {
            by_secret(&gateways, from, &client_id, &client_secret).await
        }
        // Whoever has the token has the session; the client's name adds nothing to it.
        Ok(token::Request::RefreshToken { client_id: _, refresh_token }) => {
            by_refresh(&gateways, from, &refresh_token).await
        }
        Err(Refused::InvalidClient) => unknown(&gateways, from, Refused::InvalidClient),
        Err(refused) => refuse(refused),
    }
}

async fn by_secret(gateways: &Gateways, from: SocketAddr, id: &str, secret: &Secret) -> Response {
    match gateways.issuer().token(id, secret.expose(), gateways.now()).await {
        Ok(Some(token)) => give(&token, None),
        Ok(None) => unknown(gateways, from, Refused::InvalidClient),
        Err(error) => try_later(&error, "an access token could not be given"),
    }
}

async fn by_refresh(gateways: &Gateways, from: SocketAddr, shown: &Secret) -> Response {
    match gateways.issuer().refresh(shown.expose(), gateways.now()).await {
        Ok(Ok(Grant { access, refresh })) => give(&access, Some(&refresh)),
        Ok(Err(no)) => {
            if no == NoGrant::Reused {
                tracing::warn!(
                    "a refresh token was shown again long after it was traded: two have it, so its \
                     session is over; begin another with `nightdesk issuer session`"
                );
            }
            unknown(gateways, from, Refused::InvalidGrant)
        }
        Err(error) => try_later(&error, "a session could not be refreshed"),
    }
}

/// Answers with an access token, in the words of RFC 6749.
pub(crate) fn give(token: &Key, refresh: Option<&Key>) -> Response {
    let answer = Answer {
        access_token: token.with(|text| Secret::new(text)),
        token_type: "Bearer".to_owned(),
        expires_in_secs: ACCESS_TOKEN_LIFE.as_secs(),
        refresh_token: refresh.map(|token| token.with(|text| Secret::new(text))),
        scope: None,
    };
    (NOT_KEPT, Json(answer)).into_response()
}

/// Who is unknown, has another secret or was revoked gets one and the same answer.
fn unknown(gateways: &Gateways, from: SocketAddr, refused: Refused) -> Response {
    if gateways.may_fail(from.ip()) {
        return refuse(refused);
    }
    // Not in the words that make a client forget what it has: it may be a good one's turn next.
    let body = describe(Refused::InvalidRequest, "too many bad secrets; wait a minute");
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "60")], NOT_KEPT, body).into_response()
}

fn refuse(refused: Refused) -> Response {
    let (status, description) = match refused {
        Refused::InvalidClient => (
            StatusCode::UNAUTHORIZED,
            "no live client has this id and secret; make one with `nightdesk gateway token`",
        ),
        Refused::InvalidRequest => (
            StatusCode::BAD_REQUEST,
            "send a form with grant_type, client_id and client_secret or refresh_token, each once",
        ),
        Refused::InvalidGrant => (
            StatusCode::BAD_REQUEST,
            "no live session has this refresh token; begin another with `nightdesk issuer session`",
        ),
        Refused::UnsupportedGrantType => (
            StatusCode::BAD_REQUEST,
            "only grant_type=client_credentials and refresh_token are served here",
        ),
    };
    let mut response = (status, NOT_KEPT, describe(refused, description)).into_response();
    if status == StatusCode::UNAUTHORIZED {
        let basic = axum::http::HeaderValue::from_static("Basic realm=\"nightdesk\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
    }
    response
}

fn describe(refused: Refused, description: &str) -> Json<serde_json::Value> {
    let mut body = json!(refused);
    body["error_description"] = json!(description);
    Json(body)
}
