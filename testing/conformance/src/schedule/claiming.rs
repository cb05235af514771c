//! Promises about claiming due jobs.

use std::collections::BTreeMap;
use std::time::Duration;

use nightdesk_schedule::{ArmRequest, ClaimBatch, FireCause, FireState, Policies, Target};
use nightdesk_types::limits::{CATCH_UP, FIRE_CALL_HELD, FIRE_LATE};
use nightdesk_wake::NoticeKind;
use tokio::task::JoinSet;

use super::{HOUR, LITTLE, Stage, begin, job};
use crate::TimedHarness;

/// A job does not fire before its instant. The fire then has the agent, instant and target of the job.
pub async fn nothing_is_told_early(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let to = Target::Inbox("water the plants".to_owned());
    let arm = ArmRequest { to: to.clone(), ..stage.in_a(HOUR, "a") };
    stage.arm(&arm).await;
    stage.quiet().await;
    stage.pass(HOUR.checked_sub(LITTLE).expect("an hour is longer")).await;
    stage.quiet().await;
    stage.pass(LITTLE).await;

    let told = stage.told().await;
    assert_eq!((told.scope, told.agent), stage.whose());
    assert_eq!((told.job, told.fire_at, told.to), (job("a"), arm.fire_at, to));
    assert_eq!((told.tries, told.outcome), (1, None));
}

/// An instant fires once: a taken fire is not claimed again.
pub async fn nothing_is_told_twice(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    stage.take(&stage.told().await).await;

    for _ in 0..3 {
        stage.pass(HOUR * 12).await;
        stage.quiet().await;
    }
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    assert_eq!(stage.claim().await, ClaimBatch::default(), "and nothing more is due");
}

/// A claimed fire belongs to its node for `FIRE_CALL_HELD`. Then that node may be dead, and any node can claim it.
pub async fn a_claim_is_held_and_then_anybodys(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let first = stage.told().await;
    stage.quiet().await;
    let other = Stage { node: begin(harness, "node-2").await, ..stage };
    other.quiet().await;
    other.pass(FIRE_CALL_HELD).await;

    let second = other.told().await;
    assert_eq!((second.fire, second.tries), (first.fire, 2));
    other.quiet().await;
}

/// A claim returns the longest due first, jobs and retries alike, and at most the requested number.
pub async fn the_longest_due_come_first(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("tried")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR * 2).await);
    for (hours, name) in [(4, "d"), (1, "a"), (3, "c")] {
        stage.arm(&stage.in_a(HOUR * hours, name)).await;
    }
    stage.pass(HOUR * 5).await;

    let mut order = Vec::new();
    for _ in 0..4 {
        let claims = harness.schedule().claim(&stage.node, 1).await.expect("claim fires");
        order.extend(claims.fires.into_iter().map(|claimed| claimed.job.to_string()));
    }
    assert_eq!(order, ["a", "tried", "c", "d"]);
    stage.quiet().await;
}

/// Concurrent claims return each fire exactly once.
pub async fn claims_at_once_share_the_jobs(harness: &impl TimedHarness) {
    const JOBS: usize = 60;
    let stage = Stage::of(harness).await;
    for number in 0..JOBS {
        stage.arm(&stage.due(&format!("job-{number}"))).await;
    }
    let mut times = BTreeMap::new();
    for round in 1..=2 {
        let mut claimers = JoinSet::new();
        for _ in 0..6 {
            let (schedule, node) = (harness.schedule(), stage.node.clone());
            claimers.spawn(async move {
                let mut fires = Vec::new();
                for _ in 0..4 {
                    fires.extend(schedule.claim(&node, 5).await.expect("claim fires").fires);
                }
                fires
            });
        }
        let mut claimed: Vec<_> = claimers.join_all().await.into_iter().flatten().collect();
        claimed.extend(stage.claim().await.fires);
        assert_eq!(claimed.len(), JOBS, "in round {round}");
        for fire in claimed {
            assert_eq!(fire.tries, round);
            *times.entry(fire.fire).or_insert(0) += 1;
        }
        stage.pass(FIRE_CALL_HELD).await;
    }
    assert_eq!(times.len(), JOBS);
    assert!(times.values().all(|times| *times == 2), "each once in each round");
}

/// A node whose lease ended can claim no fire.
pub async fn the_dead_are_told_of_nothing_due(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let gone = begin(harness, "gone").await;
    harness.lease().end(&gone).await.expect("a node ends");

    let none = harness.schedule().claim(&gone, 100).await.expect("claim fires");
    assert_eq!(none, ClaimBatch::default());
    stage.told().await;
}

/// A fire claimed later than its job allows is missed, and the owner gets a notice.
pub async fn what_comes_too_late_is_missed(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let policies = Policies { catch_up: HOUR, ..Policies::default() };
    stage.arm(&ArmRequest { policies, ..stage.due("a") }).await;
    stage.arm(&stage.due("b")).await;
    stage.pass(HOUR + LITTLE).await;

    let claims = stage.claim().await;
    assert_eq!((claims.fires.len(), claims.passed.len()), (1, 1));
    assert_eq!(claims.fires[0].job, job("b"));
    assert_eq!(stage.last("a").await, (FireState::Missed, Some(FireCause::TooLate)));
    assert_eq!(stage.job("a").await.last.expect("it is over").tries, 0);
    let notices = stage.notices(NoticeKind::FireMissed).await;
    assert_eq!(notices.len(), 1);
    assert!(notices[0].starts_with("a, due ") && notices[0].ends_with(": too-late"), "{notices:?}");
    stage.pass(HOUR).await;
    assert_eq!(stage.claim().await.passed, [], "it is over");
}

/// A fire claimed late, but within the time that its job allows, is called and retried for a day.
pub async fn what_comes_within_its_time_is_told(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    stage.pass(CATCH_UP.checked_sub(LITTLE).expect("a week is longer")).await;

    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);
    stage.pass(HOUR).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.last("a").await, (FireState::Late, None));
}

/// No claim is exact, so a fire up to `FIRE_LATE` late is on time even for a job with no catch-up time.
pub async fn a_little_late_is_in_time(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let policies = Policies { catch_up: Duration::ZERO, ..Policies::default() };
    let arm = |name| ArmRequest { policies, ..stage.due(name) };
    stage.arm(&arm("a")).await;
    stage.pass(FIRE_LATE.checked_sub(LITTLE).expect("a minute is longer")).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    stage.arm(&arm("b")).await;
    stage.pass(FIRE_LATE + LITTLE).await;

    let (name, how) = stage.passed().await;
    assert_eq!((name, how), (job("b"), (FireState::Missed, Some(FireCause::TooLate))));
}

/// A claim returns the time until the next row is due.
pub async fn when_something_more_is_due_is_told(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    assert_eq!(stage.claim().await.next_in, None);
    stage.arm(&stage.in_a(HOUR, "a")).await;
    let next_in = stage.claim().await.next_in.expect("one is armed");
    assert!(next_in <= HOUR && next_in + LITTLE > HOUR, "{next_in:?}");
    stage.arm(&stage.due("b")).await;
    stage.arm(&stage.due("c")).await;

    let next_in = harness.schedule().claim(&stage.node, 1).await.expect("claim fires").next_in;
    assert_eq!(next_in, Some(Duration::ZERO), "one is left");
    let next_in = stage.claim().await.next_in.expect("two are being told");
    assert!(next_in <= FIRE_CALL_HELD, "{next_in:?}");
}
