//! A provider fires its own jobs while the desk is unavailable, and fires verified by another verifier.

use nightdesk_types::Timestamp;
use uuid::Uuid;

use super::limits::{FALLBACK_AFTER, FALLBACK_LOOK_EVERY, FALLBACK_LOOK_MIN};
use super::*;

const MINUTE: u64 = 60;

/// Returns a stage whose job is this many seconds past its time.
async fn overdue_by(seconds: u64) -> Stage {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20 + seconds));
    stage
}

/// Makes every call to the desk fail.
fn take_down(desk: &Desk) {
    for call in ["list", "provision", "cancel", "done", "token"] {
        desk.answers(call, StatusCode::BAD_GATEWAY);
    }
}

async fn next_at(stage: &Stage) -> Timestamp {
    stage.provider.jobs().await.unwrap()[0].1
}

#[tokio::test]
async fn an_overdue_job_runs_locally_while_the_desk_is_unavailable_and_once() {
    let mut stage = overdue_by(MINUTE).await;
    let due = next_at(&stage).await;
    take_down(&stage.desk);

    stage.provider.cron.tick().await.unwrap();
    let fire = stage.run().await;
    assert_eq!((fire.job.id(), fire.fire_at, fire.run, fire.is_local), ("tick", due, 1, true));
    assert!(next_at(&stage).await > due, "the claim moved the job");
    stage.provider.cron.tick().await.unwrap();
    stage.desk.answers_again();
    assert_eq!(stage.fire("tick", due, 1).await.0, StatusCode::ACCEPTED, "the desk's own fire");
    assert!(!stage.has_run(), "it lost the claim");
    let next = format_time(next_at(&stage).await);
    until(|| stage.desk.armed().get("tick") == Some(&next)).await;
    assert_eq!(stage.desk.asked("done"), 0, "the desk knows of no local fire");
}

#[tokio::test]
async fn a_job_is_left_to_a_desk_that_is_there() {
    let mut stage = overdue_by(MINUTE).await;
    let due = next_at(&stage).await;

    assert_eq!(stage.provider.cron.tick().await.unwrap(), FALLBACK_LOOK_EVERY);
    assert_eq!(next_at(&stage).await, due);
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_job_is_not_overdue_within_a_minute() {
    let mut stage = overdue_by(MINUTE - 1).await;
    let asked = stage.desk.asked("list");
    take_down(&stage.desk);

    assert_eq!(stage.provider.cron.tick().await.unwrap(), FALLBACK_LOOK_MIN);
    assert_eq!(stage.desk.asked("list"), asked, "the desk is not asked");
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_time_that_is_too_old_is_not_made_up_for() {
    let mut stage = Stage::new().await;
    let job = every("tick", 20).catch_up(Duration::from_secs(90));
    stage.provider.set(job).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20 + 91));
    take_down(&stage.desk);

    stage.provider.cron.tick().await.unwrap();
    assert!(next_at(&stage).await > stage.now(), "it was left behind");
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_job_that_runs_is_not_fired_again_beside_itself() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 20).carrying("wait".into())).await.unwrap();
    take_down(&stage.desk);
    stage.clock.let_pass(Duration::from_secs(20) + FALLBACK_AFTER);
    stage.provider.cron.tick().await.unwrap();
    assert_eq!(stage.run().await.run, 1);

    stage.clock.let_pass(Duration::from_secs(20) + FALLBACK_AFTER);
    stage.provider.cron.tick().await.unwrap();
    assert!(!stage.has_run(), "the first run goes on");
    stage.go.add_permits(1);
    until(|| !stage.provider.cron.running.contains("tick")).await;
    stage.provider.cron.tick().await.unwrap();
    assert_eq!(stage.run().await.run, 2);
}

#[tokio::test]
async fn the_background_task_looks_by_itself() {
    let desk = Desk::start().await;
    let login = Login::client("c1", "canary-5f1c");
    let settings = CronSettings::new(desk.url(), AGENT, login);
    let (clock, store) = (FakeClock::default(), Arc::new(MemoryStore::default()));
    let past = clock.now();
    clock.let_pass(Duration::from_secs(MINUTE + 1));
    let job = Job::new("once", Schedule::at(past));
    store::change(&*store, |book| book.set(job.clone(), past)).await.unwrap().unwrap();
    take_down(&desk);
    let (tell, mut began) = mpsc::channel(1);
    let work = work(run(tell, Arc::new(Semaphore::new(0))));

    let checked = settings.clone().check().unwrap();
    let _provider = Provider::start_with(checked, store, Arc::new(clock), work);
    let fire = timeout(PATIENCE, began.recv()).await.unwrap().unwrap();
    assert!(fire.is_local);
    assert!(!settings.without_fallback().check().unwrap().falls_back);
}

/// Accepts one key for one job.
struct JobKey(&'static str);

#[async_trait::async_trait]
impl FireVerifier for JobKey {
    async fn verify(&self, token: &str) -> Result<FireProof, FireRefusal> {
        match token {
            "key" => Ok(FireProof::new(Uuid::from_u128(1)).for_job(self.0)),
            "later" => Err(FireRefusal::Unavailable),
            _ => Err(FireRefusal::Invalid("it is not the key".to_owned())),
        }
    }
}

#[tokio::test]
async fn another_verifier_replaces_the_desks_behind_the_same_route() {
    let mut stage = Stage::with(|settings| settings.verified_by(JobKey("tick"))).await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.provider.set(every("other", 20)).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20));
    let fire =
        |job: &str| json!({ "job_id": job, "fire_at": format_time(stage.now()) }).to_string();
    let (tick, other) = (fire("tick"), fire("other"));

    let desks = stage.desk.token(1, stage.now());
    for (token, body, want) in [
        (desks.as_str(), &tick, StatusCode::UNAUTHORIZED),
        ("later", &tick, StatusCode::SERVICE_UNAVAILABLE),
        ("key", &other, StatusCode::UNAUTHORIZED),
        ("key", &tick, StatusCode::ACCEPTED),
    ] {
        assert_eq!(stage.post(token, body).await.0, want, "{token} {body}");
    }
    assert_eq!(stage.run().await.job.id(), "tick");
    assert!(!stage.has_run());
    assert_eq!(stage.desk.asked("jwks.json"), 0, "the desk's keys are not read");
}
