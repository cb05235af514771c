//! The desk has armed exactly the agent's jobs.

use std::num::NonZeroU32;

use super::*;

#[tokio::test]
async fn a_job_is_armed_in_the_words_of_the_contract() {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 20).without_reports()).await.unwrap();

    let fire_at = format_time(stage.after(20));
    assert_eq!(
        stage.desk.last("provision").unwrap(),
        json!({
            "job_id": "tick", "fire_at": fire_at, "recurring": true,
            "agent_callback_url": "https://agent.example", "dedup_key": format!("tick:{fire_at}"),
        }),
    );
    assert_eq!(
        stage.provider.jobs().await.unwrap(),
        [(every("tick", 20).without_reports(), stage.after(20))]
    );
}

#[tokio::test]
async fn what_else_the_desk_should_know_is_said_too() {
    let stage = Stage::with(|settings| settings).await;
    let (minute, hour) = (Duration::from_mins(1), Duration::from_hours(1));
    let job = Job::new("once", Schedule::at(stage.after(5)));
    let job = job.overlap(Overlap::BufferOne).catch_up(hour).jitter(minute);
    stage.provider.set(job).await.unwrap();

    let fire_at = format_time(stage.after(5));
    assert_eq!(
        stage.desk.last("provision").unwrap(),
        json!({
            "job_id": "once", "fire_at": fire_at, "dedup_key": format!("once:{fire_at}"),
            "deliver": "inbox", "reports": true, "overlap": "buffer_one",
            "catch_up_seconds": 3_600, "jitter_seconds": 60,
        }),
        "without a URL to be called at, it comes through the inbox"
    );
}

#[tokio::test]
async fn orphans_are_cancelled_and_what_is_right_is_left_alone() {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.desk.arms("orphan", "2026-11-18T12:00:00+00:00");

    let set_right = Reconciliation { armed: 0, cancelled: 1 };
    assert_eq!(stage.provider.reconcile().await.unwrap(), set_right);
    assert_eq!(stage.desk.last("cancel").unwrap(), json!({"job_id": "orphan"}));
    assert_eq!(stage.provider.reconcile().await.unwrap(), Reconciliation::default());
    assert_eq!(stage.desk.asked("provision"), 1);
}

#[tokio::test]
async fn a_change_moves_what_is_armed_and_a_removal_cancels_it() {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.provider.set(every("tick", 20)).await.unwrap();
    assert_eq!(stage.desk.asked("provision"), 1, "set once more, as at every start");

    stage.provider.set(every("tick", 30)).await.unwrap();
    assert_eq!(stage.desk.armed()["tick"], format_time(stage.after(30)));
    stage.provider.remove("tick").await.unwrap();
    assert!(stage.desk.armed().is_empty());
    stage.provider.remove("tick").await.unwrap();
}

#[tokio::test]
async fn whoever_starts_sets_right_what_went_wrong_while_it_was_off() {
    let stage = Stage::new().await;
    let twice = every("twice", 20).times(NonZeroU32::new(2).unwrap());
    stage.provider.set(twice).await.unwrap();
    stage.desk.arms("twice", "lost");
    stage.desk.arms("orphan", "2026-11-18T12:00:00+00:00");
    let Stage { desk, clock, store, .. } = stage;

    let login = Login::client("c1", "canary-5f1c");
    let settings = CronSettings::new(desk.url(), AGENT, login).check().unwrap();
    let work = work(|_| async { Ok::<_, String>(()) });
    let due = format_time(clock.now().checked_add(Duration::from_secs(20)).unwrap());
    let _again = Provider::start_with(settings, store, Arc::new(clock), work);
    until(|| desk.armed() == [("twice".to_owned(), due.clone())].into()).await;
}

#[tokio::test]
async fn a_time_that_nobody_keeps_is_left_behind_after_a_day() {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 60)).await.unwrap();
    let first = stage.desk.armed();
    stage.clock.let_pass(Duration::from_hours(25));
    stage.provider.reconcile().await.unwrap();
    assert_eq!(stage.desk.armed(), first, "one that is armed is left to the desk");

    stage.desk.forgets("tick");
    stage.provider.reconcile().await.unwrap();
    assert_eq!(stage.desk.armed()["tick"], format_time(stage.after(60)));
}

#[tokio::test]
async fn what_the_desk_could_not_be_told_it_is_told_again() {
    let stage = Stage::new().await;
    stage.desk.answers("provision", StatusCode::INTERNAL_SERVER_ERROR);
    let told = stage.provider.set(every("tick", 20)).await;
    assert!(matches!(told, Err(CronError::Desk(DeskCallError::Refused(_, 500)))), "{told:?}");
    assert_eq!(stage.provider.jobs().await.unwrap().len(), 1, "it is kept all the same");

    until(|| stage.desk.asked("provision") >= 2).await;
    stage.desk.answers_again();
    until(|| stage.desk.armed().contains_key("tick")).await;
}

#[tokio::test]
async fn a_job_that_is_refused_keeps_no_other_from_being_armed() {
    let stage = Stage::new().await;
    stage.desk.refuses_job("bad");
    let told = stage.provider.set(every("bad", 20)).await;
    assert!(matches!(told, Err(CronError::Desk(DeskCallError::Refused(_, 422)))), "{told:?}");

    let told = stage.provider.set(every("good", 20)).await;
    assert!(told.is_err(), "not all is as it should be");
    assert_eq!(stage.desk.armed().into_keys().collect::<Vec<_>>(), ["good"]);
}

#[tokio::test]
async fn what_is_no_job_is_not_kept() {
    let stage = Stage::new().await;
    let told = stage.provider.set(every("a:b", 20)).await;

    assert!(matches!(told, Err(CronError::Job(BadJob::Id))), "{told:?}");
    assert!(stage.provider.jobs().await.unwrap().is_empty());
    assert_eq!(stage.desk.names(), ["list"]);
}

/// Time is paused: while the desk hangs, only the timeout can happen.
#[tokio::test(start_paused = true)]
async fn a_desk_that_hangs_is_not_waited_for_for_ever() {
    let desk = Desk::start().await;
    desk.hangs();
    let settings = CronSettings::new(desk.url(), AGENT, Login::token("t"));
    let stage = Stage::on(desk, settings).await;
    let began = tokio::time::Instant::now();

    let told = stage.provider.reconcile().await;
    assert!(matches!(told, Err(CronError::Desk(DeskCallError::Unanswered(..)))), "{told:?}");
    // The call of the start is waited for first.
    assert!(began.elapsed() <= 2 * limits::CALL_WAIT + Duration::from_secs(1));
}
