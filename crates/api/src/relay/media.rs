//! `POST /relay/media` and `GET /relay/media/{id}`: files by reference.
//!
//! A frame is too small for a file. A gateway uploads the files that its agent will send, and fetches those that people
//! attached. A file that the agent may not have is not found.

use axum::Json;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use nightdesk_media::{
    MediaId, MediaLocation, MediaRecord, MemoryRequest, UploadError, UploadLabel,
};
use nightdesk_protocol::file_head::{disposition, mime};
use nightdesk_register::Caller;
use nightdesk_types::limits::{
    MEDIA_BYTES_MAX, MEDIA_NAME_BYTES_MAX, MEDIA_TAKE_WAIT, MEDIA_TURN_WAIT,
};
use serde::Serialize;
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;

use crate::extract::AgentCaller;
use crate::problem::{self, OrUnavailable, Problem, Problems, unavailable};
use crate::state::ApiState;

const FILENAME: HeaderName = HeaderName::from_static("x-media-filename");

/// Stores a file that an agent will send. Its reference is `/relay/media/{id}` of this desk, and is valid for an hour.
#[utoipa::path(
    post, path = "/relay/media", tag = "gateways", security(("agent" = [])),
    params(("x-media-filename" = Option<String>, Header, description = "The file's name")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, description = "The file is stored", body = StoredFile), Problems)
)]
pub(super) async fn put(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    request: Request,
) -> Result<Json<StoredFile>, Problem> {
    let (head, body) = request.into_parts();
    let label = UploadLabel {
        mime: header_text(&head.headers, &header::CONTENT_TYPE),
        filename: header_text(&head.headers, &FILENAME),
    };
    let media = &api.desk.stops.media;
    let memory = media.reserve_memory(upload_memory(&caller, &body)).await;
    let memory = memory.map_err(|busy| problem::UNAVAILABLE.with_detail(busy.to_string()))?;
    let (agent, bytes) = ((caller.scope, caller.agent), body.into_data_stream());
    let stored = timeout(MEDIA_TAKE_WAIT, media.store_upload(agent, label, bytes, &memory)).await;
    let late = |_| problem::TIMEOUT.with_detail("the file did not arrive in time");
    let (id, size) = stored.map_err(late)??;
    Ok(Json(StoredFile { id: id.to_string(), size }))
}

/// Returns the memory that an upload needs: the announced size, or that of the largest file.
fn upload_memory(caller: &Caller, body: &Body) -> MemoryRequest {
    let bytes_max = u64::try_from(MEDIA_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = body.size_hint().exact().map_or(bytes_max, |announced| announced.min(bytes_max));
    let until = Instant::now() + MEDIA_TURN_WAIT;
    MemoryRequest { tenant: caller.scope.tenant(), bytes, until }
}

/// Returns a file that was attached for the agent, or that the agent uploaded.
#[utoipa::path(
    get, path = "/relay/media/{id}", tag = "gateways", security(("agent" = [])),
    params(("id" = String, Path, description = "The file's id")),
    responses(
        (status = 200, description = "The file's bytes", content_type = "application/octet-stream", body = Vec<u8>),
        Problems,
    )
)]
pub(super) async fn get(
    State(api): State<ApiState>,
    Path(id): Path<String>,
    AgentCaller(caller): AgentCaller,
) -> Result<impl IntoResponse, Problem> {
    let not_found = || {
        let detail =
            "there is no such file for this agent: it may have expired, or belong to another agent";
        problem::NOT_FOUND.with_detail(detail)
    };
    let id = MediaId::parse(&id).ok_or_else(not_found)?;
    let found = api.desk.stops.accounts.read_file((caller.scope, caller.agent), id).await;
    let found = found.or_unavailable("a file could not be read")?;
    let (kept, content) = found.ok_or_else(not_found)?;
    Ok((file_headers(&kept), Body::from_stream(content.bytes)))
}

/// The headers of a file. A browser that is led here must not show it as one of our pages.
fn file_headers(kept: &MediaRecord) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let (mime, disposition) =
        (mime(kept.mime.as_deref()).to_owned(), disposition(kept.filename.as_deref()));
    for (name, text) in [(header::CONTENT_TYPE, mime), (header::CONTENT_DISPOSITION, disposition)] {
        // Both texts are ASCII, so a value is always made.
        headers.extend(HeaderValue::from_str(&text).ok().map(|value| (name, value)));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The size of a file on a platform is only the platform's claim.
    if let (MediaLocation::Here { .. }, Some(size)) = (&kept.location, kept.size) {
        headers.insert(header::CONTENT_LENGTH, size.into());
    }
    headers
}

/// The text of a header, if it is UTF-8 and not too long.
fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.as_bytes();
    let text = std::str::from_utf8(value).ok()?.trim();
    (1..=MEDIA_NAME_BYTES_MAX).contains(&text.len()).then(|| text.to_owned())
}

impl From<UploadError> for Problem {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Empty => {
                problem::BAD_REQUEST.with_detail("send the file's bytes as the body")
            }
            UploadError::TooLarge => {
                problem::TOO_LARGE.with_detail("a file has at most 25 MiB; send a smaller one")
            }
            UploadError::Full => problem::OVER_QUOTA.with_detail(
                "the tenant's files exceed one gibibyte; each is removed an hour after its upload; retry then",
            ),
            UploadError::BrokeOff(_) => {
                problem::BAD_REQUEST.with_detail("the upload broke off; send it again")
            }
            UploadError::Store(error) => unavailable(&error, "a file could not be stored"),
        }
    }
}

/// The id that the desk gave to a file.
#[derive(Serialize, ToSchema)]
pub(super) struct StoredFile {
    /// The id, for the reference.
    id: String,
    /// The size in bytes.
    size: u64,
}
