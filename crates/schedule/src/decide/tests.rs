//! Properties of the rules over random histories of one job, and cases at their bounds.

mod history;

use std::time::Duration;

use nightdesk_types::limits::{
    FIRE_CALL_HELD, FIRE_DEADLINE, FIRE_LATE, FIRE_RETRY_AFTER_MAX, JITTER_MAX, RUN_MAX,
    UNARMED_AFTER,
};
use nightdesk_types::{AgentId, FireId, ScheduleId, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

use self::history::{History, request, steps};
use super::*;
use crate::backoff::backoff_after;
use crate::fire::FireEnd;
use crate::job::{FireAt, JobId, Policies, Target};
use crate::store::CancelOutcome;

const MOMENT: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn start() -> Timestamp {
    "2026-11-17T12:00:00Z".parse().unwrap()
}

fn after(span: Duration) -> Timestamp {
    later_by(start(), span)
}

fn unarmed() -> JobRecord {
    let id = ScheduleId::from_uuid(Uuid::from_u128(7));
    JobRecord::new(id, request(start()), start())
}

/// Returns a job that was armed at the start.
fn armed(arm: &ArmRequest) -> JobRecord {
    arm_job(&unarmed(), &[], arm, start()).unwrap().job
}

/// Returns the fire of a job after the claim of its instant, and the job.
fn begun(job: &JobRecord, now: Timestamp) -> (FireRecord, JobRecord) {
    let (agent, id) =
        (AgentId::from_uuid(Uuid::from_u128(1)), FireId::from_uuid(Uuid::from_u128(2)));
    let step = claim_instant(job, None, now).unwrap();
    let mut fire = job.begin_fire(agent, id, now);
    fire.set_status(step.fire);
    (fire, JobRecord { status: step.job, ..job.clone() })
}

#[test]
fn an_instant_is_judged_by_its_delay_and_by_the_run_before() {
    let policies = |overlap, catch_up| Policies { overlap, catch_up, jitter: Duration::ZERO };
    let run = Some(start());
    let until = Some(later_by(start(), RUN_MAX));
    let cases = [
        ("in time", policies(Overlap::Skip, HOUR), None, SECOND, (FireState::Open, None)),
        ("at its bound", policies(Overlap::Skip, HOUR), None, HOUR, (FireState::Open, None)),
        (
            "past its bound",
            policies(Overlap::Skip, HOUR),
            None,
            HOUR + MOMENT,
            (FireState::Missed, Some(FireCause::TooLate)),
        ),
        (
            "a little late is in time",
            policies(Overlap::Skip, Duration::ZERO),
            None,
            FIRE_LATE,
            (FireState::Open, None),
        ),
        (
            "skipped",
            policies(Overlap::Skip, HOUR * 2),
            run,
            SECOND,
            (FireState::Skipped, Some(FireCause::Overlap)),
        ),
        ("held", policies(Overlap::BufferOne, HOUR * 2), run, SECOND, (FireState::Held, None)),
        ("allowed", policies(Overlap::AllowAll, HOUR * 2), run, SECOND, (FireState::Open, None)),
        (
            "a run that is over",
            policies(Overlap::Skip, RUN_MAX * 2),
            run,
            RUN_MAX,
            (FireState::Open, None),
        ),
        (
            "too late, and a run",
            policies(Overlap::BufferOne, FIRE_LATE),
            run,
            FIRE_LATE + MOMENT,
            (FireState::Missed, Some(FireCause::TooLate)),
        ),
    ];
    for (name, policies, running_since, delay, want) in cases {
        let job = armed(&ArmRequest { reports: true, policies, ..request(start()) });
        let step = claim_instant(&job, running_since, after(delay)).unwrap();
        assert_eq!((step.fire.state, step.fire.cause), want, "{name}");
        if step.fire.state == FireState::Held {
            assert_eq!(step.fire.next_at, until, "{name}");
        }
        assert_eq!((step.job.next_at, step.job.changed_at), (None, after(delay)), "{name}");
    }
}

#[test]
fn a_run_of_an_agent_that_does_not_report_delays_nothing() {
    let job = armed(&request(start()));

    let step = claim_instant(&job, Some(start()), after(SECOND)).unwrap();
    assert_eq!(step.fire.state, FireState::Open);
}

#[test]
fn a_fire_is_late_past_its_bound() {
    let (fire, job) = begun(&armed(&request(start())), start());
    for (delay, want) in [(FIRE_LATE, FireState::Fired), (FIRE_LATE + MOMENT, FireState::Late)] {
        let step = end_fire(&fire, &job, 1, FireEnd::Taken, after(delay)).unwrap();
        assert_eq!(step.fire.state, want, "{delay:?}");
    }
}

#[test]
fn a_recurring_job_is_watched_when_its_fire_ends() {
    let watch_at = Some(later_by(after(SECOND), UNARMED_AFTER));
    let missed = FireEnd::Missed(FireCause::Refused);
    for (recurring, end, want) in [
        (true, FireEnd::Taken, watch_at),
        (true, missed, watch_at),
        (false, FireEnd::Taken, None),
        (false, missed, None),
    ] {
        let (fire, job) = begun(&armed(&ArmRequest { recurring, ..request(start()) }), start());
        assert_eq!(job.status.watch_at, None, "its call is under way");
        let step = end_fire(&fire, &job, 1, end, after(SECOND)).unwrap();
        assert_eq!(step.job.watch_at, want, "{recurring} {end:?}");
    }
}

#[test]
fn a_job_that_is_armed_again_after_a_fire_recurs() {
    let (mut fire, mut job) = begun(&armed(&request(start())), start());
    let taken = end_fire(&fire, &job, 1, FireEnd::Taken, after(SECOND)).unwrap();
    let again = request(after(HOUR));
    let early = arm_job(&job, &[OpenFire::from(&fire)], &again, after(SECOND)).unwrap().job;
    let heard = end_fire(&fire, &early, 1, FireEnd::Taken, after(SECOND)).unwrap();
    fire.set_status(taken.fire);
    job.status = taken.job;

    let late = arm_job(&job, &[], &again, after(SECOND)).unwrap().job;
    assert!(late.to_active_job().arm.recurring, "armed after the answer");
    assert!(!early.to_active_job().arm.recurring, "the agent may have changed its mind");
    assert!(heard.job.has_recurred, "armed before the answer");
    assert_eq!(heard.job.watch_at, None, "it is armed");
}

#[test]
fn the_same_request_changes_nothing() {
    let arm = request(after(HOUR));
    let job = armed(&arm);
    assert_eq!(arm_job(&job, &[], &arm, after(SECOND)), None);
    let (fire, job) = begun(&job, after(HOUR));
    let open = [OpenFire::from(&fire)];
    let elsewhere = ArmRequest { to: Target::Inbox(String::new()), ..arm.clone() };
    assert_eq!(arm_job(&job, &open, &elsewhere, after(HOUR)), None, "its call is under way");
    let cancelled = cancel_job(&job, &open, after(HOUR));
    assert_eq!((cancelled.cancelled, &*cancelled.ended), (CancelOutcome::UnderWay, &[][..]));

    let job = JobRecord { status: cancelled.job, ..job };
    let plan = arm_job(&job, &open, &arm, after(HOUR)).unwrap();
    assert!(plan.takes_quota, "a cancelled job is armed anew");
}

#[test]
fn a_report_ends_a_run_once() {
    let arm = ArmRequest { reports: true, ..request(start()) };
    let (mut fire, job) = begun(&armed(&arm), start());
    let ReportStep::TakenAndRunEnded(step) = report_run(&fire, &job, after(SECOND)) else {
        panic!("a fire that is reported was taken");
    };
    fire.set_status(step.fire);
    assert_eq!(fire.running_since(), Some(after(SECOND)));
    assert_eq!(report_run(&fire, &job, after(SECOND)), ReportStep::RunEnded);
    fire.fire.run = Some((after(SECOND), true, None));

    assert_eq!(report_run(&fire, &job, after(SECOND)), ReportStep::Ignored);
    assert_eq!(fire.running_since(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The invariants of [`History::check`] hold in every history: no call is early, one node calls at a time, an
    /// outcome is final, and a cancelled job is not called again.
    #[test]
    fn every_history_keeps_the_rules(steps in steps()) {
        let mut history = History::new(unarmed());
        for step in steps {
            history.take(&step);
            history.check();
        }
    }

    /// A fire is never early: neither by a nanosecond, nor because of its jitter.
    #[test]
    fn an_instant_is_never_claimed_early(
        delay in 0_u64..100_000, jitter in 0..=JITTER_MAX.as_secs(), number in any::<u128>(),
    ) {
        let policies = Policies { jitter: Duration::from_secs(jitter), ..Policies::default() };
        let arm = ArmRequest { policies, ..request(after(Duration::from_secs(delay))) };
        let id = ScheduleId::from_uuid(Uuid::from_u128(number));
        let fresh = JobRecord { id, ..unarmed() };
        let job = arm_job(&fresh, &[], &arm, start()).unwrap().job;
        let next_at = job.status.next_at.unwrap();
        let most = later_by(arm.fire_at.instant(), policies.jitter);
        prop_assert!((arm.fire_at.instant()..=most).contains(&next_at));
        prop_assert_eq!(arm_job(&fresh, &[], &arm, start()).unwrap().job, job.clone());
        let before = next_at.checked_sub(MOMENT).unwrap();
        prop_assert_eq!(claim_instant(&job, None, before), None);
        prop_assert!(claim_instant(&job, None, next_at).is_some());
    }

    /// A claim is one node's until its call must be over.
    #[test]
    fn a_claimed_fire_is_not_claimed_again_while_it_is_held(ms in 0_u64..20_000) {
        let (fire, job) = begun(&armed(&request(start())), start());
        let now = after(Duration::from_millis(ms));
        prop_assert_eq!(claim_instant(&job, None, now), None);
        let again = claim_try(&fire, &job, None, now);
        prop_assert_eq!(again.is_some(), now >= after(FIRE_CALL_HELD));
        if let Some(step) = again {
            prop_assert_eq!(step.fire.tries, 2);
        }
    }

    /// Retries keep the backoff, and end with the deadline.
    #[test]
    fn retries_keep_their_backoff_and_end(
        random in 0.0..1.0, asked in prop::option::of(0..=FIRE_RETRY_AFTER_MAX.as_secs()),
    ) {
        let (mut fire, job) = begun(&armed(&request(start())), start());
        let mut now = start();
        while fire.fire.state == FireState::Open {
            let wait = backoff_after(fire.fire.tries, asked.map(Duration::from_secs), random);
            let retry = Retry { attempt: fire.fire.tries, wait, counts: true };
            fire.set_status(retry_fire(&fire, retry, now).unwrap());
            prop_assert_eq!(retry_fire(&fire, retry, now), None, "a try fails once");
            let due_at = later_by(now, wait);
            let before = due_at.checked_sub(MOMENT).unwrap();
            prop_assert_eq!(claim_try(&fire, &job, None, before), None);
            let tries = fire.fire.tries;
            fire.set_status(claim_try(&fire, &job, None, due_at).unwrap().fire);
            now = due_at;
            let is_over = now >= after(FIRE_DEADLINE);
            prop_assert_eq!(fire.fire.tries, tries + u32::from(!is_over));
            prop_assert_eq!(fire.fire.cause, is_over.then_some(FireCause::GaveUp));
        }
        prop_assert_eq!(fire.fire.state, FireState::Missed);
        prop_assert!(now <= later_by(after(FIRE_DEADLINE), FIRE_RETRY_AFTER_MAX));
    }
}
