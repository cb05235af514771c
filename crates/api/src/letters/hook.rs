//! `/v1/webhook/{secret}/…`: letters from other programs, as the example connector of skillscript and the desk's own
//! connector post them.
//!
//! The secret in the path selects the sender. A letter also carries the secret as a bearer token, or a signature of its
//! body by it. Wakes of the example connector carry neither and name only an agent: the agent looks at its inbox.

use std::net::SocketAddr;

use aws_lc_rs::{constant_time, hmac};
use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use nightdesk_desk::letters::letter_sender;
use nightdesk_letters::{ConnectorError, LetterSender, hook_key};
use nightdesk_line::ConnectionProof;
use nightdesk_line::upgrade::bearer_token;
use nightdesk_protocol::delivery::{Delivery, DeliveryReceipt, WakeReceipt, WakeRequest};
use nightdesk_types::limits::{WEBHOOK_BYTES_MAX, WEBHOOK_READ_WAIT};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::extract::client_address;
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

/// The header of a body's signature.
const SIGNATURE: &str = "x-signature";

const EXPECTED: &str =
    "send the body of an AgentConnector 1.0 call: agent_id, kind, content or prompt, meta";

/// Accepts a letter for an agent, as the example connector posts it to its `url`.
#[utoipa::path(
    post, path = "/v1/webhook/{secret}/deliver", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "The secret that `nightdesk letter hook` printed")),
    request_body = Delivery,
    responses((status = 200, description = "The letter is stored", body = DeliveryReceipt), Problems)
)]
pub(super) async fn deliver(
    State(api): State<ApiState>,
    call: HookCall<Delivery>,
) -> Result<Json<DeliveryReceipt>, Problem> {
    let HookCall { letters, is_proven, body, from } = call;
    if !is_proven {
        let detail = "send the secret as a bearer token, or sign the body with it as X-Signature: sha256=HEX";
        return Err(api.unauthorized(from, detail));
    }
    let delivering = async move {
        letters.deliver(&body.agent_id, &body.payload).await.map(|(_, receipt)| receipt)
    };
    complete(&api, delivering).await
}

/// Wakes an agent, as the example connector asks at its `wake_url`, or with a context as the desk's connector does.
#[utoipa::path(
    post, path = "/v1/webhook/{secret}/wake", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "The secret that `nightdesk letter hook` printed")),
    request_body = WakeRequest,
    responses((status = 200, description = "The outcome of the wake", body = WakeReceipt), Problems)
)]
pub(super) async fn wake(
    State(api): State<ApiState>,
    call: HookCall<WakeRequest>,
) -> Result<Json<WakeReceipt>, Problem> {
    let HookCall { letters, is_proven, body, from } = call;
    // A wake without a proof puts no text into an inbox.
    if !is_proven && body.opts.context.is_some() {
        let detail =
            "send the secret as a bearer token, or sign the body with it, if a wake has a context";
        return Err(api.unauthorized(from, detail));
    }
    let waking = async move {
        match &body.opts.context {
            Some(_) => letters.wake(&body.agent_id, &body.opts).await.map(|(_, receipt)| receipt),
            None => letters.call_agent(&body.agent_id, body.opts.session_id.as_deref()).await,
        }
    };
    complete(&api, waking).await
}

/// Runs a call to its end, also if the client disconnects.
async fn complete<T: Send + 'static>(
    api: &ApiState,
    call: impl Future<Output = Result<T, ConnectorError>> + Send + 'static,
) -> Result<Json<T>, Problem> {
    let completed = api.desk.stops.tasks.spawn(call).await;
    Ok(Json(completed.map_err(|_| problem::UNAVAILABLE.with_detail("send it again"))??))
}

/// Reports that the webhook is valid, as the example connector asks at its `status_url`.
#[utoipa::path(
    get, path = "/v1/webhook/{secret}/status", tag = "letters", security(("letter_hook" = [])),
    params(("secret" = String, Path, description = "The secret that `nightdesk letter hook` printed")),
    responses((status = 204, description = "The webhook is valid"), Problems)
)]
pub(super) async fn status(_: HookSender) -> StatusCode {
    StatusCode::NO_CONTENT
}

/// The sender whose secret is in the path.
pub(super) struct HookSender {
    letters: LetterSender,
    secret: String,
    from: SocketAddr,
}

impl FromRequestParts<ApiState> for HookSender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let from = client_address(parts)?;
        let unreadable = |_| problem::BAD_REQUEST.with_detail("the path is not valid UTF-8");
        let path = Path::<String>::from_request_parts(parts, api).await;
        let Path(secret) = path.map_err(unreadable)?;
        let unknown = "no webhook has this secret; create one with `nightdesk letter hook`";
        let owner = api.desk.stops.letters.store.find_hook_agent(hook_key(&secret)).await;
        let owner = owner.or_unavailable("a webhook could not be found")?;
        let owner = owner.ok_or_else(|| api.unauthorized(from, unknown))?;
        ConnectionProof::record_in(&parts.extensions);
        Ok(Self { letters: letter_sender(&api.desk.letters, owner), secret, from })
    }
}

/// A call of a webhook.
pub(super) struct HookCall<T> {
    letters: LetterSender,
    /// True if the request carries the secret outside its path, or a signature by it.
    is_proven: bool,
    body: T,
    from: SocketAddr,
}

impl<T: DeserializeOwned> FromRequest<ApiState> for HookCall<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &ApiState) -> Result<Self, Problem> {
        let (mut head, body) = request.into_parts();
        let sender = HookSender::from_request_parts(&mut head, api).await?;
        let HookSender { letters, secret, from } = sender;
        let bytes = read(body).await?;
        let is_proven = is_proven(&secret, &head.headers, &bytes);
        let expected = |_| problem::BAD_REQUEST.with_detail(EXPECTED);
        let body = serde_json::from_slice(&bytes).map_err(expected)?;
        Ok(Self { letters, is_proven, body, from })
    }
}

async fn read(body: Body) -> Result<Bytes, Problem> {
    match timeout(WEBHOOK_READ_WAIT, to_bytes(body, WEBHOOK_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(problem::TOO_LARGE.with_detail("send less at a time")),
        Err(_) => Err(problem::TIMEOUT.with_detail("send the body at once")),
    }
}

/// True if a request carries the secret as a bearer token, or a signature of its body by it.
fn is_proven(secret: &str, headers: &HeaderMap, body: &Bytes) -> bool {
    let is_secret = |shown: &str| {
        constant_time::verify_slices_are_equal(shown.as_bytes(), secret.as_bytes()).is_ok()
    };
    let signature = headers.get(SIGNATURE).and_then(|shown| shown.to_str().ok());
    let signature = signature.and_then(|shown| shown.strip_prefix("sha256="));
    let signature = signature.and_then(|shown| hex::decode(shown).ok());
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    bearer_token(headers).is_some_and(is_secret)
        || signature.is_some_and(|shown| hmac::verify(&key, body, &shown).is_ok())
}
