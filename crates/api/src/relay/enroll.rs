//! `POST /relay/enroll`: a one-time token is traded for a gateway's secret.
//!
//! The stock client shows a person the text of a 400 or 403, and its own words for a 401.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::enroll;
use nightdesk_protocol::upgrade_token::is_gateway_name;
use nightdesk_register::enrolment::{Enrolment, Identity, Refusal};

use crate::gateways::{Gateways, read_json, refuse, too_many, try_later};
use crate::problem::Refusals;

const WANTS: &str = "send JSON with enrollmentToken and gatewayId";
const NAMES: &str = "a gateway's name has 1 to 64 letters, digits, dots, dashes or underscores; \
                     choose another with --gateway-id";

/// A one-time token is traded for a gateway's secret.
#[utoipa::path(
    post, path = "/relay/enroll", tag = "gateways", security(("access_token" = [])),
    request_body = enroll::Request,
    responses(
        (status = 200, description = "The secret, which is not shown again", body = enroll::Answer),
        Refusals,
    )
)]
pub(super) async fn enroll(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let identity = match gateways.identity(&head.headers, from).await {
        Ok(identity) => identity,
        Err(refused) => return refused,
    };
    let asked: enroll::Request = match read_json(body, WANTS).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    if !is_gateway_name(&asked.gateway_id) {
        return refuse(StatusCode::BAD_REQUEST, NAMES);
    }
    let token = asked.enrollment_token.expose();
    match gateways.desk.register.enrol(&identity, token, &asked.gateway_id).await {
        Ok(Ok(enrolment)) => give(&identity, asked.gateway_id, &enrolment),
        // A guess at a token is a failure like one at a secret.
        Ok(Err(Refusal::Unknown)) if !gateways.may_fail(from.ip()) => too_many(),
        Ok(Err(refusal)) => refuse(StatusCode::FORBIDDEN, &what_to_do(&refusal)),
        Err(error) => try_later(&error, "a gateway could not be enrolled"),
    }
}

fn give(identity: &Identity, gateway_id: String, enrolment: &Enrolment) -> Response {
    tracing::info!(
        tenant.id = %identity.scope.tenant(),
        agent.id = %identity.agent,
        gateway.name = gateway_id,
        "enrolled gateway {gateway_id} of agent {}",
        identity.agent
    );
    let answer = enroll::Answer {
        secret: enrolment.secret.with(|text| Secret::new(text)),
        delivery_key: enrolment.delivery_key.with(|text| Secret::new(text)),
        tenant: identity.scope.tenant().to_string(),
        gateway_id,
    };
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// What stands at the end of the client's "Enrollment failed".
fn what_to_do(refusal: &Refusal) -> String {
    const AGAIN: &str = "ask for a new one with `nightdesk gateway token`";
    match refusal {
        Refusal::Unknown => format!(
            "the enrolment token is not known for this identity: use the token and the client \
             that were printed together, or {AGAIN}"
        ),
        Refusal::Used => format!("the enrolment token was used already; {AGAIN}"),
        Refusal::Expired => format!("the enrolment token has expired; {AGAIN}"),
        Refusal::OtherAgent => format!(
            "the enrolment token is for another agent than this identity; use the token and the \
             client that were printed together, or {AGAIN}"
        ),
        Refusal::OtherName(name) => {
            format!("the enrolment token is for gateway {name}; add --gateway-id {name}")
        }
        Refusal::NameTaken => "another agent's gateway has this name; choose another with \
                               --gateway-id"
            .to_owned(),
        Refusal::NameRevoked => "the gateway of this name was revoked and stays so; choose \
                                 another with --gateway-id"
            .to_owned(),
    }
}
