//! `POST /relay/policy`: a gateway says which messages concern its agent.
//!
//! The stock client says it at every boot where it differs from the default, and takes nothing but 200 for yes.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::managing;
use nightdesk_protocol::http::policy;
use nightdesk_types::Relevance;
use nightdesk_types::limits::FREE_SCOPES_MAX;
use serde::Serialize;
use utoipa::ToSchema;

use crate::gateways::{Gateways, read_json, refuse, try_later};
use crate::problem::Refusals;

const WANTS: &str = "send JSON with platform, and at most a thousand freeResponseScopes";

/// A gateway says which messages concern its agent. It replaces what was said before.
#[utoipa::path(
    post, path = "/relay/policy", tag = "gateways", security(("agent" = [])),
    request_body = policy::Request,
    responses((status = 200, description = "It is written down", body = Heard), Refusals)
)]
pub(super) async fn policy(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let caller = match gateways.caller(&head.headers, from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let said: policy::Request = match read_json(body, WANTS).await {
        Ok(said) => said,
        Err(refused) => return refused,
    };
    let policy::Request { platform, require_address, free_response_scopes, allow_other_bots } =
        said;
    if platform.is_empty() || free_response_scopes.len() > FREE_SCOPES_MAX {
        return refuse(StatusCode::BAD_REQUEST, WANTS);
    }
    let relevance = Relevance {
        require_address,
        free_scopes: free_response_scopes,
        allow_other_bots,
        ..Relevance::default()
    };
    match managing::declare(&gateways.desk, &caller, &platform, &relevance).await {
        Ok(()) => Json(Heard { platform }).into_response(),
        Err(error) => try_later(&error, "a policy could not be written down"),
    }
}

/// What was heard.
#[derive(Serialize, ToSchema)]
struct Heard {
    /// The platform it is about.
    platform: String,
}
