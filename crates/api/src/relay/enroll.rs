//! `POST /relay/enroll`: exchanges a one-time token for a gateway's secret.
//!
//! The stock client shows a person the text of a 400 or 403, and a text of its own for a 401.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::enroll;
use nightdesk_protocol::upgrade_token::is_gateway_name;
use nightdesk_register::enrolment::{Enrolment, EnrolmentRefusal, Identity};

use super::provision::register_problem;
use crate::extract::{JsonBody, MachineIdentity, RequestBody};
use crate::problem::{self, Problem, Problems};
use crate::state::{ApiState, too_many_failures};

const NAMES: &str = "a gateway's name has 1 to 64 letters, digits, dots, dashes or underscores; \
                     choose another with --gateway-id";

impl RequestBody for enroll::EnrollRequest {
    const EXPECTED: &'static str = "send JSON with enrollmentToken and gatewayId";
}

/// Exchanges a one-time token for a gateway's secret.
#[utoipa::path(
    post, path = "/relay/enroll", tag = "gateways", security(("access_token" = [])),
    request_body = enroll::EnrollRequest,
    responses(
        (status = 200, description = "The secret, which is not shown again", body = enroll::EnrollResponse),
        Problems,
    )
)]
pub(super) async fn enroll(
    State(api): State<ApiState>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    MachineIdentity(identity): MachineIdentity,
    JsonBody(request): JsonBody<enroll::EnrollRequest>,
) -> Result<Response, Problem> {
    let enroll::EnrollRequest { enrollment_token, gateway_id } = request;
    if !is_gateway_name(&gateway_id) {
        return Err(problem::BAD_REQUEST.with_detail(NAMES));
    }
    let token = enrollment_token.expose();
    let enrolled = api.desk.stops.register.enrol(&identity, token, &gateway_id).await;
    let enrolled =
        enrolled.map_err(|error| register_problem(&error, "a gateway could not be enrolled"))?;
    let enrolment = enrolled.map_err(|refusal| refusal_problem(&api, from, &refusal))?;
    Ok(enrolled_response(&identity, gateway_id, &enrolment))
}

fn enrolled_response(identity: &Identity, gateway_id: String, enrolment: &Enrolment) -> Response {
    tracing::info!(
        tenant.id = %identity.scope.tenant(),
        agent.id = %identity.agent,
        gateway.name = gateway_id,
        "enrolled gateway {gateway_id} of agent {}",
        identity.agent
    );
    let answer = enroll::EnrollResponse {
        secret: enrolment.secret.with(|text| Secret::new(text)),
        delivery_key: enrolment.delivery_key.with(|text| Secret::new(text)),
        tenant: identity.scope.tenant().to_string(),
        gateway_id,
    };
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// The 403. An unknown token may be guessed, so it counts as a failed authentication.
fn refusal_problem(api: &ApiState, from: SocketAddr, refusal: &EnrolmentRefusal) -> Problem {
    if matches!(refusal, EnrolmentRefusal::Unknown) && !api.count_failure(from.ip()) {
        return too_many_failures();
    }
    problem::FORBIDDEN.with_detail(what_to_do(refusal))
}

/// The text that the client shows after "Enrollment failed".
fn what_to_do(refusal: &EnrolmentRefusal) -> String {
    const AGAIN: &str = "ask for a new one with `nightdesk gateway token`";
    match refusal {
        EnrolmentRefusal::Unknown => format!(
            "the enrolment token is not known for this identity: use the token and the client \
             that were printed together, or {AGAIN}"
        ),
        EnrolmentRefusal::Used => format!("the enrolment token was used already; {AGAIN}"),
        EnrolmentRefusal::Expired => format!("the enrolment token has expired; {AGAIN}"),
        EnrolmentRefusal::OtherAgent => format!(
            "the enrolment token is for another agent than this identity; use the token and the \
             client that were printed together, or {AGAIN}"
        ),
        EnrolmentRefusal::OtherName(name) => {
            format!("the invitation is for gateway {name}; add --gateway-id {name}")
        }
        EnrolmentRefusal::NameTaken => {
            "another agent's gateway has this name; choose another with \
                               --gateway-id"
                .to_owned()
        }
        EnrolmentRefusal::NameRevoked => {
            "the gateway of this name was revoked and stays so; choose \
                                 another with --gateway-id"
                .to_owned()
        }
    }
}
