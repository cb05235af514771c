//! A fire is called at its instant and has one id.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "fires/stage.rs"]
mod stage;

/// The mutant X12 fails it: the node's clock decides when a job is due.
#[tokio::test(start_paused = true)]
async fn a_job_is_due_by_the_stores_clock() {
    let (_, first) = stage::told().await;

    assert_eq!(first, Some(10));
}

/// The mutant X11 fails it: each try has its own id.
#[tokio::test(start_paused = true)]
async fn all_tries_of_a_fire_have_one_id() {
    let (tries, _) = stage::told().await;

    assert_eq!(tries.len(), 2);
    assert_eq!(tries[0], tries[1]);
}
