//! `POST /api/agent-cron/relay`: a scheduler of the operator reports that a job is due.
//!
//! The desk has a scheduler of its own, which needs no relay. Another scheduler may call as well: it authenticates by a
//! signature and makes the desk look at a job now. The store decides if the job is due, so the operator's secret permits
//! nothing but an earlier look.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::relaying::{self, RelayState};
use nightdesk_protocol::http::cron;
use nightdesk_schedule::JobId;
use nightdesk_types::{AgentId, TenantId, TenantScope};

use crate::extract::{client_address, read_body};
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

const EXPECTED: &str = "send JSON with tenant and agent_id, as ids, and job_id";
const SIGN: &str = "sign with a line of schedule.relay_secrets_file; docs/time.md shows how";

/// A body that one of the operator's schedulers signed.
pub(super) struct SignedRelay(Bytes);

impl FromRequest<ApiState> for SignedRelay {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &ApiState) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let from = client_address(&head)?;
        let body = read_body(body).await?;
        if api.relays.has_valid_proof(&head.headers, &body, api.now()) {
            Ok(Self(body))
        } else {
            Err(api.unauthorized(from, SIGN))
        }
    }
}

/// A scheduler of the operator reports that a job is due. The response comes when the agent took it.
#[utoipa::path(
    post, path = "/api/agent-cron/relay", tag = "time", security(("relay" = [])),
    request_body = cron::CronRelayRequest,
    responses(
        (status = 200, description = "Nothing is left to do", body = cron::CronRelayResponse),
        (status = 425, description = "The job is not due yet"),
        Problems,
    )
)]
pub(super) async fn relay(
    State(api): State<ApiState>,
    SignedRelay(body): SignedRelay,
) -> Result<Response, Problem> {
    let expected = || problem::BAD_REQUEST.with_detail(EXPECTED);
    let RelayedJob { scope, agent, job } = read_job(&body).ok_or_else(expected)?;
    let relayed = relaying::relay(&api.desk.stops.schedule, scope, agent, &job, api.now()).await;
    match relayed.or_unavailable("a job could not be read")? {
        RelayState::Done => {
            Ok(Json(cron::CronRelayResponse { status: "done".to_owned() }).into_response())
        }
        RelayState::NotDue(wait) => {
            let seconds = wait.as_secs().saturating_add(1).to_string();
            Ok((StatusCode::TOO_EARLY, [(header::RETRY_AFTER, seconds)]).into_response())
        }
        RelayState::Trying => Err(problem::UNAVAILABLE.with_detail(
            "the agent has not accepted the fire yet, and the desk retries; send the request again",
        )),
    }
}

/// The job that a scheduler names.
struct RelayedJob {
    scope: TenantScope,
    agent: AgentId,
    job: JobId,
}

fn read_job(body: &[u8]) -> Option<RelayedJob> {
    let relay: cron::CronRelayRequest = serde_json::from_slice(body).ok()?;
    Some(RelayedJob {
        scope: TenantScope::for_tenant(relay.tenant.parse::<TenantId>().ok()?),
        agent: relay.agent_id.parse().ok()?,
        job: JobId::new(relay.job_id).ok()?,
    })
}
