//! `/v1/sessions/stop`, `/v1/letters/{id}/stop`: running turns are stopped.
//!
//! An agent stops its own turns, and those of its tenant's other agents if the operator allowed it. The sender of a letter
//! stops the turn on it.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use nightdesk_desk::LimitedAction;
use nightdesk_desk::letters::letter_sender;
use nightdesk_desk::stopping::{StopOrder, StopOrigin, StopRefusal, StopReport, StopSession};
use nightdesk_letters::Party;
use nightdesk_protocol::http::stops::{StopResponse, StopSessionRequest};
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::event::{ChatType, Source};
use nightdesk_types::limits::PLATFORM_ID_BYTES_MAX;
use nightdesk_types::{LetterId, StopOutcome};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AuthenticatedAgent, JsonBody, RequestBody};
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(stop_session)).routes(routes!(stop_letter))
}

/// An agent that stops turns. The call counts against its rate of stops.
struct StoppingAgent(Party);

impl FromRequestParts<ApiState> for StoppingAgent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let AuthenticatedAgent(agent) = AuthenticatedAgent::from_request_parts(parts, api).await?;
        api.count_call(LimitedAction::Stop, agent)?;
        Ok(Self(agent))
    }
}

impl RequestBody for StopSessionRequest {
    const EXPECTED: &'static str = "send JSON with session_key, or with platform and chat_id, and in shared chats \
                                    chat_type and user_id";
}

/// Stops the running turn of a session, on any node.
#[utoipa::path(
    post, path = "/v1/sessions/stop", tag = "stops", security(("access_token" = []), ("agent" = [])),
    request_body = StopSessionRequest,
    responses((status = 200, description = "The outcome", body = StopResponse), Problems)
)]
async fn stop_session(
    State(api): State<ApiState>,
    StoppingAgent(caller): StoppingAgent,
    JsonBody(request): JsonBody<StopSessionRequest>,
) -> Result<Json<StopResponse>, Problem> {
    stop(&api, caller, request, StopOrigin::Route).await.map(Json)
}

/// Stops the recipient's running turn on a letter that the agent sent.
#[utoipa::path(
    post, path = "/v1/letters/{id}/stop", tag = "stops", security(("access_token" = []), ("agent" = [])),
    params(("id" = String, Path, description = "The letter's id")),
    responses((status = 200, description = "The outcome", body = StopResponse), Problems)
)]
async fn stop_letter(
    State(api): State<ApiState>,
    StoppingAgent(caller): StoppingAgent,
    Path(id): Path<String>,
) -> Result<Json<StopResponse>, Problem> {
    let not_found = || {
        problem::NOT_FOUND.with_detail("the agent sent no such letter; GET /v1/letters lists them")
    };
    let id: LetterId = id.parse().map_err(|_| not_found())?;
    let letters = letter_sender(&api.desk.letters, caller);
    let outcome = letters.stop(id).await?.ok_or_else(not_found)?;
    Ok(Json(response(StopReport { outcome, dropped: 0 })))
}

/// Stops a session of the caller, or of another agent that the caller may stop.
pub(crate) async fn stop(
    api: &ApiState,
    caller: Party,
    request: StopSessionRequest,
    origin: StopOrigin,
) -> Result<StopResponse, Problem> {
    const UNREAD: &str = "a session could not be stopped";
    let stopping = &api.desk.stopping;
    let drops_waiting = request.drop_waiting;
    let session = read_session(&request)
        .ok_or_else(|| problem::BAD_REQUEST.with_detail(StopSessionRequest::EXPECTED))?;
    let found = stopping.find_permitted(caller, request.agent.as_deref()).await;
    let agent = found.or_unavailable(UNREAD)?.map_err(refusal)?;
    let order = StopOrder { session, origin, drops_waiting };
    let report = stopping.stop(agent, &order).await.or_unavailable(UNREAD)?;
    Ok(response(report))
}

fn response(report: StopReport) -> StopResponse {
    let StopReport { outcome, dropped } = report;
    StopResponse { outcome: StopOutcome::slug(outcome).to_owned(), dropped }
}

fn refusal(refusal: StopRefusal) -> Problem {
    match refusal {
        StopRefusal::UnknownAgent => problem::NO_SUCH_AGENT
            .with_detail("agent is no name or id of an agent of the tenant; GET /v1/agents lists them"),
        StopRefusal::NotPermitted => problem::FORBIDDEN.with_detail(
            "an agent stops its own turns only; an operator allows more with `nightdesk agent let-stop`",
        ),
    }
}

/// Reads the session of a request. `None`: it names none.
pub(crate) fn read_session(request: &StopSessionRequest) -> Option<StopSession> {
    let StopSessionRequest {
        session_key, platform, chat_id, chat_type, thread_id, user_id, ..
    } = request;
    let key = match session_key {
        Some(key) => Some(SessionKey::new(key.as_str())?),
        None => None,
    };
    let is_id = |id: &str| (1..=PLATFORM_ID_BYTES_MAX).contains(&id.len());
    let chat_type = match chat_type.as_deref() {
        Some(named) => ChatType::from_name(named)?,
        None => ChatType::Dm,
    };
    let given = [thread_id, user_id].into_iter().flatten().all(|id| is_id(id));
    let is_named = key.is_some() || (is_id(platform) && is_id(chat_id));
    if !given || !is_named {
        return None;
    }
    let source = Source {
        platform: platform.trim().to_ascii_lowercase(),
        chat_id: chat_id.clone(),
        chat_type,
        thread_id: thread_id.clone(),
        user_id: user_id.clone(),
        ..Source::default()
    };
    Some(StopSession { source, key, bot: None })
}
