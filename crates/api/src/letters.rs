//! `/v1/letters`, `/v1/agents`: letters between agents. `/v1/webhook/…`: letters from other programs to an agent.
//!
//! The sender is the authenticated agent; a sender in the body is ignored.

mod hook;
pub(crate) mod sending;
mod responses;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use nightdesk_desk::letters::letter_sender;
use nightdesk_letters::{ConnectorError, FailureCause, LetterSender};
use nightdesk_protocol::http::letters::{
    AgentListResponse, LetterListResponse, LetterSendRequest, LetterSendResponse, SentLetter,
};
use nightdesk_types::LetterId;
use nightdesk_types::limits::LETTER_BODY_BYTES_MAX;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AuthenticatedAgent, JsonBody, QueryParameters, RequestBody, UrlQuery};
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(send, list))
        .routes(routes!(show))
        .routes(routes!(agents))
        .routes(routes!(hook::deliver))
        .routes(routes!(hook::wake))
        .routes(routes!(hook::status))
}

/// The letters of the authenticated agent.
struct SenderLetters(LetterSender);

impl FromRequestParts<ApiState> for SenderLetters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let AuthenticatedAgent(sender) = AuthenticatedAgent::from_request_parts(parts, api).await?;
        Ok(Self(letter_sender(&api.desk.letters, sender)))
    }
}

impl RequestBody for LetterSendRequest {
    const EXPECTED: &'static str =
        "send JSON with agent, message, and op: notify, deliver, wake or exchange";
    const BYTES_MAX: usize = LETTER_BODY_BYTES_MAX;
}

/// Sends a letter to an agent, asleep or not. With a `dispatch_id`, the same call again is the same letter.
#[utoipa::path(
    post, path = "/v1/letters", tag = "letters", security(("access_token" = []), ("agent" = [])),
    request_body = LetterSendRequest,
    responses((status = 200, description = "The outcome", body = LetterSendResponse), Problems)
)]
async fn send(
    State(api): State<ApiState>,
    SenderLetters(letters): SenderLetters,
    JsonBody(requested): JsonBody<LetterSendRequest>,
) -> Result<Json<LetterSendResponse>, Problem> {
    // The task goes on if the client disconnects: the bell must ring for a stored letter.
    let sending =
        api.desk.stops.tasks.spawn(async move { sending::send(&letters, requested).await });
    let stopping =
        |_| problem::UNAVAILABLE.with_detail("repeat the request with the same dispatch_id");
    Ok(Json(sending.await.map_err(stopping)??))
}

/// The page of letters that a client asks for.
#[derive(Deserialize)]
struct LetterPage {
    before: Option<LetterId>,
}

impl QueryParameters for LetterPage {
    const EXPECTED: &'static str = "before is the id of the last letter of the previous page";
}

/// Lists letters that the agent sent, newest first.
#[utoipa::path(
    get, path = "/v1/letters", tag = "letters", security(("access_token" = []), ("agent" = [])),
    params(("before" = Option<String>, Query, description = "The id of the last letter of the previous page")),
    responses((status = 200, description = "A page of letters", body = LetterListResponse), Problems)
)]
async fn list(
    SenderLetters(letters): SenderLetters,
    UrlQuery(LetterPage { before }): UrlQuery<LetterPage>,
) -> Result<Json<LetterListResponse>, Problem> {
    let found = letters.list(before).await.or_unavailable("letters could not be listed")?;
    let letters = found.into_iter().map(|letter| responses::sent_letter(letter, &[]));
    Ok(Json(LetterListResponse { letters: letters.collect() }))
}

/// Shows a letter that the agent sent, and its outcome.
#[utoipa::path(
    get, path = "/v1/letters/{id}", tag = "letters", security(("access_token" = []), ("agent" = [])),
    params(("id" = String, Path, description = "The letter's id")),
    responses((status = 200, description = "The letter and its state", body = SentLetter), Problems)
)]
async fn show(
    Path(id): Path<String>,
    SenderLetters(letters): SenderLetters,
) -> Result<Json<SentLetter>, Problem> {
    let not_found = || {
        problem::NOT_FOUND.with_detail("the agent sent no such letter; GET /v1/letters lists them")
    };
    let id = id.parse().map_err(|_| not_found())?;
    let letter =
        responses::find(&letters, id).await.or_unavailable("a letter could not be read")?;
    letter.map(Json).ok_or_else(not_found)
}

/// Lists agents that can receive letters: those of the tenant, and those of other tenants if both sides granted it.
#[utoipa::path(
    get, path = "/v1/agents", tag = "letters", security(("access_token" = []), ("agent" = [])),
    responses((status = 200, description = "All such agents", body = AgentListResponse), Problems)
)]
async fn agents(SenderLetters(letters): SenderLetters) -> Result<Json<AgentListResponse>, Problem> {
    Ok(Json(reachable(&letters).await?))
}

/// The agents that can receive letters, each with its status.
pub(crate) async fn reachable(letters: &LetterSender) -> Result<AgentListResponse, ConnectorError> {
    Ok(AgentListResponse { agents: letters.list_reachable().await? })
}

impl From<ConnectorError> for Problem {
    fn from(error: ConnectorError) -> Self {
        match error {
            ConnectorError::DeliveryFailed { cause, .. } => delivery_failed(cause),
            ConnectorError::NotImplemented(_) => {
                problem::NOT_IMPLEMENTED.with_detail("send a letter instead")
            }
            ConnectorError::Timeout { .. } => problem::NO_REPLY
                .with_detail("repeat the request with a new dispatch_id or a longer timeout_ms"),
        }
    }
}

fn delivery_failed(cause: FailureCause) -> Problem {
    match cause {
        FailureCause::UnknownAgent => problem::NO_SUCH_AGENT
            .with_detail("GET /v1/agents lists the agents that can receive letters"),
        FailureCause::Invalid(words) => problem::BAD_REQUEST.with_detail(words),
        FailureCause::Refused(words) => problem::LETTER_REFUSED.with_detail(words),
        FailureCause::Full => problem::OVER_QUOTA.with_detail(
            "the agent's inbox is full; send the letter again with the same dispatch_id after the agent has acknowledged some",
        ),
        FailureCause::TooFast { .. } => problem::TOO_MANY.with_detail(
            "at most five letters a second from one agent to one other, and fewer to some; wait",
        ),
        FailureCause::Network(_) | FailureCause::TimedOut | FailureCause::Status(_) => {
            problem::UNAVAILABLE.with_detail("send it again with the same dispatch_id")
        }
    }
}
