//! `POST /hooks/{path}`: a platform's webhook.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::Desk;
use nightdesk_desk::inbound::{TakeError, WebhookResponse};
use nightdesk_line::ConnectionProof;
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_types::limits::{WEBHOOK_BYTES_MAX, WEBHOOK_READ_WAIT};
use tokio::time::timeout;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<Arc<Desk>> {
    OpenApiRouter::new().routes(routes!(hook))
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
    // The task goes on if the platform disconnects: the bell must ring for a stored event.
    let tasks = desk.stops.tasks.clone();
    let accepted = tasks.spawn(accept(desk, path, head.headers, body)).await;
    match accepted {
        Ok(Ok(response)) => {
            ConnectionProof::record_in(&head.extensions);
            response
        }
        Ok(Err(error)) => error_response(&error),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn accept(
    desk: Arc<Desk>,
    path: String,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, TakeError> {
    let request = SignedRequest { headers: &headers, body: &body };
    Ok(match desk.inbound.take(Entrance::Hook, &path, &request).await? {
        WebhookResponse::Taken { refused: _ } => StatusCode::OK.into_response(),
        WebhookResponse::Challenge(answer) | WebhookResponse::Told(answer) => {
            ([(header::CONTENT_TYPE, "application/json")], answer).into_response()
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
