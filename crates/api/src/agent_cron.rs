//! `/api/agent-cron/…`: an agent has its jobs kept, and is called when they are due.
//!
//! Who asks is known by a token for the agent, by one of its sessions or machine identities, or by its gateway's own;
//! tenant and agent are the stored record's. What clients compare byte by byte is given back as it came.

mod arming;
mod relay;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use nightdesk_desk::What;
use nightdesk_line::upgrade::bearer;
use nightdesk_protocol::Bearer;
use nightdesk_register::{Called, Caller, RegisterError};
use nightdesk_types::{AgentId, TenantScope};
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use relay::Relays;

use crate::gateways::{Gateways, read_json, try_later};
use crate::problem;

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(arming::provision))
        .routes(routes!(arming::cancel))
        .routes(routes!(arming::list))
        .routes(routes!(arming::done))
        .routes(routes!(relay::relay))
}

/// The agent that asks, and whose it is.
type Asker = (TenantScope, AgentId);

/// Who asks, and for what; `wants` says what the body should have been.
async fn asked<T: DeserializeOwned>(
    gateways: &Gateways,
    from: SocketAddr,
    request: Request,
    wants: &str,
) -> Result<(Asker, T), Response> {
    let (head, body) = request.into_parts();
    let asker = asker(gateways, &head.headers, from).await?;
    Ok((asker, read_json(body, wants).await?))
}

/// Who asks, if it is not too often.
async fn asker(
    gateways: &Gateways,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<Asker, Response> {
    let asker = agent_of(gateways, headers, from).await?;
    too_often(gateways, What::Job, asker).map_or(Ok(asker), Err)
}

/// Counts a call of an agent. What it is told if that was one too many.
pub(crate) fn too_often(gateways: &Gateways, what: What, (_, agent): Asker) -> Option<Response> {
    let counted = gateways.desk.limits.allow(what, &agent.to_string());
    let told = |_| problem::TOO_MANY.said("the agent asks too often; wait, and ask for less");
    counted.err().map(told)
}

/// The agent for which somebody proved to speak.
pub(crate) async fn agent_of(
    gateways: &Gateways,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<Asker, Response> {
    let found = match bearer(headers) {
        Some(text) => known(gateways, text).await,
        None => Ok(None),
    };
    match found {
        Ok(Some(asker)) => Ok(asker),
        Ok(None) => Err(gateways.unauthorized(
            from,
            "show an access token of this desk from a session or machine identity of the agent, \
             one for agent:{id}, or an upgrade token of its gateway",
        )),
        Err(error) => Err(try_later(&error, "an agent could not be identified")),
    }
}

/// The agent that shows this. A token says by its audience whether it is for an agent or of one's session, so none is
/// taken for the other.
async fn known(gateways: &Gateways, text: &str) -> Result<Option<Asker>, RegisterError> {
    let (desk, now) = (&gateways.desk, gateways.now());
    let Some(shown) = Bearer::read(text, now) else { return Ok(None) };
    match desk.register.caller(&desk.issuers, &shown, now).await? {
        Some(Called::Known(Caller { scope, agent, by: _ })) => return Ok(Some((scope, agent))),
        Some(Called::Revoked(_)) => return Ok(None),
        None => {}
    }
    let Bearer::Jwt(token) = shown else { return Ok(None) };
    let identity = desk.issuers.identify(token, now).await?;
    Ok(identity.map(|identity| (identity.scope, identity.agent)))
}
