//! Calls to the desk about jobs, each with a timeout.

use std::time::Duration;

use nightdesk_protocol::http::cron::{ArmedCronJob, CronCancelRequest, CronListResponse};
use reqwest::Method;
use serde::Serialize;

use super::book::{DueJob, format_time};
use super::job::Overlap;
use crate::desk_client::{DeskCallError, DeskClient};

/// The desk's job routes.
pub(super) struct CronClient {
    asking: DeskClient,
    callback: Option<String>,
}

/// `POST …/provision`. Fields outside the base contract are omitted if they are empty.
#[derive(Serialize)]
struct ProvisionBody<'a> {
    job_id: &'a str,
    fire_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_callback_url: Option<&'a str>,
    dedup_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deliver: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    recurring: bool,
    #[serde(skip_serializing_if = "is_false")]
    reports: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<Overlap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_up_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter_seconds: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// `POST …/done`: a run has ended.
#[derive(Serialize)]
pub(super) struct DoneReport<'a> {
    pub(super) fire_id: &'a str,
    pub(super) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'a str>,
}

impl CronClient {
    pub(super) const fn new(asking: DeskClient, callback: Option<String>) -> Self {
        Self { asking, callback }
    }

    /// Arms a job for its next time, or moves it there.
    pub(super) async fn provision(&self, due: DueJob<'_>) -> Result<(), DeskCallError> {
        let DueJob { job, at, recurring } = due;
        let (fire_at, callback) = (format_time(at), self.callback.as_deref());
        let secs = |span: Option<Duration>| span.map(|span| span.as_secs());
        let body = ProvisionBody {
            job_id: job.id(),
            fire_at: &fire_at,
            agent_callback_url: callback,
            dedup_key: format!("{}:{fire_at}", job.id()),
            deliver: callback.is_none().then_some("inbox"),
            recurring,
            reports: job.reports,
            overlap: job.overlap,
            catch_up_seconds: secs(job.catch_up),
            jitter_seconds: secs(job.jitter),
        };
        self.post("arm a job", "provision", &body).await
    }

    /// Cancels a job. An unknown job is no error.
    pub(super) async fn cancel(&self, job_id: &str) -> Result<(), DeskCallError> {
        let body = CronCancelRequest { job_id: job_id.to_owned() };
        self.post("cancel a job", "cancel", &body).await
    }

    /// Returns all armed jobs.
    pub(super) async fn list(&self) -> Result<Vec<ArmedCronJob>, DeskCallError> {
        let what = "list the armed jobs";
        let body = self.call(what, Method::GET, "list", None).await?;
        let list: CronListResponse =
            serde_json::from_slice(&body).map_err(|_| DeskCallError::Unreadable(what))?;
        Ok(list.armed)
    }

    /// Reports the end of a run.
    pub(super) async fn report_done(&self, done: &DoneReport<'_>) -> Result<(), DeskCallError> {
        self.post("report a run", "done", done).await
    }

    async fn post(
        &self,
        what: &'static str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<(), DeskCallError> {
        let body = serde_json::to_vec(body).map_err(|_| DeskCallError::Unreadable(what))?;
        self.call(what, Method::POST, path, Some(body)).await.map(drop)
    }

    async fn call(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Vec<u8>, DeskCallError> {
        let path = format!("/api/agent-cron/{path}");
        self.asking.request(what, method, &path, body).await?.into_body(what)
    }
}
