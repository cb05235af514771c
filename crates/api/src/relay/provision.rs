//! `POST /relay/provision`: not served yet, and said so.
//!
//! The stock client logs the answer at every boot and goes on.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use nightdesk_protocol::http::provision;

use crate::gateways::{Gateways, read_json, refuse};

pub(super) async fn provision(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    if let Err(refused) = gateways.client(&head.headers, from).await {
        return refused;
    }
    match read_json::<provision::Request>(body, "send JSON with gatewayId and platform").await {
        Ok(_) => refuse(
            StatusCode::NOT_IMPLEMENTED,
            "this desk does not provision gateways at boot yet; enrol once with `hermes gateway \
             enroll`, or set GATEWAY_RELAY_ID and GATEWAY_RELAY_SECRET from `nightdesk gateway \
             create`",
        ),
        Err(refused) => refused,
    }
}
