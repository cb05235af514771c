use crate::check::fire_tale::Step::{
    Answered, Arm, ArmIn, Armed, Cancel, Cut, Fault, FaultOver, Kept, Said, Told, Wait,
};
use crate::check::fire_tale::{Step, told};
use crate::event::{Event, FireState, JobAnswer};

const TAKEN: Step = Kept(1, 1, FireState::Fired, None);
const SUPERSEDED: Step = Kept(1, 1, FireState::Skipped, Some("superseded"));

fn check(cases: &[(&str, &[Step], &[&str])]) {
    for (name, steps, want) in cases {
        assert_eq!(told(steps).broken_so_far(), *want, "{name}");
    }
}

#[test]
fn who_armed_a_job_is_told_once() {
    check(&[
        ("told", &[Arm(1), Armed, Told(1, 1), Said(202), TAKEN], &[]),
        ("late", &[Arm(1), Armed, Told(1, 1), Said(202), Kept(1, 1, FireState::Late, None)], &[]),
        ("not told", &[Arm(1), Armed], &["I10"]),
        ("not written down", &[Arm(1), Armed, Told(1, 1), Said(202)], &["I10"]),
        ("not armed", &[Arm(1), Answered(JobAnswer::Refused)], &[]),
        ("perhaps armed", &[Arm(1), Answered(JobAnswer::Nothing)], &[]),
        ("not over", &[Arm(1), Armed, Kept(1, 1, FireState::Open, None)], &["I10"]),
        ("due later", &[ArmIn(1, 60_000), Armed], &[]),
        (
            "given up",
            &[Arm(1), Armed, Told(1, 1), Said(503), Kept(1, 1, FireState::Missed, Some("gave-up"))],
            &["I10"],
        ),
        ("left out", &[Arm(1), Armed, SUPERSEDED], &["I10"]),
        ("not taken", &[Arm(1), Armed, Told(1, 1), Said(503), TAKEN], &["I10"]),
        ("nobody asked", &[Told(1, 1), Said(202)], &["I10"]),
        ("told first", &[Told(1, 1), Said(202), Arm(1), Armed, TAKEN], &["I10"]),
    ]);
}

#[test]
fn nobody_is_told_too_early() {
    for (wait_ms, want) in [(940, &["I10"][..]), (960, &[]), (2_000, &[])] {
        let tale =
            told(&[ArmIn(1, 1_000), Armed, Wait(wait_ms), Told(1, 1), Said(202), Wait(100), TAKEN]);
        assert_eq!(tale.broken_so_far(), want, "{wait_ms} ms");
    }
}

#[test]
fn every_try_has_the_same_id() {
    let other = Kept(1, 2, FireState::Fired, None);
    check(&[
        ("same", &[Arm(1), Armed, Told(1, 1), Said(503), Told(1, 1), Said(202), TAKEN], &[]),
        (
            "another",
            &[Arm(1), Armed, Told(1, 1), Said(503), Told(1, 2), Said(202), other],
            &["I10"],
        ),
        (
            "asked twice before",
            &[Arm(1), Armed, Arm(1), Armed, Told(1, 1), Said(503), Told(1, 2), Said(202), other],
            &["I10"],
        ),
        (
            "perhaps armed anew",
            &[
                Arm(1),
                Answered(JobAnswer::Nothing),
                Arm(1),
                Armed,
                Told(1, 1),
                Said(202),
                TAKEN,
                Told(1, 2),
                Said(202),
            ],
            &[],
        ),
    ]);
}

#[test]
fn an_id_belongs_to_one_instant() {
    let second = Kept(2, 1, FireState::Fired, None);
    check(&[(
        "of two instants",
        &[
            Arm(1),
            Armed,
            Told(1, 1),
            Said(202),
            Arm(2),
            Armed,
            Told(2, 1),
            Said(202),
            TAKEN,
            second,
        ],
        &["I10"],
    )]);
}

#[test]
fn who_took_a_fire_is_not_told_again() {
    check(&[
        (
            "told again",
            &[Arm(1), Armed, Told(1, 1), Said(202), Told(1, 1), Said(202), TAKEN],
            &["I10"],
        ),
        ("cut", &[Arm(1), Armed, Told(1, 1), Cut(202), Told(1, 1), Said(202), TAKEN], &[]),
        ("two at once", &[Arm(1), Armed, Told(1, 1), Told(1, 1), Said(202), TAKEN], &[]),
        (
            "a node died",
            &[
                Arm(1),
                Armed,
                Told(1, 1),
                Said(202),
                Fault("node-1"),
                FaultOver,
                Told(1, 1),
                Said(202),
                TAKEN,
            ],
            &[],
        ),
        (
            "the bell broke",
            &[
                Arm(1),
                Armed,
                Told(1, 1),
                Said(202),
                Fault("redis"),
                FaultOver,
                Told(1, 1),
                Said(202),
                TAKEN,
            ],
            &["I10"],
        ),
        (
            "long after a node died",
            &[
                Arm(1),
                Armed,
                Fault("node-1"),
                FaultOver,
                Wait(11_000),
                Told(1, 1),
                Said(202),
                Told(1, 1),
                Said(202),
                TAKEN,
            ],
            &["I10"],
        ),
    ]);
}

#[test]
fn what_was_armed_anew_is_not_told_any_more() {
    let new = [Arm(2), Armed, Told(2, 2), Said(202), Kept(2, 2, FireState::Fired, None)];
    let tale = |first: &[Step], then: &[Step]| [first, &new, then].concat();
    let first = [Arm(1), Armed, Told(1, 1), Said(503)];
    let late = |ms| [Wait(ms), Told(1, 1), Said(503), SUPERSEDED];
    check(&[
        ("over", &tale(&first, &[SUPERSEDED]), &[]),
        ("never told", &tale(&[Arm(1), Armed], &[]), &[]),
        ("told both", &tale(&[Arm(1), Armed, Told(1, 1), Said(202)], &[TAKEN]), &[]),
        ("a call that had begun", &tale(&first, &late(9_000)), &[]),
        ("told long after", &tale(&first, &late(11_000)), &["I10"]),
        (
            "taken, and not written down",
            &tale(&[Arm(1), Armed, Told(1, 1), Said(202)], &[SUPERSEDED]),
            &["I10"],
        ),
        (
            "taken by a node that died",
            &tale(
                &[Arm(1), Armed, Told(1, 1), Said(202), Fault("node-1"), FaultOver],
                &[SUPERSEDED],
            ),
            &[],
        ),
    ]);
}

#[test]
fn an_instant_that_was_armed_twice_may_be_superseded_once_it_was_taken() {
    let first = [Arm(1), Armed, Arm(1), Told(1, 1), Said(202), Answered(JobAnswer::Nothing)];
    let again = [Told(1, 3), Said(500)];
    let new = [Arm(2), Armed, Told(2, 2), Said(202), Kept(2, 2, FireState::Fired, None)];
    let mut tale = told(&[&first[..], &again, &new].concat());
    for (fire_id, arming, state, cause) in [
        ("fire-1", 7, FireState::Fired, None),
        ("fire-3", 8, FireState::Skipped, Some("superseded")),
    ] {
        let [fire_id, agent, job] = [fire_id, "alice", "tick"].map(str::to_owned);
        let cause = cause.map(str::to_owned);
        tale.note(Event::FireRow { fire_id, agent, job, fire_at_us: 1, arming, state, cause });
    }

    assert_eq!(tale.broken_so_far(), [""; 0]);
}

#[test]
fn what_was_cancelled_need_not_be_told() {
    let cancelled = Kept(1, 1, FireState::Skipped, Some("cancelled"));
    check(&[
        ("cancelled", &[Arm(1), Armed, Cancel(JobAnswer::Cancelled)], &[]),
        ("perhaps", &[Arm(1), Armed, Cancel(JobAnswer::Nothing)], &[]),
        ("not known", &[Arm(1), Armed, Cancel(JobAnswer::Unknown)], &["I10"]),
        ("not done", &[Arm(1), Armed, Cancel(JobAnswer::Refused)], &["I10"]),
        (
            "after it was taken",
            &[Arm(1), Armed, Told(1, 1), Said(202), Cancel(JobAnswer::Cancelled), cancelled],
            &["I10"],
        ),
        (
            "before it was armed",
            &[Cancel(JobAnswer::Cancelled), Arm(1), Armed, cancelled],
            &["I10"],
        ),
        ("perhaps after it", &[Cancel(JobAnswer::Nothing), Arm(1), Armed, cancelled], &[]),
    ]);
}

#[test]
fn an_arming_has_one_fire() {
    let mut tale =
        told(&[Arm(1), Armed, Told(1, 1), Said(202), Arm(2), Armed, Told(2, 2), Said(202), TAKEN]);
    let [fire_id, agent, job] = ["fire-2", "alice", "tick"].map(str::to_owned);
    let (state, cause) = (FireState::Fired, None);
    tale.note(Event::FireRow { fire_id, agent, job, fire_at_us: 2, arming: 1, state, cause });

    assert_eq!(tale.broken_so_far(), ["I10"]);
}
