//! Promises about cancelling jobs.

use nightdesk_schedule::{ArmRequest, CancelOutcome, FireCause, FireEnd, FireState};
use nightdesk_types::limits::FIRE_CALL_HELD;

use super::{HOUR, Stage, job};
use crate::TimedHarness;

const CANCELLED: (FireState, Option<FireCause>) = (FireState::Skipped, Some(FireCause::Cancelled));

/// A cancelled job does not fire. Cancelling a job that is not armed returns `Unknown`.
pub async fn a_cancelled_job_is_not_told(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    assert_eq!(stage.cancel("a").await, CancelOutcome::Unknown);
    stage.arm(&stage.in_a(HOUR, "a")).await;

    assert_eq!(stage.cancel("a").await, CancelOutcome::Cancelled);
    assert_eq!(stage.cancel("a").await, CancelOutcome::Unknown);
    assert_eq!(stage.armed().await, []);
    stage.pass(HOUR * 2).await;
    stage.quiet().await;
    stage.arm(&stage.due("a")).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.cancel("a").await, CancelOutcome::Unknown, "it was taken");
}

/// A fire that waits for its next try ends when its job is cancelled.
pub async fn what_waits_is_cancelled(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);

    assert_eq!(stage.cancel("a").await, CancelOutcome::Cancelled);
    assert_eq!(stage.last("a").await, CANCELLED);
    assert_eq!(stage.armed().await, []);
    stage.pass(HOUR).await;
    stage.quiet().await;
    assert!(!stage.end(&told, FireEnd::Taken).await, "it is over");
}

/// A cancel while the agent is being called returns `UnderWay`. The call is not retried.
pub async fn who_cancels_too_late_hears_so(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&ArmRequest { recurring: true, ..stage.due("a") }).await;
    stage.arm(&stage.due("b")).await;
    let told = stage.claim().await.fires;
    for name in ["a", "b"] {
        assert_eq!(stage.cancel(name).await, CancelOutcome::UnderWay);
        assert_eq!(stage.cancel(name).await, CancelOutcome::UnderWay, "as often as it is asked");
    }
    assert_eq!(stage.armed().await, [], "what fails is not told again");
    let a = told.iter().find(|claimed| claimed.job == job("a")).expect("it was due");
    stage.take(a).await;
    assert_eq!(stage.last("a").await, (FireState::Fired, None));

    stage.pass(FIRE_CALL_HELD).await;
    let (name, how) = stage.passed().await;
    assert_eq!((name, how), (job("b"), CANCELLED));
    assert_eq!(stage.cancel("b").await, CancelOutcome::Unknown);
    stage.pass(HOUR).await;
    let flagged = harness.schedule().flag_unarmed().await.expect("flag jobs");
    assert_eq!(flagged, [], "nobody should arm it");
}

/// A fire whose call must have ended by now is cancelled like a waiting one.
pub async fn a_try_that_may_be_over_is_cancelled(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    stage.told().await;
    stage.pass(FIRE_CALL_HELD).await;

    assert_eq!(stage.cancel("a").await, CancelOutcome::Cancelled);
    assert_eq!(stage.last("a").await, CANCELLED);
    stage.quiet().await;
}

/// Of a concurrent cancel and claim, either the fire is not claimed or the cancel returns `UnderWay`.
pub async fn a_cancel_and_a_claim_at_once_agree(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for number in 0..30_u32 {
        let name = format!("job-{number}");
        stage.arm(&stage.due(&name)).await;
        let (cancelled, claims) = tokio::join!(stage.cancel(&name), stage.claim());
        let late = stage.claim().await.fires;
        let told = claims.fires.iter().chain(&late).filter(|told| told.job.as_str() == name);
        let agreed = match told.count() {
            0 => CancelOutcome::Cancelled,
            _ => CancelOutcome::UnderWay,
        };
        assert_eq!(cancelled, agreed);
    }
}

/// The jobs of a deprovisioned agent do not fire.
pub async fn a_deprovisioned_agent_is_told_of_nothing(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.in_a(HOUR, "a")).await;
    stage.arm(&stage.due("b")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);
    let (scope, agent) = stage.whose();
    harness.register().deprovision(scope, agent).await.expect("deprovision");

    assert_eq!(stage.armed().await, []);
    stage.pass(HOUR * 2).await;
    stage.quiet().await;
}
