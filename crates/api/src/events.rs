//! `GET /v1/events/{id}/explanation`: what became of an event, to who looks after the agent it concerns.
//!
//! The id is an entry's name, as frames carry it in `bufferId`, or the platform's key of an event that was refused.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::explaining::{Explanation, explain};
use nightdesk_register::Caller;
use nightdesk_types::AgentId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::{Gateways, try_later};
use crate::problem::{self, Refusals};

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new().routes(routes!(explanation))
}

/// What became of an event that concerns the agent.
#[utoipa::path(
    get, path = "/v1/events/{id}/explanation", tag = "events", security(("agent" = [])),
    params((
        "id" = String, Path,
        description = "An entry, as `bufferId` names it, or the platform's key of an event that was refused",
    )),
    responses(
        (status = 200, description = "Each step with its time, or each refusal with its ground",
         body = serde_json::Value),
        Refusals,
    )
)]
async fn explanation(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(event): Path<String>,
    request: Request,
) -> Response {
    let caller = match gateways.caller(request.headers(), from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    match explain(&*gateways.desk.records.0, caller.scope, &event).await {
        Ok(explanation) => match of_agent(explanation, &caller) {
            Explanation::Unknown => problem::NOT_FOUND.said(
                "nothing is known of that event for this agent: name its entry, as bufferId has it, or \
                 the platform's key of an event that was refused lately",
            ),
            known @ (Explanation::Held(_) | Explanation::Refused(_)) => {
                Json(known.told()).into_response()
            }
        },
        Err(error) => try_later(&error, "an event could not be explained"),
    }
}

/// Of what a tenant may know, what concerns the caller's agent.
fn of_agent(explanation: Explanation, caller: &Caller) -> Explanation {
    let is_its = |agent: AgentId| agent == caller.agent;
    match explanation {
        Explanation::Held(held) if is_its(held.entry.agent) => Explanation::Held(held),
        Explanation::Refused(mut refusals) => {
            refusals.retain(|kept| kept.note.agent.is_some_and(is_its));
            if refusals.is_empty() { Explanation::Unknown } else { Explanation::Refused(refusals) }
        }
        Explanation::Held(_) | Explanation::Unknown => Explanation::Unknown,
    }
}
