//! `POST /relay/provision`: a gateway gets its secret at boot, once per platform.
//!
//! The stock client logs the text of a refusal and boots on, without a secret, so the text names the setting to change.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::provision;
use nightdesk_protocol::upgrade_token::is_gateway_name;
use nightdesk_register::RegisterError;
use nightdesk_register::enrolment::{Enrolment, EnrolmentRefusal, Identity};
use nightdesk_register::provision::{Front, GatewayDescription, display_name};
use nightdesk_types::limits::{PLATFORM_ID_BYTES_MAX, ROUTE_KEYS_MAX};

use crate::extract::{JsonBody, MachineIdentity, RequestBody};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

const NAMES: &str = "a gateway's name has 1 to 64 letters, digits, dots, dashes or underscores; \
                     choose another as GATEWAY_RELAY_ID";
const SIZES: &str = "a platform, bot, instance or route key is too long, or there are too many of \
                     the last; shorten GATEWAY_RELAY_ROUTE_KEYS";

impl RequestBody for provision::ProvisionRequest {
    const EXPECTED: &'static str = "send JSON with gatewayId and platform";
}

/// Gives a gateway its secret at boot, once per platform.
#[utoipa::path(
    post, path = "/relay/provision", tag = "gateways", security(("access_token" = [])),
    request_body = provision::ProvisionRequest,
    responses(
        (status = 200, description = "A secret; the first one stays valid", body = provision::ProvisionResponse),
        Problems,
    )
)]
pub(super) async fn provision(
    State(api): State<ApiState>,
    MachineIdentity(identity): MachineIdentity,
    JsonBody(request): JsonBody<provision::ProvisionRequest>,
) -> Result<Response, Problem> {
    let invalid = |why| problem::BAD_REQUEST.with_detail(why);
    let said = read_request(&api, request).map_err(invalid)?;
    let (gateway_id, route_keys) = (said.gateway.clone(), said.front.route_keys.clone());
    let provisioned = api.desk.stops.register.provision(&identity, said).await;
    let provisioned = provisioned
        .map_err(|error| register_problem(&error, "a gateway could not be provisioned"))?;
    let refused = |refusal| problem::FORBIDDEN.with_detail(what_to_do(&refusal));
    let enrolment = provisioned.map_err(refused)?;
    Ok(provisioned_response(&identity, gateway_id, route_keys, &enrolment))
}

/// The 403 if the tenant has too many gateways, or else the 503.
pub(super) fn register_problem(error: &RegisterError, failure: &'static str) -> Problem {
    if let RegisterError::Store(error) = error
        && let Some(over) = error.over_quota()
    {
        return problem::OVER_QUOTA.with_detail(over.to_string());
    }
    problem::unavailable(error, failure)
}

fn provisioned_response(
    identity: &Identity,
    gateway_id: String,
    route_keys: Vec<String>,
    enrolment: &Enrolment,
) -> Response {
    tracing::info!(
        tenant.id = %identity.scope.tenant(),
        agent.id = %identity.agent,
        gateway.name = gateway_id,
        "provisioned gateway {gateway_id} of agent {}",
        identity.agent
    );
    let answer = provision::ProvisionResponse {
        secret: Some(enrolment.secret.with(|text| Secret::new(text))),
        secret_issued: true,
        delivery_key: enrolment.delivery_key.with(|text| Secret::new(text)),
        tenant: identity.scope.tenant().to_string(),
        gateway_id,
        route_keys,
    };
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// Checks a request. Its delivery address is ignored, because the gateway dials.
fn read_request(
    api: &ApiState,
    request: provision::ProvisionRequest,
) -> Result<GatewayDescription, String> {
    if !is_gateway_name(&request.gateway_id) {
        return Err(NAMES.to_owned());
    }
    let front = Front {
        platform: request.platform,
        bot_handle: request.bot_handle,
        route_keys: request.route_keys,
        instance: request.instance_id,
    };
    if !fits(&front) {
        return Err(SIZES.to_owned());
    }
    let wake_url = request.wake_url.map(|url| api.desk.stops.wake.may_call(&url)).transpose();
    let wake_url = wake_url.map_err(|why| format!("GATEWAY_RELAY_WAKE_URL: {why}"))?;
    let display_name = request.display_name.as_deref().and_then(display_name);
    Ok(GatewayDescription { gateway: request.gateway_id, front, wake_url, display_name })
}

fn fits(front: &Front) -> bool {
    let Front { platform, bot_handle, route_keys, instance } = front;
    let mut texts = [platform, bot_handle].into_iter().chain(instance).chain(route_keys);
    let all_short = texts.all(|text| text.len() <= PLATFORM_ID_BYTES_MAX);
    all_short && !platform.is_empty() && route_keys.len() <= ROUTE_KEYS_MAX
}

/// The text that the client logs after "self-provision failed".
fn what_to_do(refusal: &EnrolmentRefusal) -> Cow<'static, str> {
    match refusal {
        EnrolmentRefusal::OtherName(name) => Cow::Owned(format!(
            "this identity is for gateway {name}; set GATEWAY_RELAY_ID={name}, or ask for another invitation"
        )),
        EnrolmentRefusal::NameTaken => {
            "another agent's gateway has this name; choose another as GATEWAY_RELAY_ID".into()
        }
        EnrolmentRefusal::NameRevoked => {
            "the gateway of this name was revoked and stays so; choose another as GATEWAY_RELAY_ID"
                .into()
        }
        // These concern enrolment tokens, which this route does not take.
        EnrolmentRefusal::Unknown
        | EnrolmentRefusal::Used
        | EnrolmentRefusal::Expired
        | EnrolmentRefusal::OtherAgent => "this identity may not provision a gateway".into(),
    }
}
