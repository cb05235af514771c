//! A scripted desk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use nightdesk_testkit::fire::{Between, Signer};
use nightdesk_types::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use uuid::Uuid;

/// Shared by all tests, because creating keys is slow.
pub(super) static SIGNER: LazyLock<Signer> = LazyLock::new(Signer::default);

/// The desk. It ends when it is dropped.
pub(super) struct Desk {
    url: String,
    told: Arc<Told>,
    _served: JoinSet<()>,
}

#[derive(Default)]
struct Told(Mutex<Book>);

/// The recorded calls, and the answers to give.
#[derive(Default)]
struct Book {
    calls: Vec<(String, Value)>,
    shown: Option<String>,
    armed: BTreeMap<String, String>,
    tokens: u32,
    life_secs: u64,
    revoked: BTreeSet<String>,
    answers: BTreeMap<&'static str, StatusCode>,
    refused_jobs: BTreeSet<&'static str>,
    hangs: bool,
}

impl Told {
    fn with<T>(&self, act: impl FnOnce(&mut Book) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Desk {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Told::default());
        told.with(|book| book.life_secs = 3_600);
        let router = Router::new()
            .route("/oauth/token", post(token))
            .route("/oauth/jwks.json", get(|| async { Json(SIGNER.jwks()) }))
            .route("/api/agent-cron/{call}", any(cron))
            .layer(from_fn_with_state(Arc::clone(&told), noted))
            .with_state(Arc::clone(&told));
        let mut served = JoinSet::new();
        served.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, told, _served: served }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn between(&self) -> Between {
        let audience = format!("agent:{}", super::AGENT);
        Between { issuer: self.url.clone(), audience }
    }

    /// Returns a valid token for a fire of this number.
    pub(super) fn token(&self, fire: u128, now: Timestamp) -> String {
        let id = Uuid::from_u128(fire).to_string();
        SIGNER.good(&self.between(), &id, now.as_second())
    }

    /// Returns every call so far, except logins and keys, with its name and its body.
    pub(super) fn calls(&self) -> Vec<(String, Value)> {
        let of_cron = |(name, _): &&(String, Value)| name != "token" && name != "jwks.json";
        self.told.with(|book| book.calls.iter().filter(of_cron).cloned().collect())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.calls().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the body of the last call of this name.
    pub(super) fn last(&self, name: &str) -> Option<Value> {
        self.calls().into_iter().rfind(|(call, _)| call == name).map(|(_, body)| body)
    }

    pub(super) fn asked(&self, name: &str) -> usize {
        self.told.with(|book| book.calls.iter().filter(|(call, _)| call == name).count())
    }

    /// Returns the access token of the last call.
    pub(super) fn shown(&self) -> Option<String> {
        self.told.with(|book| book.shown.clone())
    }

    pub(super) fn armed(&self) -> BTreeMap<String, String> {
        self.told.with(|book| book.armed.clone())
    }

    pub(super) fn arms(&self, job: &str, fire_at: &str) {
        self.told.with(|book| book.armed.insert(job.to_owned(), fire_at.to_owned()));
    }

    pub(super) fn forgets(&self, job: &str) {
        self.told.with(|book| book.armed.remove(job));
    }

    /// Answers calls of this name with this status until it is changed.
    pub(super) fn answers(&self, name: &'static str, status: StatusCode) {
        self.told.with(|book| book.answers.insert(name, status));
    }

    pub(super) fn answers_again(&self) {
        self.told.with(|book| book.answers.clear());
    }

    pub(super) fn is_down(&self) -> bool {
        self.told.with(|book| !book.answers.is_empty() || book.hangs)
    }

    pub(super) fn refuses_job(&self, job: &'static str) {
        self.told.with(|book| book.refused_jobs.insert(job));
    }

    /// Sets the life of future tokens.
    pub(super) fn gives_for(&self, life_secs: u64) {
        self.told.with(|book| book.life_secs = life_secs);
    }

    /// Revokes all issued tokens.
    pub(super) fn revokes(&self) {
        self.told.with(|book| {
            let given = (1..=book.tokens).map(|number| format!("t{number}"));
            book.revoked.extend(given);
        });
    }

    pub(super) fn hangs(&self) {
        self.told.with(|book| book.hangs = true);
    }
}

/// Records every call, and answers it if the test set an answer.
async fn noted(State(told): State<Arc<Told>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1024 * 1024).await.unwrap();
    let name = head.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let said = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into());
    let (answer, hangs) = told.with(|book| {
        book.calls.push((name.clone(), said));
        (book.answers.get(name.as_str()).copied(), book.hangs)
    });
    if hangs {
        std::future::pending::<()>().await;
    }
    match answer {
        Some(status) => status.into_response(),
        None => next.run(Request::from_parts(head, bytes.into())).await,
    }
}

async fn token(State(told): State<Arc<Told>>, form: String) -> Response {
    if form != "grant_type=client_credentials&client_id=c1&client_secret=canary-5f1c" {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    told.with(|book| {
        book.tokens += 1;
        let token = format!("t{}", book.tokens);
        Json(json!({
            "access_token": token, "token_type": "Bearer", "expires_in": book.life_secs,
        }))
        .into_response()
    })
}

async fn cron(
    State(told): State<Arc<Told>>,
    Path(call): Path<String>,
    request: Request,
) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).cloned();
    let shown = shown.as_ref().and_then(|shown| shown.to_str().ok()?.strip_prefix("Bearer "));
    let good = told.with(|book| {
        book.shown = shown.map(str::to_owned);
        shown.is_some_and(|shown| !book.revoked.contains(shown))
    });
    if !good {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let body = axum::body::to_bytes(request.into_body(), 1024 * 1024).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    told.with(|book| book.obey(&call, &body))
}

impl Book {
    fn obey(&mut self, call: &str, body: &Value) -> Response {
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        let job = text("job_id");
        match call {
            "provision" if self.refused_jobs.contains(job.as_str()) => {
                return StatusCode::UNPROCESSABLE_ENTITY.into_response();
            }
            "provision" => drop(self.armed.insert(job, text("fire_at"))),
            "cancel" => drop(self.armed.remove(&job)),
            "list" => {
                let armed = self.armed.iter().map(|(job, fire_at)| {
                    json!({"job_id": job, "fire_at": fire_at, "schedule_id": "s1"})
                });
                return Json(json!({ "armed": armed.collect::<Vec<_>>() })).into_response();
            }
            "done" => {}
            _ => return StatusCode::NOT_FOUND.into_response(),
        }
        Json(json!({})).into_response()
    }
}
