//! `GET /v1/events/{id}/explanation`: the fate of an event, for the agent it concerns.
//!
//! The id is an entry's name, as frames carry it in `bufferId`, or the platform's key of an event that was refused.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_desk::explaining::{Explanation, explain};
use nightdesk_register::Caller;
use nightdesk_types::AgentId;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::AgentCaller;
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(explanation))
}

/// Explains the fate of an event that concerns the agent.
#[utoipa::path(
    get, path = "/v1/events/{id}/explanation", tag = "events", security(("agent" = [])),
    params((
        "id" = String, Path,
        description = "An entry, as `bufferId` names it, or the platform's key of an event that was refused",
    )),
    responses(
        (status = 200, description = "Each step with its time, or each refusal with its reason",
         body = serde_json::Value),
        Problems,
    )
)]
async fn explanation(
    State(api): State<ApiState>,
    Path(event): Path<String>,
    AgentCaller(caller): AgentCaller,
) -> Result<Json<Value>, Problem> {
    let explanation = explain(&*api.desk.stops.records, caller.scope, &event).await;
    match restrict_to_agent(explanation.or_unavailable("an event could not be explained")?, &caller) {
        Explanation::Unknown => Err(problem::NOT_FOUND.with_detail(
            "the desk has no record of that event for this agent; use the bufferId of its entry, or \
             the platform's key of an event that was refused recently",
        )),
        known @ (Explanation::Entry(_) | Explanation::Refused(_)) => Ok(Json(known.to_json())),
    }
}

/// Restricts a tenant's explanation to the caller's agent.
fn restrict_to_agent(explanation: Explanation, caller: &Caller) -> Explanation {
    let is_callers = |agent: AgentId| agent == caller.agent;
    match explanation {
        Explanation::Entry(found) if is_callers(found.entry.agent) => Explanation::Entry(found),
        Explanation::Refused(mut refusals) => {
            refusals.retain(|refusal| refusal.note.agent.is_some_and(is_callers));
            if refusals.is_empty() { Explanation::Unknown } else { Explanation::Refused(refusals) }
        }
        Explanation::Entry(_) | Explanation::Unknown => Explanation::Unknown,
    }
}
