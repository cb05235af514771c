//! `GET /access-token`: an access token of one agent, for every program that can reach the address.
//!
//! Clients after Hermes 0.19 call such an ambient endpoint when they are given a token URL and no client credentials. It has an
//! address of its own, which is on the loopback, because reaching it is the only proof.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use nightdesk_register::Issuers;
use nightdesk_types::{AgentId, Clock, TenantScope};

use crate::oauth::AccessTokenResponse;
use crate::problem::{OrUnavailable, Problem};

/// The agent that an ambient endpoint gives tokens for.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "the clock shows nothing of itself")]
pub struct AmbientAgent {
    /// The issuers, of which the desk's own signs the tokens.
    pub issuers: Arc<Issuers>,
    /// The desk's clock.
    pub clock: Arc<dyn Clock>,
    /// The agent's tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
}

/// The one route of an ambient endpoint.
pub fn ambient_routes(agent: AmbientAgent) -> Router {
    Router::new().route("/access-token", get(access_token)).with_state(agent)
}

async fn access_token(State(ambient): State<AmbientAgent>) -> Result<AccessTokenResponse, Problem> {
    let AmbientAgent { issuers, clock, scope, agent } = ambient;
    let access = issuers.own_issuer().ambient_token(scope, agent, clock.now()).await;
    let access = access.or_unavailable("an ambient token could not be issued")?;
    Ok(AccessTokenResponse { access, refresh: None })
}
