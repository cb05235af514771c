//! `POST /relay/media` and `GET /relay/media/{id}`: files by reference.
//!
//! A frame is too small for a file. A gateway gives us what its agent will send, and fetches what people attached;
//! whatever it may not have is not there.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_media::{Kept, Lies, MediaId, TakeError, UploadLabel};
use nightdesk_protocol::file_head::{disposition, mime};
use nightdesk_types::limits::{MEDIA_NAME_BYTES_MAX, MEDIA_TAKE_WAIT};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::gateways::{Gateways, refuse, try_later};
use crate::problem::{self, Refusals};

const FILENAME: HeaderName = HeaderName::from_static("x-media-filename");

const NOT_THERE: &str =
    "there is no such file for this agent: it may have expired, or be another's";

/// Takes a file that an agent will send. Its reference is `/relay/media/{id}` of this desk; it is good for an hour.
#[utoipa::path(
    post, path = "/relay/media", tag = "gateways", security(("agent" = [])),
    params(("x-media-filename" = Option<String>, Header, description = "What it is called")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, description = "It is kept", body = Taken), Refusals)
)]
pub(super) async fn put(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let caller = match gateways.caller(&head.headers, from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let label = UploadLabel {
        mime: said(&head.headers, &header::CONTENT_TYPE),
        filename: said(&head.headers, &FILENAME),
    };
    let media = &gateways.desk.media;
    let Some(_turn) = media.turn().await else {
        return problem::UNAVAILABLE.said("too many files are being taken just now; try again");
    };
    let taking = media.take((caller.scope, caller.agent), label, body.into_data_stream());
    match timeout(MEDIA_TAKE_WAIT, taking).await {
        Ok(Ok((id, size))) => Json(Taken { id: id.to_string(), size }).into_response(),
        Ok(Err(error)) => refused(&error),
        Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the file did not come in time"),
    }
}

/// Gives out a file that an agent was told of, or gave us.
#[utoipa::path(
    get, path = "/relay/media/{id}", tag = "gateways", security(("agent" = [])),
    params(("id" = String, Path, description = "The file's name")),
    responses(
        (status = 200, description = "Its bytes", content_type = "application/octet-stream", body = Vec<u8>),
        Refusals,
    )
)]
pub(super) async fn get(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let caller = match gateways.caller(&headers, from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let Some(id) = MediaId::parse(&id) else { return problem::NOT_FOUND.said(NOT_THERE) };
    match gateways.desk.accounts.give((caller.scope, caller.agent), id).await {
        Ok(Some((kept, bytes))) => (described(&kept), Body::from_stream(bytes)).into_response(),
        Ok(None) => problem::NOT_FOUND.said(NOT_THERE),
        Err(error) => try_later(&error, "a file could not be given out"),
    }
}

/// What is said of a file before its bytes. A browser that is led here must not take it for a page of ours.
fn described(kept: &Kept) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let (mime, disposition) =
        (mime(kept.mime.as_deref()).to_owned(), disposition(kept.filename.as_deref()));
    for (name, said) in [(header::CONTENT_TYPE, mime), (header::CONTENT_DISPOSITION, disposition)] {
        // What is said of a file is plain.
        headers.extend(HeaderValue::from_str(&said).ok().map(|said| (name, said)));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Of what a platform has we know only what it said.
    if let (Lies::Here, Some(size)) = (&kept.lies, kept.size) {
        headers.insert(header::CONTENT_LENGTH, size.into());
    }
    headers
}

/// What a header says, if it is a text of bearable length.
fn said(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.as_bytes();
    let text = std::str::from_utf8(value).ok()?.trim();
    (1..=MEDIA_NAME_BYTES_MAX).contains(&text.len()).then(|| text.to_owned())
}

fn refused(error: &TakeError) -> Response {
    match error {
        TakeError::Empty => refuse(StatusCode::BAD_REQUEST, "send the file's bytes as the body"),
        TakeError::TooLarge => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, "a file has at most 25 MiB; send a smaller one")
        }
        TakeError::Full => problem::OVER_QUOTA.said(
            "the tenant's files are a gibibyte together; each goes an hour after it was given; try then",
        ),
        TakeError::BrokeOff(_) => refuse(StatusCode::BAD_REQUEST, "the file broke off; send it again"),
        TakeError::Store(error) => try_later(error, "a file could not be put away"),
    }
}

/// What the desk calls a file.
#[derive(Serialize, ToSchema)]
struct Taken {
    /// Its name, for the reference.
    id: String,
    /// How many bytes it has.
    size: u64,
}
