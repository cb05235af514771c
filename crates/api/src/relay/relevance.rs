//! `POST /relay/policy`: not served yet, and said so.
//!
//! The stock client logs the status and goes on.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use nightdesk_protocol::http::policy;

use crate::gateways::{Gateways, read_json, refuse};

pub(super) async fn policy(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    if let Err(refused) = gateways.caller(&head.headers, from).await {
        return refused;
    }
    match read_json::<policy::Request>(body, "send JSON with platform").await {
        Ok(_) => refuse(
            StatusCode::NOT_IMPLEMENTED,
            "this desk does not keep a policy of relevance yet; everything the agent may see is \
             handed over, and the client's own settings decide what it answers",
        ),
        Err(refused) => refused,
    }
}
