//! Promises about fires that are due while a previous run has not ended.

use nightdesk_schedule::{
    ArmRequest, CancelOutcome, FireCause, FireState, Overlap, Policies, RunReport,
};
use nightdesk_types::FireId;
use nightdesk_types::limits::RUN_MAX;

use super::{HOUR, LITTLE, Stage, job};
use crate::TimedHarness;

/// Returns a job whose agent reports the end of its runs.
fn reporting<H: TimedHarness>(stage: &Stage<'_, H>, overlap: Overlap) -> ArmRequest {
    let policies = Policies { overlap, ..Policies::default() };
    ArmRequest { reports: true, policies, ..stage.due("a") }
}

/// Starts a run, and makes its job due again.
async fn running<H: TimedHarness>(stage: &Stage<'_, H>, overlap: Overlap) -> FireId {
    stage.arm(&reporting(stage, overlap)).await;
    let told = stage.told().await;
    stage.take(&told).await;
    stage.arm(&reporting(stage, overlap)).await;
    told.fire
}

/// Under `skip`, a fire that is due during a run is skipped.
pub async fn a_run_that_is_not_over_is_let_be(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let first = running(&stage, Overlap::Skip).await;
    let (name, how) = stage.passed().await;
    assert_eq!((name, how), (job("a"), (FireState::Skipped, Some(FireCause::Overlap))));

    assert!(stage.report(first).await);
    stage.arm(&reporting(&stage, Overlap::Skip)).await;
    stage.told().await;
}

/// Under `buffer_one`, a fire that is due during a run waits for the end of that run only.
pub async fn a_run_that_is_not_over_is_waited_for(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let first = running(&stage, Overlap::BufferOne).await;
    stage.quiet().await;
    assert_eq!(stage.last("a").await, (FireState::Held, None));
    assert_eq!(stage.armed().await.len(), 1, "it is still to be told");
    stage.pass(RUN_MAX.checked_sub(LITTLE).expect("an hour is longer")).await;
    stage.quiet().await;

    assert!(stage.report(first).await);
    let second = stage.told().await;
    assert_eq!(second.tries, 1);
    stage.take(&second).await;
    stage.arm(&reporting(&stage, Overlap::BufferOne)).await;
    stage.quiet().await;
    stage.arm(&ArmRequest { reports: true, ..stage.in_a(HOUR, "a") }).await;
    assert_eq!(stage.last("a").await, (FireState::Skipped, Some(FireCause::Superseded)));
    assert_eq!(stage.cancel("a").await, CancelOutcome::Cancelled);
    stage.arm(&reporting(&stage, Overlap::BufferOne)).await;
    stage.quiet().await;
    assert_eq!(stage.cancel("a").await, CancelOutcome::Cancelled);
    assert_eq!(stage.last("a").await, (FireState::Skipped, Some(FireCause::Cancelled)));
    assert!(stage.report(second.fire).await);
    stage.quiet().await;
}

/// Under `allow_all`, or for an agent that does not report, a previous run does not delay a fire.
pub async fn a_run_that_is_not_over_may_not_matter(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    running(&stage, Overlap::AllowAll).await;
    stage.take(&stage.told().await).await;
    let silent = ArmRequest { reports: false, ..reporting(&stage, Overlap::Skip) };
    for _ in 0..2 {
        stage.arm(&silent).await;
        stage.take(&stage.told().await).await;
    }
    stage.arm(&ArmRequest { job: job("b"), ..reporting(&stage, Overlap::Skip) }).await;
    assert_eq!(stage.told().await.job, job("b"), "another job is another's business");
}

/// A run without a report ends after `RUN_MAX`.
pub async fn a_run_ends_of_itself_after_a_while(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    running(&stage, Overlap::BufferOne).await;
    stage.quiet().await;
    stage.pass(RUN_MAX).await;
    stage.take(&stage.told().await).await;
    stage.pass(RUN_MAX).await;

    stage.arm(&reporting(&stage, Overlap::Skip)).await;
    stage.told().await;
}

/// Only a run's agent can report it, only once, and the report is shown unchanged.
pub async fn a_report_counts_once(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let first = running(&stage, Overlap::AllowAll).await;
    let report = RunReport { ok: false, note: None };
    let bob = stage.cast.person("bob").await;
    let other = harness.register().create_agent(stage.ann.scope, "other").await;
    let other = (stage.ann.scope, other.expect("enter an agent"));
    for (scope, agent) in [(bob.scope, bob.agent), other] {
        let reported = harness.schedule().report(scope, agent, first, &report).await;
        assert!(!reported.expect("report a run"), "it is not theirs");
    }

    assert!(stage.report(first).await);
    let (ended_at, ok, note) = stage.job("a").await.last.and_then(|last| last.run).expect("a run");
    assert!(ended_at <= harness.now() && ok);
    assert_eq!(note.as_deref(), Some("went well"));
    assert!(!stage.report(first).await, "it was said already");
    let unknown = FireId::from_uuid(uuid::Uuid::from_u128(7_777));
    assert!(!stage.report(unknown).await);
}

/// A report proves that the agent took the fire, even without a response to the call. A skipped fire has no run.
pub async fn a_report_says_that_a_fire_was_taken(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let told = stage.told().await;
    assert!(stage.report(told.fire).await);
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    stage.pass(HOUR).await;
    stage.quiet().await;

    stage.arm(&stage.due("b")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);
    stage.cancel("b").await;
    assert!(!stage.report(told.fire).await);
}
