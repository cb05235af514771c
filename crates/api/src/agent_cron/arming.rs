//! Jobs of an agent: armed, cancelled, listed and reported.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use nightdesk_protocol::http::cron;
use nightdesk_schedule::{
    ActiveJob, ArmError, ArmRequest, BadJob, CancelOutcome, FireAt, JobId, Overlap, Policies,
    RunReport, Target,
};
use nightdesk_types::limits::RUN_NOTE_BYTES_MAX;
use nightdesk_types::{FireId, StoreError};

use crate::extract::{JobAgent, JsonBody, RequestBody};
use crate::problem::{self, OrUnavailable, Problem, Problems, unavailable};
use crate::state::ApiState;

const OVERLAPS: &str = "overlap is skip, buffer_one or allow_all";

impl RequestBody for cron::CronProvisionRequest {
    const EXPECTED: &'static str = "send JSON with job_id, fire_at, and agent_callback_url unless the fire is to come through the inbox";
}

impl RequestBody for cron::CronCancelRequest {
    const EXPECTED: &'static str = "send JSON with job_id";
}

impl RequestBody for cron::CronDoneRequest {
    const EXPECTED: &'static str =
        "send JSON with fire_id, the jti of the fire's token, ok, and optionally a note";
}

/// Arms a job of the agent for its next time, or moves it there.
#[utoipa::path(
    post, path = "/api/agent-cron/provision", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::CronProvisionRequest,
    responses((status = 200, description = "The job is armed", body = cron::CronProvisionResponse), Problems)
)]
pub(super) async fn provision(
    State(api): State<ApiState>,
    JobAgent(agent): JobAgent,
    JsonBody(requested): JsonBody<cron::CronProvisionRequest>,
) -> Result<Json<cron::CronProvisionResponse>, Problem> {
    let arm = read_arm(requested).map_err(|why| problem::BAD_REQUEST.with_detail(why))?;
    let ActiveJob { id, .. } = api.desk.stops.schedule.arm(agent.scope, agent.agent, &arm).await?;
    Ok(Json(cron::CronProvisionResponse { schedule_id: id.to_string() }))
}

/// Checks the requested job.
fn read_arm(requested: cron::CronProvisionRequest) -> Result<ArmRequest, String> {
    let explain = |bad: BadJob| bad.to_string();
    let defaults = Policies::default();
    let overlap = match requested.overlap.as_deref() {
        Some(name) => Overlap::from_slug(name).ok_or(OVERLAPS)?,
        None => defaults.overlap,
    };
    let policies = Policies {
        overlap,
        catch_up: requested.catch_up_seconds.map_or(defaults.catch_up, Duration::from_secs),
        jitter: requested.jitter_seconds.map_or(defaults.jitter, Duration::from_secs),
    };
    let to = match requested.agent_callback_url {
        Some(url) => Target::Callback(url),
        None => Target::inbox(requested.words.unwrap_or_default()).map_err(explain)?,
    };
    Ok(ArmRequest {
        job: read_job_id(requested.job_id).map_err(explain)?,
        fire_at: FireAt::parse(requested.fire_at).map_err(explain)?,
        to,
        recurring: requested.recurring,
        reports: requested.reports,
        policies: policies.check().map_err(explain)?,
    })
}

/// Checks a job's id. Agents cannot use the ids that the desk gives to letters.
fn read_job_id(job_id: String) -> Result<JobId, BadJob> {
    JobId::new(job_id).and_then(|job| if job.is_of_letters() { Err(BadJob::Id) } else { Ok(job) })
}

impl From<ArmError> for Problem {
    fn from(error: ArmError) -> Self {
        match error {
            ArmError::Callback(why) => problem::BAD_REQUEST
                .with_detail(format!("agent_callback_url (cron.chronos.callback_url): {why}")),
            ArmError::Store(error) => arm_failed(&error),
        }
    }
}

fn arm_failed(error: &StoreError) -> Problem {
    match error.over_quota() {
        Some(over) => problem::OVER_QUOTA.with_detail(format!(
            "cancel jobs that are not needed, or have an operator raise {}",
            over.quota.slug()
        )),
        None => unavailable(error, "a job could not be armed"),
    }
}

/// Cancels a job of the agent. An unknown job is not an error.
#[utoipa::path(
    post, path = "/api/agent-cron/cancel", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::CronCancelRequest,
    responses((status = 200, description = "The outcome", body = cron::CronCancelResponse), Problems)
)]
pub(super) async fn cancel(
    State(api): State<ApiState>,
    JobAgent(agent): JobAgent,
    JsonBody(cron::CronCancelRequest { job_id }): JsonBody<cron::CronCancelRequest>,
) -> Result<Json<cron::CronCancelResponse>, Problem> {
    // A job with an invalid id was never armed.
    let cancelled = match read_job_id(job_id) {
        Ok(job) => api.desk.stops.schedule.cancel(agent.scope, agent.agent, &job).await,
        Err(_) => Ok(CancelOutcome::Unknown),
    };
    let outcome = match cancelled.or_unavailable("a job could not be cancelled")? {
        CancelOutcome::Cancelled => "cancelled",
        CancelOutcome::UnderWay => "too_late",
        CancelOutcome::Unknown => "unknown",
    };
    Ok(Json(cron::CronCancelResponse { ok: true, outcome: outcome.to_owned() }))
}

/// Lists the agent's armed jobs.
#[utoipa::path(
    get, path = "/api/agent-cron/list", tag = "time", security(("access_token" = []), ("agent" = [])),
    responses((status = 200, description = "All armed jobs", body = cron::CronListResponse), Problems)
)]
pub(super) async fn list(
    State(api): State<ApiState>,
    JobAgent(agent): JobAgent,
) -> Result<Json<cron::CronListResponse>, Problem> {
    let armed = api.desk.stops.schedule.armed_jobs(agent.scope, agent.agent).await;
    let armed = armed.or_unavailable("jobs could not be listed")?;
    let own = armed.into_iter().filter(|armed| !armed.arm.job.is_of_letters());
    Ok(Json(cron::CronListResponse { armed: own.map(armed_body).collect() }))
}

fn armed_body(ActiveJob { id, arming: _, arm }: ActiveJob) -> cron::ArmedCronJob {
    cron::ArmedCronJob {
        job_id: arm.job.to_string(),
        fire_at: arm.fire_at.as_str().to_owned(),
        schedule_id: id.to_string(),
    }
}

/// Reports that a run of a job is over.
#[utoipa::path(
    post, path = "/api/agent-cron/done", tag = "time", security(("access_token" = []), ("agent" = [])),
    request_body = cron::CronDoneRequest,
    responses((status = 204, description = "The report is stored"), Problems)
)]
pub(super) async fn done(
    State(api): State<ApiState>,
    JobAgent(agent): JobAgent,
    JsonBody(done): JsonBody<cron::CronDoneRequest>,
) -> Result<StatusCode, Problem> {
    let expected = |_| problem::BAD_REQUEST.with_detail(cron::CronDoneRequest::EXPECTED);
    let fire: FireId = done.fire_id.parse().map_err(expected)?;
    let report = RunReport { ok: done.ok, note: done.note.map(|note| truncate_note(&note)) };
    let reported = api.desk.stops.schedule.report(agent.scope, agent.agent, fire, &report).await;
    if reported.or_unavailable("a run could not be recorded")? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(problem::NOT_FOUND
        .with_detail("the agent took no such fire, or has already reported its result"))
}

/// Shortens a note to the size that the store accepts.
fn truncate_note(note: &str) -> String {
    let note = note.replace('\0', "");
    note[..note.floor_char_boundary(RUN_NOTE_BYTES_MAX)].to_owned()
}
