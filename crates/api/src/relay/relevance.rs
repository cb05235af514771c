//! `POST /relay/policy`: not served yet, and said so.
//!
//! The stock client logs the status and goes on.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use nightdesk_line::upgrade::bearer;
use nightdesk_protocol::http::policy;
use nightdesk_protocol::upgrade_token::UpgradeToken;
use nightdesk_register::Proof;

use crate::gateways::{Gateways, read_json, refuse, try_later};

pub(super) async fn policy(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    if let Err(refused) = dialled(&gateways, &head.headers, from).await {
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

/// A gateway shows the same kind of token as when it dials.
async fn dialled(
    gateways: &Gateways,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<(), Response> {
    let shown = bearer(headers).and_then(UpgradeToken::peek);
    let token = shown.and_then(|token| token.at_the_door(gateways.now()).ok());
    let proof = match &token {
        Some(token) => gateways.desk.register.identify(token).await,
        None => Ok(None),
    };
    match proof {
        Ok(Some(Proof::Valid(_))) => Ok(()),
        Ok(Some(Proof::Revoked(_)) | None) => {
            Err(gateways.unauthorized(from, "sign an upgrade token with a live gateway's secret"))
        }
        Err(error) => Err(try_later(&error, "a gateway could not be identified")),
    }
}
