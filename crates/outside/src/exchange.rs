//! One request and its response over an open connection.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use nightdesk_types::limits::{OUTSIDE_HEAD_BYTES_MAX, OUTSIDE_HEADERS_MAX};
use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::call::{CallError, Method, OutsideCall};
use crate::refusal::UrlRefusal;

const US: HeaderValue = HeaderValue::from_static(concat!("nightdesk/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SIGNATURE: HeaderName = HeaderName::from_static("x-signature");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The parts of a response that are read.
pub(crate) struct BoundedResponse {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// Sends the call and reads the response with its raw body, up to the maximum size.
pub(crate) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    call: &OutsideCall<'_>,
    bytes_max: usize,
) -> Result<BoundedResponse, CallError> {
    let request = request(call)?;
    let mut http = Builder::new();
    http.max_buf_size(OUTSIDE_HEAD_BYTES_MAX).max_headers(OUTSIDE_HEADERS_MAX);
    let (sender, connection) =
        http.handshake(TokioIo::new(stream)).await.map_err(CallError::unreachable)?;
    let mut connection = std::pin::pin!(connection);
    let mut ask = std::pin::pin!(send_request(sender, request, bytes_max));
    tokio::select! {
        answer = &mut ask => answer,
        // The connection may end in any way; the received bytes are still evaluated.
        _ = &mut connection => ask.await,
    }
}

async fn send_request(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    bytes_max: usize,
) -> Result<BoundedResponse, CallError> {
    let answer = sender.send_request(request).await.map_err(CallError::unreachable)?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(CallError::Redirected(status.as_u16()));
    }
    let retry_after = retry_after(answer.headers());
    Ok(BoundedResponse { status, retry_after, body: read(answer.into_body(), bytes_max).await? })
}

/// Reads only the form in seconds: a date would depend on two clocks.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    // HTTP does not allow a sign.
    let plain = seconds.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| seconds.parse().ok().map(Duration::from_secs))?
}

/// Reads the whole body, unless it is too long.
async fn read(mut body: Incoming, bytes_max: usize) -> Result<Bytes, CallError> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(CallError::unreachable)?.into_data() else {
            continue;
        };
        if read.len() + data.len() > bytes_max {
            return Err(CallError::TooLong(bytes_max));
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

fn request(call: &OutsideCall<'_>) -> Result<Request<Full<Bytes>>, CallError> {
    let mut request = Request::new(Full::new(call.body.clone().unwrap_or_default()));
    *request.method_mut() = match call.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
    };
    *request.uri_mut() = call.url.target().clone().into();
    *request.headers_mut() = headers(call)?;
    Ok(request)
}

fn headers(call: &OutsideCall<'_>) -> Result<HeaderMap, UrlRefusal> {
    let host = HeaderValue::from_str(call.url.authority()).map_err(|_| UrlRefusal::Unreadable)?;
    let mut headers = HeaderMap::new();
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, US);
    headers.insert(ACCEPT, ANYTHING);
    headers.insert(CONNECTION, CLOSE);
    if call.body.is_some() {
        headers.insert(CONTENT_TYPE, JSON);
    }
    if let Some(bearer) = call.bearer {
        let value = format!("Bearer {}", bearer.expose_secret());
        let mut value = HeaderValue::try_from(value).map_err(|_| UrlRefusal::Bearer)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    if let Some(signature) = call.signature {
        let value = HeaderValue::from_str(signature).map_err(|_| UrlRefusal::Bearer)?;
        headers.insert(SIGNATURE, value);
    }
    Ok(headers)
}
