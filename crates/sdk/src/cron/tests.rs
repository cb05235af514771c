//! A provider and a scripted desk: over real sockets, with a stopped clock.

mod desk;
mod firing;
mod refusing;
mod settling;
mod logging_in;
mod resting;
mod falling_back;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{Clock, Timestamp};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use self::desk::Desk;
use super::book::format_time;
use super::fire::work;
use super::*;

/// The agent's id at the desk.
const AGENT: &str = "0192f0c1-7f7e-7000-8000-0000000000a1";

/// Timeout of a test's wait.
const PATIENCE: Duration = Duration::from_secs(20);

/// A provider, its desk, and the runs of its jobs.
struct Stage {
    desk: Desk,
    clock: FakeClock,
    store: Arc<MemoryStore>,
    provider: Provider,
    began: mpsc::Receiver<Fire>,
    /// A job with the payload `wait` waits for one permit.
    go: Arc<Semaphore>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(|settings| settings.called_at("https://agent.example/")).await
    }

    async fn with(change: impl FnOnce(CronSettings) -> CronSettings) -> Self {
        let desk = Desk::start().await;
        let settings = CronSettings::new(desk.url(), AGENT, Login::client("c1", "canary-5f1c"));
        Self::on(desk, change(settings)).await
    }

    async fn on(desk: Desk, settings: CronSettings) -> Self {
        let (clock, store) = (FakeClock::default(), Arc::new(MemoryStore::default()));
        let (go, (tell, began)) = (Arc::new(Semaphore::new(0)), mpsc::channel(64));
        let work = work(run(tell, Arc::clone(&go)));
        let clocked = Arc::new(clock.clone());
        let kept: Arc<dyn Store> = Arc::clone(&store) as _;
        let provider = Provider::start_with(settings.check().unwrap(), kept, clocked, work);
        let stage = Self { desk, clock, store, provider, began, go };
        // The automatic work of the start is done, so that a test sees only its own effects.
        until(|| stage.desk.asked("list") == 1 || stage.desk.is_down()).await;
        drop(stage.provider.cron.arming.lock().await);
        stage
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn after(&self, secs: u64) -> Timestamp {
        self.now().checked_add(Duration::from_secs(secs)).unwrap()
    }

    /// Advances the clock, and fires a job that is due then, under this id.
    async fn fire_after(&self, secs: u64, job: &str, fire: u128) -> (StatusCode, Value) {
        self.clock.let_pass(Duration::from_secs(secs));
        self.fire(job, self.now(), fire).await
    }

    async fn fire(&self, job: &str, at: Timestamp, fire: u128) -> (StatusCode, Value) {
        let body = json!({"job_id": job, "fire_at": format_time(at)});
        self.post(&self.desk.token(fire, self.now()), &body.to_string()).await
    }

    async fn post(&self, token: &str, body: &str) -> (StatusCode, Value) {
        let request = Request::post("/api/cron/fire")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_owned()));
        self.call(request.unwrap()).await
    }

    async fn call(&self, request: Request<Body>) -> (StatusCode, Value) {
        let response = self.provider.router().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), 64 * 1024).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// Returns the next run to begin.
    async fn run(&mut self) -> Fire {
        timeout(PATIENCE, self.began.recv()).await.unwrap().unwrap()
    }

    fn has_run(&mut self) -> bool {
        self.began.try_recv().is_ok()
    }
}

/// Reports the fire, and then acts on the job's payload.
fn run(
    tell: mpsc::Sender<Fire>,
    go: Arc<Semaphore>,
) -> impl Fn(Fire) -> std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + Send>> {
    move |fire| {
        let (tell, go) = (tell.clone(), Arc::clone(&go));
        Box::pin(async move {
            let told = fire.job.payload().as_str().unwrap_or_default().to_owned();
            tell.send(fire).await.unwrap();
            match told.as_str() {
                "wait" => go.acquire().await.unwrap().forget(),
                "panic" => panic!("as the test wants it"),
                "" => {}
                _ => return Err(told),
            }
            Ok(())
        })
    }
}

fn every(id: &str, seconds: u64) -> Job {
    Job::new(id, Schedule::every(Duration::from_secs(seconds)).unwrap())
}

/// Waits for a condition.
async fn until(mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it came about in time");
}
