//! The HTTP route at which the desk fires an agent's jobs.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::book::FireDelivery;
use super::limits::{COME_AGAIN_SECS, FIRE_BYTES_MAX, FIRE_WAIT};
use super::provider_state::{Cron, FireResult};
use super::token::BadToken;
use super::verifier::{FireProof, FireRefusal};
use super::warn;

pub(super) fn router(cron: Arc<Cron>) -> Router {
    Router::new().route("/api/cron/fire", post(fire)).with_state(cron)
}

/// The request body.
#[derive(Deserialize)]
struct FireRequest {
    job_id: String,
    fire_at: Option<String>,
}

/// Handles a fire. The body is not read before the token proved the sender.
async fn fire(State(cron): State<Arc<Cron>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let proven = match cron.prove(&head.headers).await {
        Ok(proven) => proven,
        Err(FireRefusal::Invalid(why)) => return refuse_token(&why),
        Err(FireRefusal::Unavailable) => return retry_response("the desk's keys cannot be read"),
    };
    let asked = match read(body).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    if !proven.covers(&asked.job_id) {
        return refuse_token("it is for another job");
    }
    take(&cron, &proven, &asked).await
}

fn refuse_token(why: &str) -> Response {
    tracing::warn!("refused a fire by its token: {why}");
    json_response(StatusCode::UNAUTHORIZED, json!({ "error": "invalid fire token" }))
}

async fn take(cron: &Arc<Cron>, proven: &FireProof, asked: &FireRequest) -> Response {
    let (job, fire_at) = (asked.job_id.as_str(), asked.fire_at.as_deref());
    let said = |status: &str| json!({ "status": status, "job_id": job });
    match cron.take_fire(FireDelivery { job, fire_at, fire_id: proven.fire_id() }).await {
        // A lost claim is accepted too: another run has the fire.
        Ok(FireResult::Started | FireResult::Lost) => {
            json_response(StatusCode::ACCEPTED, said("accepted"))
        }
        Ok(FireResult::Gone) => json_response(StatusCode::OK, said("gone")),
        Ok(FireResult::NotNow) => retry_response("the agent cannot run it now"),
        Err(error) => {
            warn(&error, "a fire could not be claimed");
            retry_response("the agent's jobs cannot be read")
        }
    }
}

impl Cron {
    async fn prove(&self, headers: &HeaderMap) -> Result<FireProof, FireRefusal> {
        let token = bearer(headers).ok_or(BadToken::OtherKind)?;
        self.verifier.verify(token).await
    }
}

/// Returns the bearer token if there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let token = shown.next()?.to_str().ok()?.strip_prefix("Bearer ")?;
    shown.next().is_none().then_some(token)
}

async fn read(body: Body) -> Result<FireRequest, Response> {
    let refuse = |status, error: &str| json_response(status, json!({ "error": error }));
    let late = |_| refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long");
    let body = timeout(FIRE_WAIT, to_bytes(body, FIRE_BYTES_MAX)).await.map_err(late)?;
    let body = body.map_err(|_| refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"))?;
    let asked: Option<FireRequest> = serde_json::from_slice(&body).ok();
    asked
        .filter(|asked| !asked.job_id.is_empty())
        .ok_or_else(|| refuse(StatusCode::BAD_REQUEST, "missing job_id"))
}

fn retry_response(why: &str) -> Response {
    let body = Json(json!({ "error": why }));
    let after = [(header::RETRY_AFTER, COME_AGAIN_SECS)];
    (StatusCode::SERVICE_UNAVAILABLE, after, body).into_response()
}

fn json_response(status: StatusCode, body: serde_json::Value) -> Response {
    (status, Json(body)).into_response()
}
