//! A fire that the desk signed runs its job, once.

use std::num::NonZeroU32;

use futures_util::future::join_all;
use uuid::Uuid;

use super::*;

fn accepted(job: &str) -> (StatusCode, Value) {
    (StatusCode::ACCEPTED, json!({"status": "accepted", "job_id": job}))
}

#[tokio::test]
async fn a_fire_runs_its_job_and_arms_the_next() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 20).carrying("wait".into())).await.unwrap();

    assert_eq!(stage.fire_after(20, "tick", 1).await, accepted("tick"), "before it has run");
    let fire = stage.run().await;
    assert_eq!((fire.job.id(), fire.fire_at, fire.run), ("tick", stage.now(), 1));
    assert_eq!(fire.fire_id, Uuid::from_u128(1).to_string());
    assert_eq!(stage.desk.armed()["tick"], format_time(stage.after(20)), "armed before it runs");
    assert_eq!(stage.desk.asked("done"), 0);
    stage.go.add_permits(1);
    until(|| stage.desk.asked("done") == 1).await;
    assert_eq!(
        stage.desk.last("done").unwrap(),
        json!({"fire_id": Uuid::from_u128(1).to_string(), "ok": true}),
    );
    let after_start = ["list", "list", "provision", "provision", "done"];
    assert_eq!(stage.desk.names(), after_start, "a fire needs no list");
}

#[tokio::test]
async fn a_fire_that_comes_many_times_runs_once() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 20).carrying("wait".into())).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20));

    let at = stage.now();
    let answers = join_all((0..8).map(|_| stage.fire("tick", at, 1))).await;
    assert_eq!(answers, vec![accepted("tick"); 8]);
    stage.run().await;
    assert_eq!(stage.fire("tick", at, 1).await, accepted("tick"), "while it runs");
    stage.go.add_permits(1);
    until(|| stage.desk.asked("done") == 1).await;
    assert_eq!(stage.fire("tick", at, 1).await, accepted("tick"), "after it ended");
    assert_eq!(stage.fire("tick", at, 2).await, accepted("tick"), "and under another name");
    let jobs = stage.provider.jobs().await.unwrap();
    assert_eq!(jobs[0].1, stage.after(20), "nothing was claimed by any of them");
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_token_fires_nothing_but_its_own() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("a", 20)).await.unwrap();
    stage.provider.set(every("b", 20)).await.unwrap();

    assert_eq!(stage.fire_after(20, "a", 1).await, accepted("a"));
    assert_eq!(stage.run().await.job.id(), "a");
    assert_eq!(stage.fire("b", stage.now(), 1).await, accepted("b"), "the same token");
    until(|| stage.desk.asked("done") == 1).await;
    assert_eq!(stage.fire("b", stage.now(), 2).await, accepted("b"));
    assert_eq!(stage.run().await.fire_id, Uuid::from_u128(2).to_string(), "its own");
}

#[tokio::test]
async fn an_old_time_has_the_desk_set_right() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.desk.arms("tick", "2026-11-18T12:00:10+00:00");

    let at = stage.after(10);
    stage.clock.let_pass(Duration::from_secs(10));
    assert_eq!(stage.fire("tick", at, 1).await, accepted("tick"));
    let due = format_time(stage.after(10));
    until(|| stage.desk.armed()["tick"] == due).await;
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_job_that_had_its_last_time_is_cancelled_and_gone() {
    let mut stage = Stage::new().await;
    let twice = every("twice", 20).times(NonZeroU32::new(2).unwrap());
    stage.provider.set(twice).await.unwrap();
    for fire in 1..=2 {
        assert_eq!(stage.fire_after(20, "twice", fire).await, accepted("twice"));
        assert_eq!(u128::from(stage.run().await.run), fire);
    }

    until(|| stage.desk.asked("cancel") == 1).await;
    assert_eq!(stage.desk.last("cancel").unwrap(), json!({"job_id": "twice"}));
    assert_eq!(stage.desk.asked("provision"), 2, "not armed again");
    assert!(stage.desk.last("provision").unwrap().get("recurring").is_none(), "the last one");
    let gone = (StatusCode::OK, json!({"status": "gone", "job_id": "twice"}));
    assert_eq!(stage.fire_after(20, "twice", 3).await, gone);
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_one_shot_is_over_without_a_word() {
    let mut stage = Stage::new().await;
    stage.provider.set(Job::new("once", Schedule::at(stage.after(5)))).await.unwrap();

    assert_eq!(stage.fire_after(5, "once", 1).await, accepted("once"));
    stage.run().await;
    until(|| stage.desk.asked("done") == 1).await;
    assert_eq!(stage.fire("once", stage.now(), 2).await.0, StatusCode::OK);
    assert_eq!(stage.desk.names(), ["list", "list", "provision", "done"]);
}

#[tokio::test]
async fn how_a_run_ended_is_reported() {
    let mut stage = Stage::new().await;
    let long = "x".repeat(limits::NOTE_CHARS_MAX + 1);
    let cases = [
        ("failed", "no luck", Some("no luck")),
        ("panicked", "panic", Some("the run panicked")),
        ("said-much", long.as_str(), Some(&long[1..])),
        ("well", "", None),
    ];
    for (fire, (id, payload, note)) in (1..).zip(cases) {
        stage.provider.set(every(id, 20).carrying(payload.into())).await.unwrap();
        assert_eq!(stage.fire_after(20, id, fire).await, accepted(id));
        stage.run().await;
        until(|| stage.desk.asked("done") == usize::try_from(fire).unwrap()).await;
        let done = stage.desk.last("done").unwrap();
        assert_eq!((&done["ok"], done["note"].as_str()), (&json!(note.is_none()), note), "{id}");
        assert_eq!(stage.desk.armed()[id], format_time(stage.after(20)), "{id} goes on");
    }
}

#[tokio::test]
async fn a_report_is_repeated_and_one_that_is_not_wanted_is_not_made() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("quiet", 20).without_reports()).await.unwrap();
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.desk.answers("done", StatusCode::BAD_GATEWAY);
    stage.fire_after(20, "quiet", 1).await;
    stage.run().await;
    stage.fire("tick", stage.now(), 2).await;
    stage.run().await;

    until(|| stage.desk.asked("done") == 1).await;
    stage.desk.answers_again();
    until(|| stage.desk.asked("done") == 2).await;
    let of: Vec<_> = stage.desk.calls().into_iter().filter(|(name, _)| name == "done").collect();
    assert!(of.iter().all(|(_, done)| done["fire_id"] == Uuid::from_u128(2).to_string()));
}

#[tokio::test]
async fn a_job_goes_on_though_its_next_fire_could_not_be_armed_at_once() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.desk.answers("provision", StatusCode::SERVICE_UNAVAILABLE);

    stage.fire_after(20, "tick", 1).await;
    stage.run().await;
    stage.desk.answers_again();
    let next = format_time(stage.after(20));
    until(|| stage.desk.armed()["tick"] == next).await;
}

#[tokio::test]
async fn what_comes_through_the_inbox_takes_the_same_road() {
    let mut stage = Stage::with(|settings| settings).await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20));
    let (at, id) = (format_time(stage.now()), Uuid::from_u128(1).to_string());
    let fired = async |job, at, id| stage.provider.take_fire(job, at, id).await;

    assert_eq!(fired("other", &at, &id).await.unwrap(), FireResult::Gone);
    assert_eq!(fired("tick", &at, &id).await.unwrap(), FireResult::Started);
    assert_eq!(fired("tick", &at, &id).await.unwrap(), FireResult::Lost);
    assert!(matches!(fired("tick", &at, "1").await, Err(CronError::FireId)));
    assert_eq!(stage.fire("tick", stage.now(), 1).await, accepted("tick"), "at the door, too");
    assert_eq!(stage.run().await.run, 1);
    assert!(!stage.has_run());
}

#[tokio::test]
async fn processes_that_share_a_file_share_their_fires() {
    let desk = Desk::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let (clock, (tell, mut began)) = (FakeClock::default(), mpsc::channel(64));
    let provider = || {
        let settings = CronSettings::new(desk.url(), AGENT, Login::token("t"));
        let work = work(run(tell.clone(), Arc::new(Semaphore::new(0))));
        let store = Arc::new(FileStore::at(&path));
        Provider::start_with(settings.check().unwrap(), store, Arc::new(clock.clone()), work)
    };
    let several = [provider(), provider(), provider()];
    several[0].set(every("tick", 20)).await.unwrap();

    for fire in 1..=5 {
        clock.let_pass(Duration::from_secs(20));
        let (at, id) = (format_time(clock.now()), Uuid::from_u128(fire).to_string());
        let all = several.iter().map(|provider| provider.take_fire("tick", &at, &id));
        let fired: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
        let started = fired.iter().filter(|fired| **fired == FireResult::Started).count();
        assert_eq!(started, 1, "{fired:?}");
        let began = timeout(PATIENCE, began.recv()).await.unwrap().unwrap();
        assert_eq!(u128::from(began.run), fire, "counted together");
    }
    assert!(began.try_recv().is_err());
}
