//! Accepts connections and passes their requests to the world.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::fault::{Kind, at_gateway};
use super::gateway::socket;
use super::request::Asked;
use super::{Shared, called, control};

/// Maximum length of a request.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The fake closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("hangs up")]
pub(super) struct HungUp;

pub(super) type Answer = Result<Response<Full<Bytes>>, HungUp>;

/// Ports of the fake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// The API, and the gateway.
    Api,
    /// The gateway for resumes.
    Resume,
    /// The control.
    Control,
}

/// A connection that becomes a socket, and its query.
type Becomes = Mutex<Option<(OnUpgrade, String)>>;

pub(super) async fn serve(listener: TcpListener, shared: Shared, door: Door) {
    let mut callers = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        callers.spawn(converse(socket, shared.clone(), door));
        while callers.try_join_next().is_some() {}
    }
}

async fn converse(socket: TcpStream, shared: Shared, door: Door) {
    let is_dead = |kind: &Kind| *kind == Kind::DeadResumeUrl;
    if door == Door::Resume && at_gateway(&mut shared.world().faults, is_dead).is_some() {
        return;
    }
    // Without it, small frames wait for the acknowledgement of earlier ones.
    drop(socket.set_nodelay(true));
    let becomes = Becomes::default();
    let service = service_fn(|request| answer(&shared, door, &becomes, request));
    let http = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
    // A closed connection needs no further handling.
    drop(http.with_upgrades().await);
    let became = becomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((upgrade, query)) = became
        && let Ok(connection) = upgrade.await
    {
        socket::converse(shared, connection, query, door == Door::Resume).await;
    }
}

async fn answer(
    shared: &Shared,
    door: Door,
    becomes: &Becomes,
    mut request: Request<Incoming>,
) -> Answer {
    if let Some(key) = request.headers().get(SEC_WEBSOCKET_KEY).filter(|_| door != Door::Control) {
        let accepted = derive_accept_key(key.as_bytes());
        let query = request.uri().query().unwrap_or_default().to_owned();
        let upgrade = (hyper::upgrade::on(&mut request), query);
        *becomes.lock().unwrap_or_else(PoisonError::into_inner) = Some(upgrade);
        return Ok(switching(&accepted));
    }
    let (head, body) = request.into_parts();
    let body = Limited::new(body, REQUEST_BYTES_MAX).collect().await.map_err(|_| HungUp)?;
    let asked = Asked::read(&head.headers, head.uri.query().unwrap_or(""), &body.to_bytes());
    let path = decoded(head.uri.path());
    match (door, path.split('/').skip(1).collect::<Vec<_>>().as_slice()) {
        (Door::Control, ["control", what]) => {
            Ok(control::answer(shared, what, &asked.unwrap_or_default().body))
        }
        (Door::Api, ["api", "v10", call @ ..]) => called::answer(shared, &head, call, asked).await,
        (Door::Api, ["attachments", ..]) => Ok(file(shared, &path, asked)),
        _ => Ok(page(StatusCode::NOT_FOUND, Bytes::new())),
    }
}

/// Decodes a path, which may contain an escaped emoji.
fn decoded(path: &str) -> String {
    let escaped = path.replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
    let decoded = form_urlencoded::parse(escaped.as_bytes()).next();
    decoded.map(|(path, _)| path.into_owned()).unwrap_or_default()
}

fn switching(accepted: &str) -> Response<Full<Bytes>> {
    let mut response = page(StatusCode::SWITCHING_PROTOCOLS, Bytes::new());
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accepted) = HeaderValue::from_str(accepted) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    }
    response
}

fn file(shared: &Shared, path: &str, asked: Option<Asked>) -> Response<Full<Bytes>> {
    let (world, query) = (shared.world(), asked.unwrap_or_default().query);
    let shown = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    if !world.is_good(path, shown("ex"), shown("hm")) {
        return page(StatusCode::NOT_FOUND, Bytes::from("This content is no longer available."));
    }
    let Some((kind, bytes)) = world.files.get(path) else {
        return page(StatusCode::NOT_FOUND, Bytes::new());
    };
    let mut response = page(StatusCode::OK, bytes.clone());
    if let Ok(kind) = HeaderValue::from_str(kind) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}

pub(super) fn page(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response
}
