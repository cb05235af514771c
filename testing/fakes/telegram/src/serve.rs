//! Serves HTTP, and passes requests to the world.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::fault::{Kind, take};
use super::methods::{Answered, files, refused};
use super::request::Asked;
use super::world::Called;
use super::{Shared, control, methods, polls};

/// Maximum length of a request.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The fake closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("hangs up")]
struct HungUp;

pub(super) async fn serve(listener: TcpListener, shared: Shared) {
    let mut callers = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        callers.spawn(converse(socket, shared.clone()));
        while callers.try_join_next().is_some() {}
    }
}

async fn converse(socket: TcpStream, shared: Shared) {
    let answer = service_fn(|request| answer(&shared, request));
    // A closed connection needs no further handling.
    drop(http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await);
}

async fn answer(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, HungUp> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, REQUEST_BYTES_MAX).collect().await.map_err(|_| HungUp)?;
    let asked = Asked::read(&head.headers, head.uri.query().unwrap_or(""), &body.to_bytes());
    let path = decoded(head.uri.path());
    let path: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match path.as_slice() {
        ["control", what] => Ok(written(control::answer(shared, what, &asked))),
        ["file", bot, _, id] if bot.starts_with("bot") => Ok(download(shared, &bot[3..], id)),
        [bot, method] if bot.starts_with("bot") => called(shared, &bot[3..], method, &asked).await,
        _ => Ok(written(Err(refused(404, "Not Found")))),
    }
}

/// Decodes a path: some clients escape the colon of a token.
fn decoded(path: &str) -> String {
    let escaped = path.replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
    let decoded = form_urlencoded::parse(escaped.as_bytes()).next();
    decoded.map(|(path, _)| path.into_owned()).unwrap_or_default()
}

async fn called(
    shared: &Shared,
    token: &str,
    method: &str,
    asked: &Asked,
) -> Result<Response<Full<Bytes>>, HungUp> {
    let fault = take(&mut shared.world().faults, method);
    match &fault {
        Some(Kind::HangUp) => return Err(HungUp),
        Some(Kind::Silence(span)) => {
            sleep(*span).await;
            return Err(HungUp);
        }
        Some(Kind::Garbage) => return Ok(page("<html>no</html>".to_owned(), StatusCode::OK)),
        Some(Kind::Refuse { status, description, retry_after }) => {
            let no = Err((*status, description.clone()));
            note(shared, token, method, asked, &no);
            return Ok(limited(no, *retry_after));
        }
        Some(Kind::DoAndHangUp | Kind::Repeat | Kind::OutOfOrder) | None => {}
    }
    let answered = if method.eq_ignore_ascii_case("getUpdates") {
        polls::updates(shared, token, asked, fault.as_ref()).await
    } else {
        shared.change(|world| methods::answer(world, token, method, asked))
    };
    note(shared, token, method, asked, &answered);
    if fault == Some(Kind::DoAndHangUp) {
        return Err(HungUp);
    }
    Ok(written(answered))
}

fn note(shared: &Shared, token: &str, method: &str, asked: &Asked, answered: &Answered) {
    let called = Called {
        token: token.to_owned(),
        method: method.to_owned(),
        asked: asked.0.clone(),
        answered: answered.clone(),
    };
    shared.change(|world| world.calls.push(called));
}

fn written(answered: Answered) -> Response<Full<Bytes>> {
    limited(answered, None)
}

fn limited(answered: Answered, retry_after: Option<u64>) -> Response<Full<Bytes>> {
    let (status, mut body) = match answered {
        Ok(result) => (200, json!({ "ok": true, "result": result })),
        Err((status, description)) => {
            (status, json!({ "ok": false, "error_code": status, "description": description }))
        }
    };
    if let Some(retry_after) = retry_after {
        body["parameters"] = json!({ "retry_after": retry_after });
    }
    page(body.to_string(), StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST))
}

fn download(shared: &Shared, token: &str, id: &str) -> Response<Full<Bytes>> {
    if shared.world().bot(token).is_none() {
        return written(Err(refused(401, "Unauthorized")));
    }
    page(files::content(id), StatusCode::OK)
}

fn page(body: String, status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
}
