//! `/v1/webhook/{secret}/…`: what others send for an agent, as the example connector of skillscript does it, and as ours does.
//!
//! The secret in the path says whose letters these are. A letter also shows it as a bearer, or signs its body with it. The
//! example's wakes show nothing and say nothing but whom: they have the agent look at what waits for it.

use std::net::SocketAddr;
use std::sync::Arc;

use aws_lc_rs::{constant_time, hmac};
use axum::Json;
use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use nightdesk_courier::hook_key;
use nightdesk_desk::Letters;
use nightdesk_line::upgrade::bearer;
use nightdesk_protocol::delivery::{Delivery, DeliveryReceipt, WakeReceipt, WakeRequest};
use nightdesk_types::limits::{WEBHOOK_BYTES_MAX, WEBHOOK_READ_WAIT};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::refused;
use crate::gateways::{Gateways, try_later};
use crate::problem::{self, Refusals};

/// Where a body's signature stands.
const SIGNATURE: &str = "x-signature";

/// Takes a letter for an agent, as the example connector posts it to its `url`.
#[utoipa::path(
    post, path = "/v1/webhook/{secret}/deliver", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "As `nightdesk letter hook` printed it")),
    request_body = Delivery,
    responses((status = 200, description = "It is kept", body = DeliveryReceipt), Refusals)
)]
pub(super) async fn deliver(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(secret): Path<String>,
    request: Request,
) -> Response {
    let called = match called::<Delivery>(&gateways, from, &secret, request).await {
        Ok(called) => called,
        Err(refused) => return refused,
    };
    let Called { letters, is_proven, body } = called;
    if !is_proven {
        let how = "show the secret as a bearer token, or sign the body with it as X-Signature: sha256=HEX";
        return gateways.unauthorized(from, how);
    }
    let tasks = gateways.desk.tasks.clone();
    let kept =
        async move { letters.deliver(&body.agent_id, &body.payload).await.map(|(_, kept)| kept) };
    match tasks.spawn(kept).await {
        Ok(Ok(receipt)) => Json(receipt).into_response(),
        Ok(Err(error)) => refused(&error),
        Err(_) => problem::UNAVAILABLE.said("send it again"),
    }
}

/// Wakes an agent, as the example connector asks at its `wake_url`, or with a context as ours does.
#[utoipa::path(
    post, path = "/v1/webhook/{secret}/wake", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "As `nightdesk letter hook` printed it")),
    request_body = WakeRequest,
    responses((status = 200, description = "Whether it was woken", body = WakeReceipt), Refusals)
)]
pub(super) async fn wake(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(secret): Path<String>,
    request: Request,
) -> Response {
    let called = match called::<WakeRequest>(&gateways, from, &secret, request).await {
        Ok(called) => called,
        Err(refused) => return refused,
    };
    let Called { letters, is_proven, body } = called;
    // The example's wakes prove nothing, so such a one puts no words into anybody's inbox.
    if !is_proven && body.opts.context.is_some() {
        let how =
            "a wake with a context shows the secret as a bearer token, or signs its body with it";
        return gateways.unauthorized(from, how);
    }
    let tasks = gateways.desk.tasks.clone();
    let woken = async move {
        match &body.opts.context {
            Some(_) => letters.wake(&body.agent_id, &body.opts).await.map(|(_, woken)| woken),
            None => letters.rouse(&body.agent_id, body.opts.session_id.as_deref()).await,
        }
    };
    match tasks.spawn(woken).await {
        Ok(Ok(receipt)) => Json(receipt).into_response(),
        Ok(Err(error)) => refused(&error),
        Err(_) => problem::UNAVAILABLE.said("send it again"),
    }
}

/// Whether the webhook is good, as the example connector asks at its `status_url`.
#[utoipa::path(
    get, path = "/v1/webhook/{secret}/status", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "As `nightdesk letter hook` printed it")),
    responses((status = 204, description = "It is"), Refusals)
)]
pub(super) async fn status(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(secret): Path<String>,
) -> Response {
    match letters(&gateways, from, &secret).await {
        Ok(_) => axum::http::StatusCode::NO_CONTENT.into_response(),
        Err(refused) => refused,
    }
}

/// What was called, and by whom.
struct Called<T> {
    letters: Letters,
    is_proven: bool,
    body: T,
}

async fn called<T: DeserializeOwned>(
    gateways: &Gateways,
    from: SocketAddr,
    secret: &str,
    request: Request,
) -> Result<Called<T>, Response> {
    let letters = letters(gateways, from, secret).await?;
    let (head, body) = request.into_parts();
    let bytes = match timeout(WEBHOOK_READ_WAIT, to_bytes(body, WEBHOOK_BYTES_MAX)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return Err(problem::TOO_LARGE.said("send less at a time")),
        Err(_) => return Err(problem::TIMEOUT.said("send the body at once")),
    };
    let is_proven = is_proven(secret, &head.headers, &bytes);
    let body = serde_json::from_slice(&bytes).map_err(|_| {
        let wants =
            "send what AgentConnector 1.0 hands over: agent_id, kind, content or prompt, meta";
        problem::BAD_REQUEST.said(wants)
    })?;
    Ok(Called { letters, is_proven, body })
}

/// The letters of whose secret this is.
async fn letters(gateways: &Gateways, from: SocketAddr, secret: &str) -> Result<Letters, Response> {
    match gateways.desk.courier.store.hook_at(hook_key(secret)).await {
        Ok(Some(party)) => Ok(Letters::by(&gateways.desk, party)),
        Ok(None) => Err(gateways.unauthorized(
            from,
            "no webhook has this secret; have one made by nightdesk letter hook",
        )),
        Err(error) => Err(try_later(&error, "a webhook could not be found")),
    }
}

/// Whether a request shows the secret apart from its path, or signs its body with it.
fn is_proven(secret: &str, headers: &HeaderMap, body: &Bytes) -> bool {
    let same = |shown: &str| {
        constant_time::verify_slices_are_equal(shown.as_bytes(), secret.as_bytes()).is_ok()
    };
    let signature = headers.get(SIGNATURE).and_then(|shown| shown.to_str().ok());
    let signature = signature.and_then(|shown| shown.strip_prefix("sha256="));
    let signature = signature.and_then(|shown| hex::decode(shown).ok());
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    bearer(headers).is_some_and(same)
        || signature.is_some_and(|shown| hmac::verify(&key, body, &shown).is_ok())
}
