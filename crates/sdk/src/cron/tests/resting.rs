//! A provider takes the fires that it can run, and ends in order.

use super::*;

async fn waiting(jobs: usize) -> Stage {
    let stage = Stage::new().await;
    for number in 0..jobs {
        let job = every(&format!("job-{number}"), 20).carrying("wait".into());
        stage.provider.set(job).await.unwrap();
    }
    stage.clock.let_pass(Duration::from_secs(20));
    stage
}

#[tokio::test]
async fn who_has_enough_to_do_asks_to_come_again() {
    let mut stage = waiting(limits::RUNS_MAX + 1).await;
    for number in 0..limits::RUNS_MAX {
        let fired = stage.fire(&format!("job-{number}"), stage.now(), number as u128).await;
        assert_eq!(fired.0, StatusCode::ACCEPTED);
        stage.run().await;
    }
    let (last, fire) = (format!("job-{}", limits::RUNS_MAX), 1_000);

    assert_eq!(stage.fire(&last, stage.now(), fire).await.0, StatusCode::SERVICE_UNAVAILABLE);
    stage.go.add_permits(1);
    until(|| stage.desk.asked("done") == 1).await;
    let at = stage.now();
    let mut answer = stage.fire(&last, at, fire).await.0;
    while answer == StatusCode::SERVICE_UNAVAILABLE {
        answer = stage.fire(&last, at, fire).await.0;
    }
    assert_eq!(answer, StatusCode::ACCEPTED, "it was not claimed by who could not run it");
    stage.run().await;
}

#[tokio::test]
async fn who_rests_has_run_and_armed_everything_first() {
    let mut stage = waiting(1).await;
    stage.fire("job-0", stage.now(), 1).await;
    stage.run().await;
    let door = stage.provider.router();
    let resting = stage.provider.drain();
    tokio::pin!(resting);
    let rested = timeout(Duration::from_millis(200), &mut resting).await;
    assert!(rested.is_err(), "a run is under way");
    let token = stage.desk.token(2, stage.clock.now());
    let request = Request::post("/api/cron/fire")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::from(json!({"job_id": "job-0"}).to_string()));
    let answer = door.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "and nothing more is taken");
    assert_eq!(answer.headers()[header::RETRY_AFTER], limits::COME_AGAIN_SECS);
    stage.desk.arms("job-0", "lost");

    stage.go.add_permits(1);
    let rested = timeout(PATIENCE, resting).await.unwrap().unwrap();
    assert_eq!(rested, Reconciliation { armed: 1, cancelled: 0 });
    assert_eq!(stage.desk.asked("done"), 1);
}

#[tokio::test]
async fn runs_end_with_their_provider() {
    let mut stage = waiting(1).await;
    stage.fire("job-0", stage.now(), 1).await;
    stage.run().await;
    let Stage { provider, mut began, .. } = stage;
    drop(provider);

    let over = timeout(PATIENCE, began.recv()).await.unwrap();
    assert!(over.is_none(), "nobody is left to run anything");
}

#[tokio::test]
async fn a_fire_that_cannot_be_kept_is_not_taken() {
    struct Broken;
    #[async_trait::async_trait]
    impl Store for Broken {
        async fn read(&self) -> Result<Book, StoreError> {
            Err(StoreError::new("broken", None))
        }

        async fn replace(&self, _: Book) -> Result<bool, StoreError> {
            Err(StoreError::new("broken", None))
        }
    }
    let mut stage = Stage::new().await;
    let settings = CronSettings::new(stage.desk.url(), AGENT, Login::token("t"));
    let work = work(|_| async { Ok::<_, String>(()) });
    let clock = Arc::new(stage.clock.clone());
    stage.provider = Provider::start_with(settings.check().unwrap(), Arc::new(Broken), clock, work);

    let answer = stage.fire("tick", stage.now(), 1).await;
    assert_eq!(answer.0, StatusCode::SERVICE_UNAVAILABLE);
    let told = stage.provider.set(every("tick", 20)).await;
    assert!(matches!(told, Err(CronError::Store(_))), "{told:?}");
}

/// The desk waits five seconds; a disk may take longer.
#[tokio::test]
async fn who_hangs_up_does_not_come_between_a_claim_and_its_run() {
    struct Slow(MemoryStore, Semaphore);
    #[async_trait::async_trait]
    impl Store for Slow {
        async fn read(&self) -> Result<Book, StoreError> {
            self.0.read().await
        }

        async fn replace(&self, book: Book) -> Result<bool, StoreError> {
            let kept = self.0.replace(book).await;
            self.1.acquire().await.unwrap().forget();
            kept
        }
    }
    let stage = Stage::new().await;
    let settings = CronSettings::new(stage.desk.url(), AGENT, Login::token("t")).check().unwrap();
    let store = Arc::new(Slow(MemoryStore::default(), Semaphore::new(1)));
    let (tell, mut began) = mpsc::channel(1);
    let work = work(run(tell, Arc::new(Semaphore::new(0))));
    let clock = Arc::new(stage.clock.clone());
    let provider = Provider::start_with(settings, Arc::clone(&store) as _, clock, work);
    provider.set(every("tick", 20)).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20));

    let at = format_time(stage.now());
    let id = uuid::Uuid::from_u128(1).to_string();
    let mut fired = Box::pin(provider.take_fire("tick", &at, &id));
    while store.read().await.unwrap().version() < 2 {
        assert!(futures_util::poll!(&mut fired).is_pending());
        tokio::task::yield_now().await;
    }
    drop(fired);
    store.1.add_permits(1);
    assert_eq!(timeout(PATIENCE, began.recv()).await.unwrap().unwrap().run, 1);
}
