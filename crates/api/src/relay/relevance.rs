//! `POST /relay/policy`: a gateway declares which messages concern its agent.
//!
//! The stock client declares it at every boot if it differs from the default, and accepts no status but 200.

use axum::Json;
use axum::extract::State;
use nightdesk_protocol::http::policy;
use nightdesk_types::Relevance;
use nightdesk_types::limits::FREE_SCOPES_MAX;
use serde::Serialize;
use utoipa::ToSchema;

use crate::extract::{AgentCaller, JsonBody, RequestBody};
use crate::problem::{self, OrUnavailable, Problem, Problems};
use crate::state::ApiState;

impl RequestBody for policy::PolicyRequest {
    const EXPECTED: &'static str =
        "send JSON with platform, and at most a thousand freeResponseScopes";
}

/// Declares which messages concern the gateway's agent. It replaces the previous declaration.
#[utoipa::path(
    post, path = "/relay/policy", tag = "gateways", security(("agent" = [])),
    request_body = policy::PolicyRequest,
    responses((status = 200, description = "The policy is stored", body = StoredPolicy), Problems)
)]
pub(super) async fn policy(
    State(api): State<ApiState>,
    AgentCaller(caller): AgentCaller,
    JsonBody(request): JsonBody<policy::PolicyRequest>,
) -> Result<Json<StoredPolicy>, Problem> {
    let policy::PolicyRequest { platform, require_address, free_response_scopes, allow_other_bots } =
        request;
    if platform.is_empty() || free_response_scopes.len() > FREE_SCOPES_MAX {
        return Err(problem::BAD_REQUEST.with_detail(policy::PolicyRequest::EXPECTED));
    }
    let relevance = Relevance {
        require_address,
        free_scopes: free_response_scopes,
        allow_other_bots,
        ..Relevance::default()
    };
    let declared = api.desk.reach_manager.declare(&caller, &platform, &relevance).await;
    declared.or_unavailable("a policy could not be stored")?;
    Ok(Json(StoredPolicy { platform }))
}

/// The policy that was stored.
#[derive(Serialize, ToSchema)]
pub(super) struct StoredPolicy {
    /// The platform that the policy is for.
    platform: String,
}
