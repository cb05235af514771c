//! Promises about the end of fires.

use std::time::Duration;

use nightdesk_schedule::{ArmRequest, FireCause, FireEnd, FireEntry, FireState, Policies, Target};
use nightdesk_types::limits::{FIRE_CALL_HELD, FIRE_DEADLINE, FIRE_LATE};
use nightdesk_types::{BotId, Seq};
use nightdesk_wake::NoticeKind;
use uuid::Uuid;

use super::{HOUR, LITTLE, Stage, ending};
use crate::TimedHarness;

/// A fire is taken once. Any node whose call succeeded can record it, even if another node retries by now.
pub async fn a_fire_is_taken_once(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let first = stage.told().await;
    stage.pass(FIRE_CALL_HELD).await;
    let second = stage.told().await;

    stage.take(&first).await;
    let last = stage.job("a").await.last.expect("it fired");
    assert_eq!((last.id, last.state, last.tries), (first.fire, FireState::Fired, 2));
    assert_eq!(last.outcome.as_deref(), Some("an outcome"));
    assert!(last.ended_at.is_some());
    assert!(!stage.end(&second, FireEnd::Taken).await, "it is over");
    assert!(!stage.end(&second, FireEnd::Missed(FireCause::GaveUp)).await);
    assert!(!stage.again(&second, HOUR).await);
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    stage.pass(HOUR).await;
    stage.quiet().await;
}

/// A fire that goes through the inbox is taken together with its entry. Repeated puts store one entry.
pub async fn what_is_put_is_taken_and_is_there_once(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&ArmRequest { to: Target::Inbox("words".to_owned()), ..stage.due("a") }).await;
    let first = stage.told().await;
    assert_eq!(first.to, Target::Inbox("words".to_owned()));
    stage.pass(FIRE_CALL_HELD).await;
    let second = stage.told().await;
    let bot = BotId::from_uuid(Uuid::nil());
    let body = br#"{"type":"inbound","event":{"text":"words"}}"#.to_vec();
    let entry = FireEntry { bot, chat_id: "cron:a".to_owned(), body };
    let put = async |claimed| harness.schedule().put(claimed, &entry, "put").await.expect("put");

    assert_eq!(put(&first).await, Some(Seq::new(1)), "whoever comes first");
    assert_eq!(put(&second).await, None, "it is over");
    assert_eq!(put(&first).await, None, "it is there");
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    let heads = harness.inbox().read_heads(&[stage.whose()]).await.expect("read the head");
    assert_eq!(heads, [Seq::new(1)]);
}

/// A fire taken long after it was due is recorded as late. Jitter moves the due time, so a jittered fire is on time.
pub async fn a_late_fire_is_written_down_as_late(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    stage.pass(FIRE_LATE + LITTLE).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.last("a").await, (FireState::Late, None));

    let policies = Policies { jitter: HOUR, ..Policies::default() };
    stage.arm(&ArmRequest { policies, ..stage.due("b") }).await;
    let next_at = stage.job("b").await.next_at.expect("it is armed");
    let wait = next_at.duration_since(harness.now());
    stage.pass(Duration::try_from(wait).unwrap_or_default()).await;
    stage.take(&stage.told().await).await;
    assert_eq!(stage.last("b").await, (FireState::Fired, None));
}

/// Fires whose ends are recorded together end as if each were recorded alone. One that is over does not end again.
pub async fn fires_that_end_at_once_end_each_by_itself(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for name in ["a", "b", "c"] {
        stage.arm(&stage.due(name)).await;
    }
    let mut fires = stage.claim().await.fires;
    fires.sort_by(|one, other| one.job.as_str().cmp(other.job.as_str()));
    stage.take(&fires[0]).await;
    let refused = FireEnd::Missed(FireCause::Refused);
    let endings =
        [ending(&fires[2], refused), ending(&fires[0], refused), ending(&fires[1], FireEnd::Taken)];

    let ended = harness.schedule().end(&endings).await.expect("end fires");
    assert_eq!(ended, [true, false, true]);
    assert_eq!(stage.last("a").await, (FireState::Fired, None));
    assert_eq!(stage.last("b").await, (FireState::Fired, None));
    assert_eq!(stage.last("c").await, (FireState::Missed, Some(FireCause::Refused)));
    assert_eq!(stage.notices(NoticeKind::FireMissed).await.len(), 1);
}

/// Only the newest try can mark a fire as missed.
pub async fn only_the_newest_try_is_missed(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let first = stage.told().await;
    stage.pass(FIRE_CALL_HELD).await;
    let second = stage.told().await;

    assert!(!stage.end(&first, FireEnd::Missed(FireCause::Refused)).await);
    assert!(!stage.again(&first, HOUR).await, "nor when it is tried next");
    assert_eq!(stage.last("a").await, (FireState::Open, None));
    assert!(stage.end(&second, FireEnd::Missed(FireCause::Refused)).await);
    assert_eq!(stage.last("a").await, (FireState::Missed, Some(FireCause::Refused)));
}

/// The owner gets a notice of each missed fire, and none of a fire that was skipped on purpose.
pub async fn a_missed_fire_is_told_of(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    for cause in FireCause::ALL {
        stage.arm(&stage.due(cause.slug())).await;
        let told = stage.told().await;
        assert!(stage.end(&told, FireEnd::Missed(cause)).await);
        assert_eq!(stage.last(cause.slug()).await, (cause.state(), Some(cause)));
    }

    let notices = stage.notices(NoticeKind::FireMissed).await;
    assert_eq!(notices.len(), 3, "{notices:?}");
    for cause in [FireCause::TooLate, FireCause::GaveUp, FireCause::Refused] {
        let slug = cause.slug();
        let is_it = |notice: &&String| {
            notice.starts_with(&format!("{slug}, due ")) && notice.contains(&format!(": {slug} ("))
        };
        assert_eq!(notices.iter().filter(is_it).count(), 1, "{slug}: {notices:?}");
    }
}

/// A retry is due after the requested wait and carries the outcome of the previous try.
pub async fn what_came_of_a_try_is_known_in_the_next(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let first = stage.told().await;
    assert!(stage.again(&first, HOUR).await);
    assert!(!stage.again(&first, Duration::ZERO).await, "it was said already");
    stage.pass(HOUR.checked_sub(LITTLE).expect("an hour is longer")).await;
    stage.quiet().await;
    stage.pass(LITTLE).await;

    let second = stage.told().await;
    assert_eq!((second.fire, second.tries), (first.fire, 2));
    assert_eq!((second.fire_at, second.outcome.as_deref()), (first.fire_at, Some("503")));
}

/// A call that was not made does not count as a try.
pub async fn a_try_that_was_not_made_does_not_count(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    for _ in 0..2 {
        let told = stage.told().await;
        assert_eq!(told.tries, 1);
        let again = harness.schedule().record_retry(&told, "put off", HOUR, false).await;
        assert!(again.expect("note a try"));
        stage.pass(HOUR).await;
    }
    assert_eq!(stage.told().await.tries, 1);
}

/// After a day of tries the desk gives up the fire, and the owner gets a notice.
pub async fn a_day_of_tries_is_enough(harness: &impl TimedHarness) {
    let stage = Stage::of(harness).await;
    stage.arm(&stage.due("a")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, HOUR).await);
    stage.pass(FIRE_DEADLINE.checked_sub(LITTLE).expect("a day is longer")).await;
    let told = stage.told().await;
    assert!(stage.again(&told, Duration::ZERO).await);
    stage.pass(LITTLE).await;

    let (_, how) = stage.passed().await;
    assert_eq!(how, (FireState::Missed, Some(FireCause::GaveUp)));
    let notices = stage.notices(NoticeKind::FireMissed).await;
    assert_eq!(notices.len(), 1);
    assert!(notices[0].ends_with(": gave-up (503)"), "{notices:?}");
    stage.pass(HOUR).await;
    stage.quiet().await;
}
