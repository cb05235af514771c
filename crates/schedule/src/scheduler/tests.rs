//! Tests of the schedule over a scripted store, in paused time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{FIRE_BEGUN_WITHIN, FIRES_AT_ONCE_MAX};
use tokio::time::sleep;

use super::ArmError;
use crate::fire::{FireCause, FireEnd};
use crate::job::{ArmRequest, FireAt, JobId, Policies, Target};
use crate::outcome::{FireOutcome, UNAUTHORISED};

mod stage;

use stage::{Stage, agent, scope, secs};

fn again(asked: Option<Duration>) -> FireOutcome {
    FireOutcome::Again("answered with status 503".to_owned(), asked)
}

#[tokio::test(start_paused = true)]
async fn a_job_is_told_once_at_its_instant_and_never_before() {
    let stage = Stage::with(&[]);
    stage.arm_at(Duration::from_millis(7_777)).await;
    sleep(secs(600)).await;

    let heard = stage.heard();
    assert_eq!(heard.len(), 1);
    assert!((7_777..7_777 + 20).contains(&heard[0].0), "{heard:?}");
    assert_eq!(stage.book.ends(), [Some((FireEnd::Taken, "202 in 1 ms".to_owned()))]);
    let (_, _, now) = stage.agents.heard.lock().unwrap()[0].clone();
    assert_eq!(now.as_millisecond(), i64::try_from(heard[0].0).unwrap(), "by the store's clock");
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_clock_is_wrong_fires_nothing_early() {
    let stage = Stage::set(&[], Duration::ZERO, secs(3_600));
    stage.arm_at(secs(1_800)).await;
    sleep(secs(1_799)).await;
    assert_eq!(stage.heard(), []);
    sleep(secs(2)).await;
    assert_eq!(stage.heard().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tries_share_an_id_and_end_with_the_first_that_is_taken() {
    let stage = Stage::with(&[again(None), again(None), again(None)]);
    stage.arm_at(secs(1)).await;
    sleep(secs(600)).await;

    let heard = stage.heard();
    let ids: Vec<_> = heard.iter().map(|(_, id)| *id).collect();
    assert_eq!(ids, [100; 4], "three in vain and one that is taken");
    let waits: Vec<_> = heard.windows(2).map(|two| two[1].0 - two[0].0).collect();
    for (wait, most) in waits.into_iter().zip([2_000, 4_000, 8_000]) {
        // A wait ends with the next claim.
        assert!((most / 2..=most + 500).contains(&wait), "{wait} of {most}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_left_alone_for_as_long_as_it_asks() {
    let stage = Stage::with(&[again(Some(secs(60)))]);
    stage.arm_at(secs(1)).await;
    sleep(secs(120)).await;

    let heard = stage.heard();
    let wait = heard[1].0 - heard[0].0;
    assert!((60_000..60_600).contains(&wait), "{wait}");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_believe_us_twice_is_not_told_again() {
    let late = FireOutcome::PutOff(secs(1));
    let cases: [(&str, &[FireOutcome], usize, FireEnd); 5] = [
        ("once", &[FireOutcome::Unauthorised], 2, FireEnd::Taken),
        (
            "twice",
            &[FireOutcome::Unauthorised, FireOutcome::Unauthorised],
            2,
            FireEnd::Missed(FireCause::Refused),
        ),
        (
            "twice, with no room between",
            &[FireOutcome::Unauthorised, late, FireOutcome::Unauthorised],
            3,
            FireEnd::Missed(FireCause::Refused),
        ),
        (
            "not in a row",
            &[FireOutcome::Unauthorised, again(None), FireOutcome::Unauthorised],
            4,
            FireEnd::Taken,
        ),
        (
            "refused",
            &[FireOutcome::Refused("no".to_owned())],
            1,
            FireEnd::Missed(FireCause::Refused),
        ),
    ];
    for (name, answers, calls, want) in cases {
        let stage = Stage::with(answers);
        stage.arm_at(secs(1)).await;
        sleep(secs(600)).await;

        let ends: Vec<_> = stage.book.ends().into_iter().flatten().map(|(end, _)| end).collect();
        assert_eq!((ends, stage.heard().len()), (vec![want], calls), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_token_is_shown_at_once() {
    let stage = Stage::with(&[FireOutcome::Unauthorised, FireOutcome::Unauthorised]);
    stage.arm_at(secs(1)).await;
    sleep(Duration::from_millis(1_100)).await;

    assert_eq!(stage.heard().len(), 2);
    let refused = (FireEnd::Missed(FireCause::Refused), UNAUTHORISED.to_owned());
    assert_eq!(stage.book.ends(), [Some(refused)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_late_is_put_off_and_does_not_count() {
    let stage = Stage::with(&[]);
    *stage.book.slow.lock().unwrap() = FIRE_BEGUN_WITHIN + Duration::from_millis(1);
    stage.arm_at(Duration::ZERO).await;
    sleep(FIRE_BEGUN_WITHIN).await;
    assert_eq!(stage.heard(), []);
    sleep(secs(1)).await;

    let tries: Vec<_> =
        stage.agents.heard.lock().unwrap().iter().map(|(_, fire, _)| fire.tries).collect();
    assert_eq!(tries, [1], "by the next claim, which is the first that counts");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_for_a_moment_costs_no_second_call() {
    let stage = Stage::with(&[]);
    stage.book.lost_notes.store(5, Ordering::Relaxed);
    stage.arm_at(secs(1)).await;
    sleep(secs(60)).await;

    assert_eq!(stage.heard().len(), 1);
    assert!(stage.book.ends()[0].is_some());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_for_longer_is_told_by_another_try_of_the_same_fire() {
    let stage = Stage::with(&[]);
    stage.book.lost_notes.store(30, Ordering::Relaxed);
    stage.arm_at(secs(1)).await;
    sleep(secs(60)).await;

    let ids: Vec<_> = stage.heard().iter().map(|(_, id)| *id).collect();
    assert!(ids.len() > 1 && ids.iter().all(|id| *id == 100), "{ids:?}");
    assert!(stage.book.ends()[0].is_some());
}

#[tokio::test(start_paused = true)]
async fn a_sooner_job_is_not_slept_through() {
    let stage = Stage::with(&[]);
    sleep(Duration::from_millis(30)).await;
    let claims = stage.book.claims.load(Ordering::Relaxed);
    stage.arm_at(Duration::from_millis(30)).await;
    sleep(Duration::from_millis(20)).await;

    assert_eq!(stage.heard().len(), 1);
    assert_eq!(stage.book.claims.load(Ordering::Relaxed), claims + 1);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_are_told_with_no_more_calls_than_there_is_room_for() {
    let stage = Stage::set(&[], secs(1), Duration::ZERO);
    for _ in 0..3 * FIRES_AT_ONCE_MAX {
        stage.arm_at(secs(2)).await;
    }
    sleep(secs(6)).await;

    assert_eq!(stage.heard().len(), 3 * FIRES_AT_ONCE_MAX);
    assert_eq!(stage.agents.at_once_most.load(Ordering::Relaxed), FIRES_AT_ONCE_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_fire_without_a_callback_goes_to_the_inbox() {
    let stage = Stage::with(&[]);
    stage.book.lost_notes.store(1, Ordering::Relaxed);
    stage.arm(secs(1), Target::inbox("water the plants").unwrap()).await;
    sleep(secs(20)).await;

    assert_eq!(stage.heard().len(), 1, "what failed is put by the next who claims it");
    assert_eq!(stage.book.ends(), [Some((FireEnd::Taken, "put into the inbox".to_owned()))]);
}

#[tokio::test(start_paused = true)]
async fn what_no_client_could_take_is_not_put() {
    let stage = Stage::with(&[]);
    stage.arm(secs(1), Target::inbox("").unwrap()).await;
    sleep(secs(2)).await;

    let ends: Vec<_> = stage.book.ends().into_iter().flatten().map(|(end, _)| end).collect();
    assert_eq!(ends, [FireEnd::Missed(FireCause::Refused)]);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_callback_would_not_be_called_is_not_armed() {
    let stage = Stage::with(&[]);
    let arm = ArmRequest {
        job: JobId::new("job").unwrap(),
        fire_at: FireAt::from_timestamp(Timestamp::UNIX_EPOCH),
        to: Target::Callback("http://agent.example.org".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    };
    let error = stage.schedule.arm(scope(), agent(), &arm).await.expect_err("is refused");
    assert!(matches!(&error, ArmError::Callback(words) if words == "only https is called"));
    assert_eq!(stage.book.ends(), []);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_claims_nothing_more_and_ends_what_was_begun() {
    let stage = Stage::set(&[], secs(2), Duration::ZERO);
    stage.arm_at(secs(1)).await;
    stage.arm_at(secs(2)).await;
    sleep(Duration::from_millis(1_500)).await;
    stage.stop.cancel();
    stage.tasks.close();
    stage.tasks.wait().await;
    sleep(secs(10)).await;

    assert_eq!(stage.heard().len(), 1);
    assert_eq!(stage.book.ends().iter().flatten().count(), 1);
}
