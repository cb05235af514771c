//! `POST /api/agent-cron/relay`: a scheduler of the operator's says that a job is due.
//!
//! The desk has a scheduler of its own, which needs no relay. Another may call as well: it proves itself by a signature,
//! and has the desk look at a job now. Whether it is due, the store says; so whoever has the operator's secret can make
//! the desk look, and no more.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::relaying::{self, Relayed};
use nightdesk_protocol::http::cron;
use nightdesk_schedule::{JobId, Proof};
use nightdesk_types::{AgentId, TenantId, TenantScope, Timestamp};

use crate::gateways::{Gateways, read_body, refuse, try_later};
use crate::problem::{self, Refusals};

const WANTS: &str = "send JSON with tenant and agent_id, as ids, and job_id";
const SIGN: &str = "sign with a line of schedule.relay_secrets_file; docs/time.md shows how";

/// Whoever may say that a job is due.
#[derive(Clone, Default)]
pub struct Relays(Vec<Arc<dyn Proof>>);

impl fmt::Debug for Relays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relays({})", self.0.len())
    }
}

impl Relays {
    /// Who shows one of these proofs.
    pub fn by(proofs: Vec<Arc<dyn Proof>>) -> Self {
        Self(proofs)
    }

    fn prove(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> bool {
        self.0.iter().any(|proof| {
            let shown = headers.get(proof.header()).and_then(|value| value.to_str().ok());
            shown.is_some_and(|shown| proof.holds(shown, body, now))
        })
    }
}

/// A scheduler of the operator's says that a job is due. Answers when the agent took it.
#[utoipa::path(
    post, path = "/api/agent-cron/relay", tag = "time", security(("relay" = [])),
    request_body = cron::Relay,
    responses(
        (status = 200, description = "There is nothing left to do", body = cron::Relayed),
        (status = 425, description = "It is not due yet"),
        Refusals,
    )
)]
pub(super) async fn relay(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = match read_body(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    if !gateways.relays.prove(&head.headers, &body, gateways.now()) {
        return gateways.unauthorized(from, SIGN);
    }
    let Some((scope, agent, job)) = meant(&body) else {
        return refuse(StatusCode::BAD_REQUEST, WANTS);
    };
    match relaying::relay(&gateways.desk, (scope, agent), &job, gateways.now()).await {
        Ok(Relayed::Done) => Json(cron::Relayed { status: "done".to_owned() }).into_response(),
        Ok(Relayed::NotDue(wait)) => {
            let seconds = wait.as_secs().saturating_add(1).to_string();
            (StatusCode::TOO_EARLY, [(header::RETRY_AFTER, seconds)]).into_response()
        }
        Ok(Relayed::Trying) => problem::UNAVAILABLE
            .said("the agent did not take it yet, and the desk goes on trying; ask again"),
        Err(error) => try_later(&error, "a job could not be looked at"),
    }
}

/// Which job is meant.
fn meant(body: &[u8]) -> Option<(TenantScope, AgentId, JobId)> {
    let relay: cron::Relay = serde_json::from_slice(body).ok()?;
    let scope = TenantScope::of(relay.tenant.parse::<TenantId>().ok()?);
    Some((scope, relay.agent_id.parse().ok()?, JobId::new(relay.job_id).ok()?))
}
