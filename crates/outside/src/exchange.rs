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

use crate::call::{CallError, FormPost, Method, OutsideCall, WebhookPost};
use crate::refusal::UrlRefusal;
use crate::tenant_url::TenantUrl;

const US: HeaderValue = HeaderValue::from_static(concat!("nightdesk/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const SIGNATURE: HeaderName = HeaderName::from_static("x-signature");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The parts of a response that are read.
pub(crate) struct BoundedResponse {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
    pub(crate) is_json: bool,
}

/// Sends a request and reads the response with its raw body, up to the maximum size.
pub(crate) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    request: Request<Full<Bytes>>,
    bytes_max: usize,
) -> Result<BoundedResponse, CallError> {
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
    let answer = sender.send_request(request).await.map_err(CallError::broke_off)?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(CallError::Redirected(status.as_u16()));
    }
    let (retry_after, is_json) = (retry_after(answer.headers()), is_json(answer.headers()));
    let body = read(answer.into_body(), bytes_max).await?;
    Ok(BoundedResponse { status, retry_after, body, is_json })
}

/// Reads only the form in seconds: a date would depend on two clocks.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    // HTTP does not allow a sign.
    let plain = seconds.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| seconds.parse().ok().map(Duration::from_secs))?
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Reads the whole body, unless it is too long.
async fn read(mut body: Incoming, bytes_max: usize) -> Result<Bytes, CallError> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(CallError::broke_off)?.into_data() else {
            continue;
        };
        if read.len() + data.len() > bytes_max {
            return Err(CallError::TooLong(bytes_max));
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

pub(crate) fn call_request(call: &OutsideCall<'_>) -> Result<Request<Full<Bytes>>, CallError> {
    let mut request = Request::new(Full::new(call.body.clone().unwrap_or_default()));
    *request.method_mut() = match call.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
    };
    *request.uri_mut() = call.url.target().clone().into();
    *request.headers_mut() = headers(call)?;
    Ok(request)
}

pub(crate) fn webhook_request(post: &WebhookPost<'_>) -> Result<Request<Full<Bytes>>, CallError> {
    let WebhookPost { url, id, timestamp, signatures, body, withdrawn: _ } = post;
    let header = |text: &str| HeaderValue::from_str(text).map_err(|_| UrlRefusal::Unreadable);
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = url.target().clone().into();
    let headers = request.headers_mut();
    *headers = common_headers(url)?;
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(WEBHOOK_ID, header(id)?);
    headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(*timestamp));
    headers.insert(WEBHOOK_SIGNATURE, header(signatures)?);
    Ok(request)
}

pub(crate) fn form_request(post: FormPost<'_>) -> Result<Request<Full<Bytes>>, CallError> {
    let FormPost { url, form, authorization } = post;
    let mut request = Request::new(Full::new(Bytes::from(form)));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = url.target().clone().into();
    let headers = request.headers_mut();
    *headers = common_headers(url)?;
    headers.insert(CONTENT_TYPE, FORM);
    headers.insert(ACCEPT, JSON);
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, secret_header(authorization.expose_secret())?);
    }
    Ok(request)
}

fn common_headers(url: &TenantUrl) -> Result<HeaderMap, UrlRefusal> {
    let host = HeaderValue::from_str(url.authority()).map_err(|_| UrlRefusal::Unreadable)?;
    Ok(HeaderMap::from_iter([
        (HOST, host),
        (USER_AGENT, US),
        (ACCEPT, ANYTHING),
        (CONNECTION, CLOSE),
    ]))
}

fn secret_header(text: &str) -> Result<HeaderValue, UrlRefusal> {
    let mut value = HeaderValue::try_from(text).map_err(|_| UrlRefusal::Bearer)?;
    value.set_sensitive(true);
    Ok(value)
}

fn headers(call: &OutsideCall<'_>) -> Result<HeaderMap, UrlRefusal> {
    let mut headers = common_headers(call.url)?;
    if call.body.is_some() {
        headers.insert(CONTENT_TYPE, JSON);
    }
    if let Some(bearer) = call.bearer {
        let value = secret_header(&format!("Bearer {}", bearer.expose_secret()))?;
        headers.insert(AUTHORIZATION, value);
    }
    if let Some(signature) = call.signature {
        let value = HeaderValue::from_str(signature).map_err(|_| UrlRefusal::Bearer)?;
        headers.insert(SIGNATURE, value);
    }
    Ok(headers)
}
