//! Promises about lists of jobs and fires, notices of unarmed jobs, and retention.

use nightdesk_schedule::{ArmRequest, CancelOutcome, UnarmedJob};
use nightdesk_types::limits::{FIRES_KEPT, FIRES_PAGE_MAX, LIST_ROWS_MAX, UNARMED_AFTER};
use nightdesk_wake::NoticeKind;

use super::{HOUR, LITTLE, Stage, job};
use crate::TimedHarness;
use crate::upkeep::keep;

async fn flagged<H: TimedHarness>(stage: &Stage<'_, H>) -> Vec<UnarmedJob> {
    stage.harness.schedule().flag_unarmed().await.expect("flag jobs")
}

/// A recurring job that is not armed in time after its fire is flagged once.
pub async fn a_job_that_should_be_armed_is_flagged_once(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let recurring = |name| ArmRequest { recurring: true, ..stage.due(name) };
    for arm in [recurring("a"), recurring("b"), stage.due("once")] {
        stage.arm(&arm).await;
        stage.take(&stage.told().await).await;
    }
    stage.pass(UNARMED_AFTER.checked_sub(LITTLE).expect("minutes are longer")).await;
    assert_eq!(flagged(&stage).await, [], "it is early");
    stage.arm(&ArmRequest { recurring: true, ..stage.in_a(HOUR, "b") }).await;
    stage.pass(LITTLE).await;

    let (scope, agent) = stage.whose();
    assert_eq!(flagged(&stage).await, [UnarmedJob { scope, agent, job: job("a") }]);
    assert_eq!(flagged(&stage).await, [], "it is told once");
    assert_eq!(stage.notices(NoticeKind::Unarmed).await, ["a"]);
    assert!(stage.job("a").await.flagged_at.is_some());
    stage.arm(&ArmRequest { recurring: true, ..stage.in_a(HOUR, "a") }).await;
    assert_eq!(stage.job("a").await.flagged_at, None);
}

/// A job that is armed again after it fired counts as recurring, even if its agent does not mark it so.
pub async fn a_job_armed_again_is_recurring(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    assert!(!stage.arm(&stage.due("a")).await.arm.recurring);
    stage.take(&stage.told().await).await;
    stage.pass(HOUR).await;
    assert_eq!(flagged(&stage).await, [], "it fired once");
    let again = stage.due("a");
    let armed = stage.arm(&again).await;
    assert!(armed.arm.recurring);
    assert_eq!(stage.arm(&again).await, armed, "and nothing changes when it is asked for again");
    stage.take(&stage.told().await).await;
    stage.pass(UNARMED_AFTER).await;
    assert_eq!(flagged(&stage).await.len(), 1);

    // The agent may arm the job again before the desk records that it took the previous fire.
    stage.arm(&stage.due("b")).await;
    let told = stage.told().await;
    stage.arm(&stage.in_a(HOUR, "b")).await;
    stage.take(&told).await;
    assert!(stage.job("b").await.arm.recurring);
}

/// A cancelled job is not flagged as unarmed.
pub async fn a_job_that_was_cancelled_is_not_missed(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&ArmRequest { recurring: true, ..stage.due("a") }).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.cancel("a").await, CancelOutcome::Unknown, "it is not armed");
    stage.pass(HOUR).await;

    assert_eq!(flagged(&stage).await, []);
    assert_eq!(stage.job("a").await.flagged_at, None);
}

/// Fires are listed newest first in pages, for a tenant, an agent or a job.
pub async fn fires_are_shown_newest_first(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for name in ["a", "b", "a"] {
        stage.arm(&stage.due(name)).await;
        stage.take(&stage.told().await).await;
        stage.pass(LITTLE).await;
    }
    let (scope, agent) = stage.whose();
    let other = harness.register().create_agent(scope, "other").await.expect("enter an agent");
    let (jobs, schedule) = (harness.jobs(), harness.schedule());
    schedule.arm(scope, other, &stage.due("c")).await.expect("arm a job");
    let last = stage.told().await;

    let all = jobs.list_fires(scope, None, None).await.expect("look at fires");
    let names: Vec<_> = all.iter().map(|fire| fire.job.to_string()).collect();
    assert_eq!(names, ["c", "a", "b", "a"]);
    assert_eq!(all[0].id, last.fire);
    let of = |of| jobs.list_fires(scope, Some(of), None);
    assert_eq!(of((agent, None)).await.expect("of an agent"), all[1..]);
    let of_job = of((agent, Some(job("a")))).await.expect("of a job");
    assert_eq!(of_job, [all[1].clone(), all[3].clone()]);
    let rest = jobs.list_fires(scope, None, Some(all[1].id)).await.expect("the next page");
    assert_eq!(rest, all[2..]);
    let rest = jobs.list_fires(scope, Some((agent, None)), Some(all[2].id)).await;
    assert_eq!(rest.expect("the next page"), all[3..]);
    assert!(all.len() < FIRES_PAGE_MAX);
}

/// Jobs are listed by agent and name in pages, armed or not.
pub async fn jobs_are_shown_in_pages(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let (scope, agent) = stage.whose();
    let other = harness.register().create_agent(scope, "other").await.expect("enter an agent");
    stage.arm(&stage.in_a(HOUR, "b")).await;
    stage.arm(&stage.due("a")).await;
    let told = stage.told().await;
    let theirs = harness.schedule().arm(scope, other, &stage.in_a(HOUR, "a")).await;
    theirs.expect("arm a job");

    let jobs = harness.jobs();
    let all = jobs.list_jobs(scope, None, None).await.expect("look at jobs");
    let mut want = vec![(agent, "a"), (agent, "b"), (other, "a")];
    want.sort_unstable();
    let names: Vec<_> = all.iter().map(|job| (job.agent, job.arm.job.as_str())).collect();
    assert_eq!(names, want);
    let its = jobs.list_jobs(scope, Some(agent), None).await.expect("of an agent");
    assert_eq!((its[0].next_at, its[1].next_at.is_some()), (None, true));
    assert_eq!(its[0].last.as_ref().map(|fire| fire.id), Some(told.fire));
    assert_eq!((its[0].agent_name.as_str(), its.len()), ("ann", 2));
    let after = Some((want[0].0, job(want[0].1)));
    assert_eq!(jobs.list_jobs(scope, None, after).await.expect("the next page"), all[1..]);
    assert!(i64::try_from(all.len()).is_ok_and(|len| len < LIST_ROWS_MAX));
}

/// A tenant cannot see, cancel or get notices of another tenant's job, even if the job has the same name.
pub async fn nobody_sees_another_tenants_jobs(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let bob = stage.cast.person("bob").await;
    let (schedule, jobs) = (harness.schedule(), harness.jobs());
    stage.arm(&stage.in_a(HOUR, "a")).await;
    schedule.arm(bob.scope, bob.agent, &stage.due("a")).await.expect("arm a job");
    let told = stage.told().await;
    assert_eq!((told.scope, told.agent), (bob.scope, bob.agent));

    let cancelled = schedule.cancel(bob.scope, stage.ann.agent, &job("a")).await;
    assert_eq!(cancelled.expect("cancel a job"), CancelOutcome::Unknown);
    let foreign =
        schedule.armed_jobs(bob.scope, stage.ann.agent).await.expect("look what is armed");
    assert_eq!(foreign, []);
    assert_eq!(stage.armed().await.len(), 1);
    let fires = jobs.list_fires(stage.ann.scope, None, None).await.expect("look at fires");
    assert_eq!(fires, []);
    let seen = jobs.find_job(bob.scope, stage.ann.agent, &job("a")).await.expect("look at a job");
    assert_eq!(seen, None);
    let seen = jobs.list_jobs(bob.scope, None, None).await.expect("look at jobs");
    assert_eq!(seen.len(), 1);
    let stolen = nightdesk_schedule::FireClaim { scope: stage.ann.scope, ..told };
    assert!(!stage.end(&stolen, nightdesk_schedule::FireEnd::Taken).await);
}

/// Ended fires and unarmed jobs are removed after `FIRES_KEPT`. Armed jobs are never removed.
pub async fn what_is_over_is_forgotten(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.in_a(FIRES_KEPT * 2, "armed")).await;
    stage.arm(&stage.due("a")).await;
    stage.take(&stage.told().await).await;
    stage.pass(FIRES_KEPT.checked_sub(HOUR).expect("a month is longer")).await;
    keep(harness).await;
    stage.last("a").await;
    stage.pass(HOUR * 2).await;
    keep(harness).await;

    let (scope, agent) = stage.whose();
    let gone = harness.jobs().find_job(scope, agent, &job("a")).await.expect("look at a job");
    assert_eq!(gone, None);
    let fires = harness.jobs().list_fires(scope, None, None).await.expect("look at fires");
    assert_eq!(fires, []);
    assert_eq!(stage.armed().await.len(), 1);
}
