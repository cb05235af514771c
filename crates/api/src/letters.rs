//! `/v1/letters`, `/v1/agents`: what agents send to each other. `/v1/webhook/…`: what others send for one.
//!
//! Who sends is the agent of the proof that was shown; what a body says of it is not asked.

mod hook;
pub(crate) mod sending;
mod shown;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use nightdesk_courier::{Cause, ConnectorError, Party};
use nightdesk_desk::Letters;
use nightdesk_protocol::http::letters::{Agent, Agents, List, Send, Sent, Shown};
use nightdesk_types::LetterId;
use nightdesk_types::limits::LETTER_BODY_BYTES_MAX;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::agent_cron::agent_of;
use crate::gateways::{Gateways, read_json_up_to, try_later};
use crate::problem::{self, Refusals};

const WANTS: &str = "send JSON with agent, message, and op: notify, deliver, wake or exchange";

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(send, list))
        .routes(routes!(show))
        .routes(routes!(agents))
        .routes(routes!(hook::deliver))
        .routes(routes!(hook::wake))
        .routes(routes!(hook::status))
}

/// Letters of whoever shows a proof.
async fn letters(
    gateways: &Gateways,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<Letters, Response> {
    let (scope, agent) = agent_of(gateways, headers, from).await?;
    Ok(Letters::by(&gateways.desk, Party { scope, agent }))
}

/// Sends a letter to an agent, asleep or not. With a `dispatch_id`, the same call again is the same letter.
#[utoipa::path(
    post, path = "/v1/letters", tag = "letters", security(("access_token" = []), ("agent" = [])),
    request_body = Send,
    responses((status = 200, description = "What came of it", body = Sent), Refusals)
)]
async fn send(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let letters = match letters(&gateways, &head.headers, from).await {
        Ok(letters) => letters,
        Err(refused) => return refused,
    };
    let asked: Send = match read_json_up_to(LETTER_BODY_BYTES_MAX, body, WANTS).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    // Whoever hangs up does not stop the work: what was stored must be rung for.
    let tasks = gateways.desk.tasks.clone();
    let sent = tasks.spawn(async move { sending::send(&letters, asked).await }).await;
    match sent {
        Ok(Ok(sent)) => Json(sent).into_response(),
        Ok(Err(error)) => refused(&error),
        Err(_) => problem::UNAVAILABLE.said("ask again with the same dispatch_id"),
    }
}

/// Letters that the agent sent, newest first.
#[utoipa::path(
    get, path = "/v1/letters", tag = "letters", security(("access_token" = []), ("agent" = [])),
    params(("before" = Option<String>, Query, description = "The last letter of the page before")),
    responses((status = 200, description = "A page of them", body = List), Refusals)
)]
async fn list(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let letters = match letters(&gateways, &headers, from).await {
        Ok(letters) => letters,
        Err(refused) => return refused,
    };
    let before = uri.query().and_then(|query| query.strip_prefix("before="));
    match letters.list(before.and_then(|id| id.parse::<LetterId>().ok())).await {
        Ok(found) => {
            let letters = found.into_iter().map(|letter| shown::shown(letter, &[]));
            Json(List { letters: letters.collect() }).into_response()
        }
        Err(error) => try_later(&error, "letters could not be listed"),
    }
}

/// A letter that the agent sent, and what came of it.
#[utoipa::path(
    get, path = "/v1/letters/{id}", tag = "letters", security(("access_token" = []), ("agent" = [])),
    params(("id" = String, Path, description = "The letter's id")),
    responses((status = 200, description = "How it stands", body = Shown), Refusals)
)]
async fn show(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let letters = match letters(&gateways, &headers, from).await {
        Ok(letters) => letters,
        Err(refused) => return refused,
    };
    let nothing =
        || problem::NOT_FOUND.said("the agent sent no such letter; GET /v1/letters lists them");
    let Ok(id) = id.parse() else { return nothing() };
    match shown::looked_up(&letters, id).await {
        Ok(Some(letter)) => Json(letter).into_response(),
        Ok(None) => nothing(),
        Err(error) => try_later(&error, "a letter could not be looked at"),
    }
}

/// Who can be written to: the tenant's own agents, and those of others if both sides granted it.
#[utoipa::path(
    get, path = "/v1/agents", tag = "letters", security(("access_token" = []), ("agent" = [])),
    responses((status = 200, description = "All of them", body = Agents), Refusals)
)]
async fn agents(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    let letters = match letters(&gateways, &headers, from).await {
        Ok(letters) => letters,
        Err(refused) => return refused,
    };
    match reachable(&letters).await {
        Ok(agents) => Json(agents).into_response(),
        Err(error) => refused(&error),
    }
}

/// Who can be written to, and how it stands with each.
pub(crate) async fn reachable(letters: &Letters) -> Result<Agents, ConnectorError> {
    let found = letters.reachable().await?;
    Ok(Agents {
        agents: found.into_iter().map(|(agent, status)| Agent { agent, status }).collect(),
    })
}

/// What whoever sent a letter is told when it was not handed over.
fn refused(error: &ConnectorError) -> Response {
    let cause = match error {
        ConnectorError::DeliveryFailed { cause, .. } => cause,
        ConnectorError::NotImplemented(_) => {
            return problem::NOT_IMPLEMENTED.said("send a letter instead");
        }
        ConnectorError::Timeout { .. } => {
            return problem::NO_REPLY
                .said("ask again with a new dispatch_id or a longer timeout_ms");
        }
    };
    match cause {
        Cause::UnknownAgent => {
            problem::NO_SUCH_AGENT.said("GET /v1/agents lists who can be written to")
        }
        Cause::Invalid(words) => problem::BAD_REQUEST.said(words),
        Cause::Refused(words) => problem::LETTER_REFUSED.said(words),
        Cause::Full => problem::OVER_QUOTA.said(
            "the agent's inbox is full; send it again with the same dispatch_id when it took some",
        ),
        Cause::TooFast { .. } => problem::TOO_MANY.said(
            "at most five letters a second from one agent to one other, and fewer to some; wait",
        ),
        Cause::Network(_) | Cause::TimedOut | Cause::Status(_) => {
            problem::UNAVAILABLE.said("send it again with the same dispatch_id")
        }
    }
}
