//! What an agent asks about its jobs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_protocol::http::cron;
use nightdesk_schedule::{
    Arm, ArmError, Armed, BadJob, Cancelled, FireAt, JobId, Overlap, Policies, Report, Target,
};
use nightdesk_types::limits::RUN_NOTE_BYTES_MAX;
use nightdesk_types::{FireId, StoreError};

use super::{asked, asker};
use crate::gateways::{Gateways, refuse, try_later};
use crate::problem::{self, Refusals};

const WANTS: &str = "send JSON with job_id, fire_at, and agent_callback_url unless the fire is to come through the inbox";
const WANTS_NAME: &str = "send JSON with job_id";
const WANTS_RUN: &str =
    "send JSON with fire_id, the jti of the fire's token, ok, and a note if you like";
const OVERLAPS: &str = "overlap is skip, buffer_one or allow_all";

/// Arms a job of the agent's for its next time, or moves it there.
#[utoipa::path(
    post, path = "/api/agent-cron/provision", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::Provision,
    responses((status = 200, description = "It is armed", body = cron::Provisioned), Refusals)
)]
pub(super) async fn provision(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let ((scope, agent), asked) =
        match asked::<cron::Provision>(&gateways, from, request, WANTS).await {
            Ok(asked) => asked,
            Err(refused) => return refused,
        };
    let arm = match arm(asked) {
        Ok(arm) => arm,
        Err(why) => return refuse(StatusCode::BAD_REQUEST, &why),
    };
    match gateways.desk.schedule.arm(scope, agent, &arm).await {
        Ok(Armed { id, .. }) => {
            Json(cron::Provisioned { schedule_id: id.to_string() }).into_response()
        }
        Err(ArmError::Callback(why)) => {
            let why = format!("agent_callback_url (cron.chronos.callback_url): {why}");
            refuse(StatusCode::BAD_REQUEST, &why)
        }
        Err(ArmError::Store(error)) => unarmed(&error),
    }
}

/// What is asked for, if it can be had.
fn arm(asked: cron::Provision) -> Result<Arm, String> {
    let said = |bad: BadJob| bad.to_string();
    let defaults = Policies::default();
    let overlap = match asked.overlap.as_deref() {
        Some(name) => Overlap::named(name).ok_or(OVERLAPS)?,
        None => defaults.overlap,
    };
    let policies = Policies {
        overlap,
        catch_up: asked.catch_up_seconds.map_or(defaults.catch_up, Duration::from_secs),
        jitter: asked.jitter_seconds.map_or(defaults.jitter, Duration::from_secs),
    };
    let to = match asked.agent_callback_url {
        Some(url) => Target::Callback(url),
        None => Target::inbox(asked.words.unwrap_or_default()).map_err(said)?,
    };
    Ok(Arm {
        job: named(asked.job_id).map_err(said)?,
        fire_at: FireAt::parse(asked.fire_at).map_err(said)?,
        to,
        recurring: asked.recurring,
        reports: asked.reports,
        policies: policies.checked().map_err(said)?,
    })
}

/// A name that an agent may give. Those of letters are the desk's own.
fn named(job_id: String) -> Result<JobId, BadJob> {
    JobId::new(job_id).and_then(|job| if job.is_of_letters() { Err(BadJob::Id) } else { Ok(job) })
}

fn unarmed(error: &StoreError) -> Response {
    match error.over_quota() {
        Some(over) => problem::OVER_QUOTA.said(&format!(
            "cancel jobs that are not needed, or have an operator raise {}",
            over.quota.slug()
        )),
        None => try_later(error, "a job could not be armed"),
    }
}

/// Forgets a job of the agent's. That it is not known is no error.
#[utoipa::path(
    post, path = "/api/agent-cron/cancel", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::Cancel,
    responses((status = 200, description = "What became of it", body = cron::Cancelled), Refusals)
)]
pub(super) async fn cancel(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let asked = asked::<cron::Cancel>(&gateways, from, request, WANTS_NAME).await;
    let ((scope, agent), cron::Cancel { job_id }) = match asked {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    // What cannot be armed is not known.
    let cancelled = match named(job_id) {
        Ok(job) => gateways.desk.schedule.cancel(scope, agent, &job).await,
        Err(_) => Ok(Cancelled::Unknown),
    };
    let outcome = match cancelled {
        Ok(Cancelled::Cancelled) => "cancelled",
        Ok(Cancelled::UnderWay) => "too_late",
        Ok(Cancelled::Unknown) => "unknown",
        Err(error) => return try_later(&error, "a job could not be cancelled"),
    };
    Json(cron::Cancelled { ok: true, outcome: outcome.to_owned() }).into_response()
}

/// Every job of the agent's that is armed.
#[utoipa::path(
    get, path = "/api/agent-cron/list", tag = "time", security(("access_token" = []), ("agent" = [])),
    responses((status = 200, description = "All of them", body = cron::List), Refusals)
)]
pub(super) async fn list(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (scope, agent) = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return refused,
    };
    match gateways.desk.schedule.armed(scope, agent).await {
        Ok(armed) => {
            let armed = armed.into_iter().filter(|armed| !armed.arm.job.is_of_letters());
            Json(cron::List { armed: armed.map(shown).collect() }).into_response()
        }
        Err(error) => try_later(&error, "jobs could not be listed"),
    }
}

fn shown(Armed { id, arming: _, arm }: Armed) -> cron::Armed {
    cron::Armed {
        job_id: arm.job.to_string(),
        fire_at: arm.fire_at.as_str().to_owned(),
        schedule_id: id.to_string(),
    }
}

/// A run of a job is over.
#[utoipa::path(
    post, path = "/api/agent-cron/done", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::Done,
    responses((status = 204, description = "It is written down"), Refusals)
)]
pub(super) async fn done(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let ((scope, agent), done) =
        match asked::<cron::Done>(&gateways, from, request, WANTS_RUN).await {
            Ok(asked) => asked,
            Err(refused) => return refused,
        };
    let Ok(fire) = done.fire_id.parse::<FireId>() else {
        return refuse(StatusCode::BAD_REQUEST, WANTS_RUN);
    };
    let report = Report { ok: done.ok, note: done.note.map(|note| cut(&note)) };
    match gateways.desk.schedule.report((scope, agent), fire, &report).await {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        Ok(false) => {
            problem::NOT_FOUND.said("the agent took no such fire, or said already how it went")
        }
        Err(error) => try_later(&error, "a run could not be noted"),
    }
}

/// What fits of a note.
fn cut(note: &str) -> String {
    let note = note.replace('\0', "");
    note[..note.floor_char_boundary(RUN_NOTE_BYTES_MAX)].to_owned()
}
