//! `/hooks/{path}`: a platform's webhook.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use nightdesk_desk::Desk;
use nightdesk_desk::inbound::{TakeError, WebhookResponse};
use nightdesk_line::ConnectionProof;
use nightdesk_port::{Entrance, SignedRequest, WebhookAnswer, WebhookMethod};
use nightdesk_types::limits::{WEBHOOK_BYTES_MAX, WEBHOOK_READ_WAIT};
use tokio::time::timeout;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<Arc<Desk>> {
    // The description has one operation: platforms, and no clients of the desk, call the others.
    OpenApiRouter::new().routes(routes!(hook)).route("/hooks/{path}", get(hook).put(hook))
}

/// Accepts a webhook of a platform, with the platform's signature.
#[utoipa::path(
    post, path = "/hooks/{path}", tag = "desk",
    params(("path" = String, Path, description = "The path that `nightdesk bot` printed")),
    request_body(content = Vec<u8>, description = "The platform's request"),
    responses(
        (status = 200, description = "The event is stored, or no agent may have it"),
        (status = 401, description = "The signature is not valid"),
        (status = 404, description = "No bot has this path"),
        (status = 503, description = "The event could not be stored: send it again"),
    )
)]
async fn hook(
    State(desk): State<Arc<Desk>>,
    Path(path): Path<String>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    // The signature covers the uncompressed bytes.
    if head.headers.contains_key(header::CONTENT_ENCODING) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "send it uncompressed").into_response();
    }
    let Some(method) = webhook_method(&head.method) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    // Bodies are read for bots that exist.
    match desk.stops.accounts.find_at(Entrance::Hook, &path).await {
        Ok(Some(_)) => {}
        Ok(None) => return StatusCode::NOT_FOUND.into_response(),
        Err(error) => return error_response(&TakeError::Register(error)),
    }
    let body = match timeout(WEBHOOK_READ_WAIT, to_bytes(body, WEBHOOK_BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let url = platform_url(&desk.stops.public_url, &head.uri);
    let posted = PostedWebhook { method, path, url, headers: head.headers, body };
    // The task goes on if the platform disconnects: the bell must ring for a stored event.
    let tasks = desk.stops.tasks.clone();
    let accepted = tasks.spawn(accept(desk, posted)).await;
    match accepted {
        Ok(Ok(response)) => {
            ConnectionProof::record_in(&head.extensions);
            response
        }
        Ok(Err(error)) => error_response(&error),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A request to the webhook of a bot.
struct PostedWebhook {
    method: WebhookMethod,
    path: String,
    url: String,
    headers: HeaderMap,
    body: Bytes,
}

fn webhook_method(method: &Method) -> Option<WebhookMethod> {
    match *method {
        Method::GET => Some(WebhookMethod::Get),
        Method::POST => Some(WebhookMethod::Post),
        Method::PUT => Some(WebhookMethod::Put),
        _ => None,
    }
}

/// Returns the URL to which the platform sent a request. It begins with the configured URL and never with a host from a
/// header, because a signature over another host's URL must not be valid here.
fn platform_url(public_url: &str, uri: &Uri) -> String {
    let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    format!("{public_url}{path}")
}

async fn accept(desk: Arc<Desk>, posted: PostedWebhook) -> Result<Response, TakeError> {
    let PostedWebhook { method, path, url, headers, body } = posted;
    let request = SignedRequest { method, url: &url, headers: &headers, body: &body };
    Ok(match desk.inbound.take(Entrance::Hook, &path, &request).await? {
        WebhookResponse::Taken { refused: _ } => StatusCode::OK.into_response(),
        WebhookResponse::Answer(WebhookAnswer { status, content_type, body }) => {
            (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
        }
    })
}

fn error_response(error: &TakeError) -> Response {
    match error {
        TakeError::NoBot => StatusCode::NOT_FOUND.into_response(),
        TakeError::Verify(_) => StatusCode::UNAUTHORIZED.into_response(),
        TakeError::TooFast(wait) => {
            let later = [(header::RETRY_AFTER, (wait.as_secs() + 1).to_string())];
            (StatusCode::TOO_MANY_REQUESTS, later).into_response()
        }
        TakeError::Store(_) | TakeError::Register(_) => {
            let error = error as &dyn Error;
            tracing::warn!(error, "a platform's request could not be stored");
            (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "2")]).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T04
    #[test]
    fn a_request_has_the_configured_url_and_no_host_of_a_header() {
        let cases = [
            ("https://desk.example", "/hooks/a", "https://desk.example/hooks/a"),
            (
                "https://desk.example/nd",
                "/hooks/a?b=1&b=2",
                "https://desk.example/nd/hooks/a?b=1&b=2",
            ),
            ("https://desk.example", "http://evil.example/hooks/a", "https://desk.example/hooks/a"),
        ];
        for (public_url, uri, want) in cases {
            assert_eq!(platform_url(public_url, &uri.parse().unwrap()), want);
        }
    }
}
