//! Promises about arming jobs.

use std::time::Duration;

use nightdesk_schedule::{
    ArmRequest, FireAt, FireCause, FireEnd, FireState, Overlap, Policies, Target,
};
use nightdesk_types::limits::FIRE_CALL_HELD;
use nightdesk_types::{Arming, OverQuota, Quota};
use tokio::task::JoinSet;

use super::{HOUR, Stage, job};
use crate::TimedHarness;
use crate::cast::Person;

/// Armed jobs are listed by name, each exactly as its agent wrote it.
pub async fn an_armed_job_is_as_it_was_written(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let text = "2126-06-18T14:34:56.500000+02:00";
    let fire_at = FireAt::parse(text).expect("an instant");
    let policies = Policies { overlap: Overlap::Skip, catch_up: HOUR, jitter: HOUR };
    let to = Target::Inbox("water the plants".to_owned());
    let b = ArmRequest { fire_at, policies, to, recurring: true, reports: true, ..stage.due("b") };
    let (b, a) = (stage.arm(&b).await, stage.arm(&stage.in_a(HOUR, "Z a")).await);

    assert_eq!(b.arm.fire_at.as_str(), text);
    assert_eq!(stage.armed().await, [a, b.clone()], "by the bytes of its name");
    let shown = stage.job("b").await;
    assert_eq!((shown.id, shown.arming, shown.arm), (b.id, Arming::new(1), b.arm));
}

/// A repeated request to arm a job in the same way changes nothing.
pub async fn asked_again_nothing_changes(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let arm = stage.in_a(HOUR, "a");
    let first = stage.arm(&arm).await;
    let before = stage.job("a").await;

    assert_eq!(stage.arm(&arm).await, first);
    assert_eq!(stage.job("a").await, before);
}

/// A request that differs in any field is a new arming of the same job and replaces the previous one.
pub async fn a_job_armed_anew_is_another_arming(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let arm = stage.in_a(HOUR, "a");
    let first = stage.arm(&arm).await;
    let policies = |policies| ArmRequest { policies, ..arm.clone() };
    let others = [
        ArmRequest { fire_at: stage.in_a(HOUR * 2, "a").fire_at, ..arm.clone() },
        ArmRequest { to: Target::Callback("https://elsewhere.example/".to_owned()), ..arm.clone() },
        ArmRequest { to: Target::Inbox(super::URL.to_owned()), ..arm.clone() },
        ArmRequest { recurring: true, ..arm.clone() },
        ArmRequest { reports: true, ..arm.clone() },
        policies(Policies { overlap: Overlap::AllowAll, ..arm.policies }),
        policies(Policies { catch_up: HOUR, ..arm.policies }),
        policies(Policies { jitter: Duration::from_secs(1), ..arm.policies }),
    ];
    for (number, other) in (2..).zip(others) {
        let armed = stage.arm(&other).await;
        assert_eq!((armed.id, armed.arming), (first.id, Arming::new(number)), "{other:?}");
        assert_eq!(armed.arm, other);
        assert_eq!(stage.armed().await, [armed]);
    }
}

/// An instant in the past is due at once, even if it is very old.
pub async fn a_past_instant_is_due_at_once(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for text in ["2001-01-01T00:00:00Z", "-000001-01-01T00:00:00Z"] {
        let fire_at = FireAt::parse(text).expect("an instant");
        stage.arm(&ArmRequest { fire_at, ..stage.due("a") }).await;
        let told = stage.told().await;
        assert_eq!(told.fire_at.as_str(), text);
        stage.take(&told).await;
        assert_eq!(stage.last("a").await, (FireState::Late, None));
    }
}

/// Jitter delays each job by its own fixed time, and never moves it before its instant.
pub async fn a_put_off_job_has_its_moment(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let policies = Policies { jitter: HOUR, ..Policies::default() };
    let mut moments = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let arm = ArmRequest { policies, ..stage.in_a(HOUR, name) };
        stage.arm(&arm).await;
        let next_at = stage.job(name).await.next_at.expect("it is armed");
        let put_off = next_at.duration_since(arm.fire_at.instant());
        let put_off = Duration::try_from(put_off).unwrap_or_default();
        // A store may round to microseconds.
        assert!(next_at >= arm.fire_at.instant() - Duration::from_micros(1) && put_off <= HOUR);
        stage.arm(&arm).await;
        assert_eq!(stage.job(name).await.next_at, Some(next_at), "it has one moment");
        moments.push(put_off.as_secs());
    }
    moments.dedup();
    assert!(moments.len() > 1, "they do not all come at once");
    stage.pass(HOUR * 2).await;
    let claims = stage.claim().await;
    assert_eq!((claims.fires.len(), claims.passed.len()), (4, 0));
    for claimed in claims.fires {
        stage.take(&claimed).await;
    }
}

/// An agent at its quota can change armed jobs but not arm another. A claimed or cancelled job frees a place.
pub async fn an_agent_arms_as_many_jobs_as_it_may(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    set(harness, &stage.ann, Quota::AgentJobs, 2).await;
    stage.arm(&stage.in_a(HOUR, "a")).await;
    stage.arm(&stage.due("b")).await;

    let refused = stage.try_arm(&stage.due("c")).await.expect_err("it is one too many");
    let over = OverQuota { quota: Quota::AgentJobs, allowed: 2 };
    assert_eq!((refused.over_quota(), refused.retryable), (Some(over), false));
    let missing = harness.jobs().find_job(stage.ann.scope, stage.ann.agent, &job("c")).await;
    assert_eq!(missing.expect("look at a job"), None);
    stage.arm(&stage.in_a(HOUR * 2, "a")).await;
    stage.told().await;
    stage.arm(&stage.in_a(HOUR, "c")).await;
    stage.try_arm(&stage.due("d")).await.expect_err("it is full again");
    stage.cancel("c").await;
    stage.arm(&stage.in_a(HOUR, "d")).await;
    set(harness, &stage.ann, Quota::AgentJobs, 3).await;
    stage.arm(&stage.in_a(HOUR, "e")).await;
    set(harness, &stage.ann, Quota::AgentJobs, 1).await;
    stage.cancel("e").await;
    stage.try_arm(&stage.in_a(HOUR, "e")).await.expect_err("it has two, and may have one");
}

/// A tenant at its quota cannot arm another job for any agent. Other tenants are not affected.
pub async fn a_tenant_arms_as_many_jobs_as_it_may(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let bob = stage.cast.person("bob").await;
    let (scope, schedule) = (stage.ann.scope, harness.schedule());
    let other = harness.register().create_agent(scope, "other").await.expect("enter an agent");
    set(harness, &stage.ann, Quota::ArmedJobs, 2).await;
    stage.arm(&stage.in_a(HOUR, "a")).await;
    schedule.arm(scope, other, &stage.in_a(HOUR, "a")).await.expect("the same name, another's job");

    let refused = schedule.arm(scope, other, &stage.in_a(HOUR, "b")).await;
    let over = OverQuota { quota: Quota::ArmedJobs, allowed: 2 };
    assert_eq!(refused.expect_err("one too many").over_quota(), Some(over));
    let theirs = schedule.arm(bob.scope, bob.agent, &stage.in_a(HOUR, "b")).await;
    theirs.expect("bob has his own");
    stage.cancel("a").await;
    schedule.arm(scope, other, &stage.in_a(HOUR, "b")).await.expect("there is room now");
}

/// Of many concurrent requests to arm jobs, only as many as the quota permits succeed. A store that does not
/// serialise them may pass by chance with one agent, but not with eight.
pub async fn arms_at_once_keep_to_the_quota(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for number in 0..8 {
        let person = stage.cast.person(&format!("person-{number}")).await;
        set(harness, &person, Quota::AgentJobs, 4).await;
        let mut arms = JoinSet::new();
        for number in 0..12 {
            let (schedule, scope, agent) = (harness.schedule(), person.scope, person.agent);
            let arm = stage.in_a(HOUR, &format!("job-{number}"));
            arms.spawn(async move { schedule.arm(scope, agent, &arm).await.is_ok() });
        }
        let armed = arms.join_all().await.into_iter().filter(|armed| *armed).count();
        let kept = harness.schedule().armed_jobs(person.scope, person.agent).await;

        assert_eq!((armed, kept.expect("look what is armed").len()), (4, 4));
    }
}

/// Two concurrent requests to arm the same job are serialised, and the later one applies.
pub async fn arms_at_once_come_one_after_the_other(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for number in 0..10_u32 {
        let name = format!("job-{number}");
        let (one, two) = (stage.in_a(HOUR, &name), stage.in_a(HOUR * 2, &name));
        let (one, two) = tokio::join!(stage.arm(&one), stage.arm(&two));
        let (first, last) = if one.arming < two.arming { (one, two) } else { (two, one) };
        assert_eq!((first.arming, last.arming), (Arming::new(1), Arming::new(2)));
        assert_eq!(first.id, last.id);
        let shown = stage.job(&name).await;
        assert_eq!((shown.arming, shown.arm), (last.arming, last.arm));
    }
}

/// A tenant cannot arm a job for an agent of another tenant.
pub async fn nobody_arms_for_a_foreign_agent(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let bob = stage.cast.person("bob").await;
    let refused = harness.schedule().arm(stage.ann.scope, bob.agent, &stage.due("a")).await;

    assert!(!refused.expect_err("it is bob's").retryable);
    stage.quiet().await;
}

/// While a fire is open, a repeated request for its instant changes nothing: the instant fires once.
pub async fn the_instant_that_is_told_is_not_armed_again(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    let arm = stage.due("a");
    let armed = stage.arm(&arm).await;
    let told = stage.told().await;

    assert_eq!(stage.armed().await, std::slice::from_ref(&armed), "it is still to be told");
    assert_eq!(stage.arm(&arm).await, armed);
    stage.quiet().await;
    assert!(stage.again(&told, HOUR).await);
    let elsewhere = ArmRequest { to: Target::Inbox(String::new()), ..arm.clone() };
    assert_eq!(stage.arm(&elsewhere).await, armed, "also between two tries");
    stage.pass(HOUR).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.armed().await, []);
    assert_eq!(stage.arm(&arm).await.arming, Arming::new(2), "after that it is armed anew");
}

/// A fire that waits for its next try ends when its job is armed again.
pub async fn what_waits_ends_when_its_job_is_armed_anew(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);
    stage.arm(&stage.in_a(HOUR * 3, "a")).await;

    assert_eq!(stage.last("a").await, (FireState::Skipped, Some(FireCause::Superseded)));
    stage.pass(HOUR * 2).await;
    stage.quiet().await;
    assert!(!stage.end(&told, FireEnd::Taken).await, "it is over");
    stage.pass(HOUR).await;
    assert_ne!(stage.told().await.fire, told.fire);
}

/// A fire whose call is under way when its job is armed again completes that call, and is not retried.
pub async fn what_was_superseded_is_not_tried_again(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    stage.arm(&stage.due("b")).await;
    stage.arm(&stage.due("c")).await;
    let mut told = stage.claim().await.fires;
    told.sort_by(|one, other| one.job.cmp(&other.job));
    for name in ["a", "b", "c"] {
        stage.arm(&stage.in_a(HOUR, name)).await;
    }
    stage.take(&told[0]).await;
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    assert!(stage.again(&told[1], Duration::ZERO).await);

    let superseded = (FireState::Skipped, Some(FireCause::Superseded));
    let (name, how) = stage.passed().await;
    assert_eq!((name, how), (job("b"), superseded));
    stage.pass(FIRE_CALL_HELD).await;
    let (name, how) = stage.passed().await;
    assert_eq!((name, how), (job("c"), superseded), "nothing was heard of it");
    assert_eq!(stage.armed().await.len(), 3);
}

async fn set(harness: &impl TimedHarness, person: &Person, quota: Quota, allowed: i64) {
    let set = harness.register().set_quota(person.scope, quota, allowed).await;
    set.expect("set a quota");
}
