//! `POST /relay/provision`: a gateway gets its secret at boot, once per platform.
//!
//! The stock client logs the text of a refusal and boots on, without a secret. So what is refused
//! says what to change in its settings.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::Secret;
use nightdesk_protocol::http::provision;
use nightdesk_protocol::upgrade_token::is_gateway_name;
use nightdesk_register::enrolment::{Enrolment, Identity, Refusal};
use nightdesk_register::provision::{Front, Said, display_name};
use nightdesk_types::limits::{PLATFORM_ID_BYTES_MAX, ROUTE_KEYS_MAX};

use crate::gateways::{Gateways, read_json, refuse, try_later};
use crate::problem::Refusals;

const WANTS: &str = "send JSON with gatewayId and platform";
const NAMES: &str = "a gateway's name has 1 to 64 letters, digits, dots, dashes or underscores; \
                     choose another as GATEWAY_RELAY_ID";
const SIZES: &str = "a platform, bot, instance or route key is too long, or there are too many of \
                     the last; shorten GATEWAY_RELAY_ROUTE_KEYS";

/// A gateway gets its secret at boot, once per platform.
#[utoipa::path(
    post, path = "/relay/provision", tag = "gateways", security(("access_token" = [])),
    request_body = provision::Request,
    responses(
        (status = 200, description = "A secret; the first stays good", body = provision::Answer),
        Refusals,
    )
)]
pub(super) async fn provision(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let identity = match gateways.identity(&head.headers, from).await {
        Ok(identity) => identity,
        Err(refused) => return refused,
    };
    let asked: provision::Request = match read_json(body, WANTS).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let said = match said(&gateways, asked) {
        Ok(said) => said,
        Err(why) => return refuse(StatusCode::BAD_REQUEST, &why),
    };
    let (gateway, route_keys) = (said.gateway.clone(), said.front.route_keys.clone());
    match gateways.desk.register.provision(&identity, said).await {
        Ok(Ok(given)) => give(&identity, gateway, route_keys, &given),
        Ok(Err(refusal)) => refuse(StatusCode::FORBIDDEN, what_to_do(&refusal)),
        Err(error) => try_later(&error, "a gateway could not be provisioned"),
    }
}

/// What the gateway says, within bounds. Where it says it would be delivered to is not read: it
/// dials.
fn said(gateways: &Gateways, asked: provision::Request) -> Result<Said, String> {
    if !is_gateway_name(&asked.gateway_id) {
        return Err(NAMES.to_owned());
    }
    let front = Front {
        platform: asked.platform,
        bot_handle: asked.bot_handle,
        route_keys: asked.route_keys,
        instance: asked.instance_id,
    };
    if !fits(&front) {
        return Err(SIZES.to_owned());
    }
    let wake_url = asked.wake_url.map(|url| gateways.desk.wake.may_call(&url)).transpose();
    let wake_url = wake_url.map_err(|why| format!("GATEWAY_RELAY_WAKE_URL: {why}"))?;
    let display_name = asked.display_name.as_deref().and_then(display_name);
    Ok(Said { gateway: asked.gateway_id, front, wake_url, display_name })
}

fn fits(front: &Front) -> bool {
    let Front { platform, bot_handle, route_keys, instance } = front;
    let mut texts = [platform, bot_handle].into_iter().chain(instance).chain(route_keys);
    let all_short = texts.all(|text| text.len() <= PLATFORM_ID_BYTES_MAX);
    all_short && !platform.is_empty() && route_keys.len() <= ROUTE_KEYS_MAX
}

fn give(
    identity: &Identity,
    gateway_id: String,
    route_keys: Vec<String>,
    given: &Enrolment,
) -> Response {
    tracing::info!(
        tenant.id = %identity.scope.tenant(),
        agent.id = %identity.agent,
        gateway.name = gateway_id,
        "provisioned gateway {gateway_id} of agent {}",
        identity.agent
    );
    let answer = provision::Answer {
        secret: Some(given.secret.with(|text| Secret::new(text))),
        secret_issued: true,
        delivery_key: given.delivery_key.with(|text| Secret::new(text)),
        tenant: identity.scope.tenant().to_string(),
        gateway_id,
        route_keys,
    };
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// What stands at the end of the client's "self-provision failed".
const fn what_to_do(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NameTaken => {
            "another agent's gateway has this name; choose another as GATEWAY_RELAY_ID"
        }
        Refusal::NameRevoked => {
            "the gateway of this name was revoked and stays so; choose another as GATEWAY_RELAY_ID"
        }
        // These are about enrolment tokens, and there is none here.
        Refusal::Unknown
        | Refusal::Used
        | Refusal::Expired
        | Refusal::OtherAgent
        | Refusal::OtherName(_) => "this identity may not provision a gateway",
    }
}
