//! Promises about the states of a wake, from its first call to its end.

use std::time::Duration;

use nightdesk_inbox::AgentPresence;
use nightdesk_types::Seq;
use nightdesk_types::limits::{
    CALL_GAP, CLOSED_GRACE, IDLE_GRACE, UNRECORDED_CALL_GAP, WAITING_COUNTED_MAX, WAKE_DEADLINE,
    WAKE_PLACES_MAX,
};
use nightdesk_wake::{
    AgentWebhook, DelayNotice, NewWebhook, NoticeKind, WakeClaim, WakeSelection, WakeStep,
    WakeTerms,
};

use super::super::TimedHarness;
use super::super::cast::{Cast, Line};
use super::{
    LITTLE, TERMS, URL, begin_node, callable, called, claimed, claims, line, phase, state, wakes_up,
};

/// A wake is marked as woken when the agent dials in, not when the call succeeds.
pub async fn an_agent_that_dialled_in_is_woken(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    let call = called(harness).await;
    let noted = harness.wake().record_outcome(&call, "200 in 3 ms", CALL_GAP).await;
    noted.expect("note a call");
    let before = state(&cast, &ann).await.expect("it is needed");
    assert_eq!((before.state.as_str(), before.woken_at), ("due", None));
    assert_eq!(before.outcome.as_deref(), Some("200 in 3 ms"));
    assert!(before.called_at.is_some());

    line(&cast, &ann).await;
    let awake = state(&cast, &ann).await.expect("it was needed");
    assert_eq!((awake.state.as_str(), awake.due_at), ("woken", None));
    assert!(awake.woken_at.is_some());
    harness.let_pass(Duration::from_hours(1)).await;
    assert_eq!(claimed(harness).await, []);
}

/// If no entry waits any more when a wake is claimed, the wake is settled without a call.
pub async fn what_nobody_needs_any_more_is_put_away(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    let aside = harness.aside().park_waiting(ann.scope, ann.agent, Seq::new(1)).await;
    assert!(aside.expect("set an entry aside"));

    assert_eq!(claimed(harness).await, []);
    assert_eq!(phase(&cast, &ann).await, "settled");
    cast.stored(&ann.says(2)).await;
    called(harness).await;
}

/// An agent is called at most once in fifteen seconds, even if it dials in and goes idle in between.
pub async fn nobody_is_called_too_often(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    called(harness).await;
    wakes_up(&cast, &ann, 1).await;
    harness.let_pass(IDLE_GRACE + LITTLE).await;
    cast.stored(&ann.says(2)).await;

    assert_eq!(claimed(harness).await, [], "it sleeps again, and was called just now");
    let of = harness.wake().claim(WakeSelection::Of(ann.scope, ann.agent), &TERMS).await;
    assert_eq!(of.expect("claim a wake"), []);
    harness.let_pass(CALL_GAP).await;
    assert_eq!(called(harness).await.calls, 1);
}

/// A postponed call is made later and is not counted.
pub async fn a_call_that_is_put_off_does_not_count(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    let call = called(harness).await;
    harness.wake().put_off(&call, LITTLE * 2).await.expect("put a call off");
    assert_eq!(claimed(harness).await, []);

    harness.let_pass(LITTLE * 2).await;
    assert_eq!(called(harness).await.calls, 1);
}

/// An agent that reached its limit of wakes per hour is called after the hour. Its owner gets one notice.
pub async fn who_is_woken_too_often_is_held(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let terms = WakeTerms { wakes_per_hour: 2, ..TERMS };
    for number in 1..=2 {
        cast.stored(&ann.says(number)).await;
        let calls = claims(harness, &terms).await.expect("claim wakes");
        assert_eq!(calls[0].step, WakeStep::Call);
        wakes_up(&cast, &ann, i64::try_from(number).expect("few")).await;
        harness.let_pass(Duration::from_mins(1)).await;
    }
    cast.stored(&ann.says(3)).await;

    let held = claims(harness, &terms).await.expect("claim wakes");
    assert_eq!((held.len(), held[0].step, held[0].places.len()), (1, WakeStep::Held, 1));
    assert_eq!(cast.stored(&ann.says(4)).await.presence, AgentPresence::Held);
    assert_eq!(claims(harness, &terms).await.expect("claim wakes"), []);
    let notices = harness.wakers().notices(ann.scope).await.expect("read notices");
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!((notices[0].kind, notices[0].calls), (NoticeKind::Held, 2));
    harness.let_pass(Duration::from_hours(1)).await;
    assert_eq!(claims(harness, &terms).await.expect("claim wakes")[0].step, WakeStep::Call);
}

/// After a day the desk gives up: the owner gets one notice, and the node that claims the wake notifies the authors.
/// If that node dies first, another claims the wake. A later entry starts a new wake.
pub async fn who_cannot_be_woken_is_given_up_and_told(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    let call = called(harness).await;
    harness
        .wake()
        .record_outcome(&call, "answered with status 500", CALL_GAP)
        .await
        .expect("note a call");
    harness.let_pass(WAKE_DEADLINE.saturating_sub(LITTLE * 2)).await;
    assert_eq!(called(harness).await.calls, 2, "the day is not over");
    harness.let_pass(LITTLE + UNRECORDED_CALL_GAP).await;

    let mut given_up = claimed(harness).await;
    assert_eq!((given_up.len(), given_up[0].step), (1, WakeStep::GaveUp));
    assert_eq!(given_up[0].places.len().min(WAKE_PLACES_MAX), 1);
    assert_eq!(phase(&cast, &ann).await, "unreachable");
    harness.let_pass(CALL_GAP).await;
    given_up.extend(claimed(harness).await);
    assert_eq!(given_up.len(), 2, "nobody said that people were told");
    harness.wake().record_notified(&given_up[1]).await.ok();
    let again = claimed(harness).await;
    assert_eq!(again, []);
    let notices = harness.wakers().notices(ann.scope).await.expect("read notices");
    assert_eq!(notices.len(), 1, "the owner is told once: {notices:?}");
    assert_eq!(notices[0].outcome.as_deref(), Some("answered with status 500"));
    harness.let_pass(Duration::from_hours(1)).await;
    assert_eq!(claimed(harness).await, [], "they were told");
    cast.stored(&ann.says(2)).await;
    assert_eq!(called(harness).await.calls, 1);
}

/// A wake without a URL or command stays due without a call. Setting a URL makes the call due at once.
pub async fn who_cannot_be_called_is_left_until_somebody_can(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    assert_eq!(cast.stored(&ann.says(1)).await.presence, AgentPresence::Asleep);
    assert_eq!(claimed(harness).await, []);
    harness.let_pass(Duration::from_hours(1)).await;
    assert_eq!(claimed(harness).await, []);
    assert_eq!(phase(&cast, &ann).await, "due");

    let urls = [URL.to_owned(), "https://other.example/".to_owned()];
    let set = harness.wakers().set_wake_urls(ann.scope, ann.agent, &urls).await;
    set.expect("say where an agent is called");
    assert_eq!(called(harness).await.urls, urls);
    let bob = cast.person("bob").await;
    cast.stored(&bob.says(2)).await;
    let terms = WakeTerms { has_command: true, ..TERMS };
    let by_command = claims(harness, &terms).await.expect("claim wakes");
    assert_eq!((by_command[0].agent, by_command[0].urls.len()), (bob.agent, 0));
}

/// The author of the oldest entry is told of a delay. Each claim has the notice until it is recorded as sent, also if the
/// agent cannot be called.
pub async fn a_delay_is_claimed_until_it_is_told(harness: &impl TimedHarness) {
    const AFTER: Duration = Duration::from_mins(3);
    let cast = Cast::of(harness).await;
    let terms = WakeTerms { still_waking_after: AFTER, ..TERMS };
    let (ann, bob) = (callable(&cast, "ann").await, cast.person("bob").await);
    cast.stored(&ann.says(1)).await;
    cast.stored(&bob.says(2)).await;
    let claim = async || {
        let mut claimed = claims(harness, &terms).await.expect("claim wakes");
        claimed.sort_by_key(|claimed| claimed.agent != ann.agent);
        claimed
    };
    let is_due = |claimed: &WakeClaim| match &claimed.delay {
        DelayNotice::Due(place) => place.bot == cast.bot.id,
        DelayNotice::At(_) | DelayNotice::Over => false,
    };
    let first = claim().await;
    assert_eq!((first.len(), first[0].agent), (1, ann.agent));
    assert!(matches!(first[0].delay, DelayNotice::At(_)), "{first:?}");
    let wait = Duration::from_mins(10);
    harness.wake().record_outcome(&first[0], "500", wait).await.expect("note a call");

    for _ in 0..2 {
        harness.let_pass(AFTER + LITTLE).await;
        let due = claim().await;
        let steps: Vec<WakeStep> = due.iter().map(|claimed| claimed.step).collect();
        assert_eq!(steps, [WakeStep::Call, WakeStep::Delayed], "{due:?}");
        assert!(due.iter().all(is_due), "nobody said that it was sent: {due:?}");
    }
    harness.let_pass(UNRECORDED_CALL_GAP).await;
    for claimed in claim().await {
        harness.wake().record_delay_told(&claimed).await.expect("note a notice");
    }
    harness.let_pass(UNRECORDED_CALL_GAP).await;
    let after = claim().await;
    assert_eq!((after.len(), after[0].agent), (1, ann.agent));
    assert_eq!(after[0].delay, DelayNotice::Over, "it is told once");
}

/// An operator can request one call to an agent that has no entry waiting.
pub async fn a_person_may_ask_for_a_call(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    harness.wakers().request_call(ann.scope, ann.agent).await.expect("ask for a call");

    let call = called(harness).await;
    assert_eq!((call.calls, call.places), (1, Vec::new()));
    harness.let_pass(Duration::from_hours(1)).await;
    assert_eq!(claimed(harness).await, []);
    assert_eq!(phase(&cast, &ann).await, "settled");
}

/// Concurrent claims return each wake exactly once.
pub async fn claims_at_once_share_the_work(harness: &impl TimedHarness) {
    const SLEEPERS: usize = 12;
    let cast = Cast::of(harness).await;
    for number in 0..SLEEPERS {
        let sleeper = callable(&cast, &format!("ann{number}")).await;
        cast.stored(&sleeper.says(number)).await;
    }
    let store = harness.wake();
    let one = || store.claim(WakeSelection::Due(SLEEPERS), &TERMS);
    let (first, second, third) = tokio::join!(one(), one(), one());

    let mut agents = Vec::new();
    for claimed in [first, second, third, one().await] {
        agents.extend(claimed.expect("claim wakes").into_iter().map(|claimed| claimed.agent));
    }
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(agents.len(), SLEEPERS);
}

/// Concurrent claims of one agent's wake return one call.
pub async fn one_agents_claims_at_once_make_one_call(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    cast.stored(&ann.says(1)).await;
    let store = harness.wake();
    let one = || store.claim(WakeSelection::Of(ann.scope, ann.agent), &TERMS);
    let (first, second, third, fourth) = tokio::join!(one(), one(), one(), one());

    let claims = [first, second, third, fourth].map(|claimed| claimed.expect("claim a wake"));
    assert_eq!(claims.iter().flatten().count(), 1, "{claims:?}");
}

/// A tenant sees and changes only its own wakes.
pub async fn nobody_sees_another_tenants_wakes(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    let bob = cast.person("bob").await;
    cast.stored(&ann.says(1)).await;
    let wakers = harness.wakers();

    let theirs = wakers.wake_urls(bob.scope, ann.agent).await.expect("read wakers");
    assert_eq!(theirs, [""; 0]);
    let foreign = wakers.set_wake_urls(bob.scope, ann.agent, &[URL.to_owned()]).await;
    assert!(foreign.is_err(), "the tenant has no such agent");
    let status = wakers.status(bob.scope, Some(ann.agent), "").await.expect("look at wakes");
    assert_eq!(status, []);
    let of = harness.wake().claim(WakeSelection::Of(bob.scope, ann.agent), &TERMS).await;
    assert_eq!(of.expect("claim a wake"), []);
}

/// The entries that wait for an agent are counted up to a bound.
pub async fn waiting_entries_are_counted_up_to_a_bound(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let waiting = async || {
        let status = harness.wakers().status(ann.scope, Some(ann.agent), "").await;
        status.expect("look at wakes")[0].waiting
    };
    let most = WAITING_COUNTED_MAX.unsigned_abs();
    let numbers = 0..=usize::try_from(most).expect("few");
    let events = cast.accepts(numbers.map(|number| ann.says(number))).await;
    let (last, first) = events.split_last().expect("there are events");

    for batch in first[1..].chunks(16) {
        cast.accept(batch).await;
    }
    assert_eq!(waiting().await, most - 1);
    cast.accept(&first[..1]).await;
    assert_eq!(waiting().await, most);
    cast.accept(std::slice::from_ref(last)).await;
    assert_eq!(waiting().await, most);
}

/// In any sequence of events, calls to an agent keep the minimum gap. While an entry waits and the agent has no
/// line, the next call is at most `CLOSED_GRACE` plus `UNRECORDED_CALL_GAP` away.
pub async fn calls_lie_apart_whatever_happens(harness: &impl TimedHarness) {
    const STEPS: usize = 150;
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let terms = WakeTerms { wakes_per_hour: u32::MAX, ..TERMS };
    let mut open: Option<Line> = None;
    let (mut said, mut since_call, mut waited) = (0, Duration::MAX, Duration::ZERO);
    // A linear congruential generator gives the same steps on every store and in every run.
    let mut random = 7_u64;
    for _ in 0..STEPS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match (random >> 60, open) {
            (0..=3, _) => {
                said += 1;
                cast.stored(&ann.says(said)).await;
            }
            (4..=5, None) => open = Some(line(&cast, &ann).await),
            (6, Some(line)) => {
                cast.ack(&line, &[(1, i64::try_from(said).expect("few"))]).await;
            }
            (7, Some(line)) => {
                let generation = line.claim.generation;
                let suspected = harness.wake().suspect(ann.scope, ann.agent, generation).await;
                suspected.expect("suspect a line");
            }
            (8, Some(line)) => {
                cast.goes_idle(&line).await;
                open = None;
            }
            (9, Some(line)) => {
                cast.restart(&line).await;
                open = None;
            }
            _ => {
                let span = Duration::from_secs(1 + (random >> 32) % 8);
                harness.let_pass(span).await;
                since_call = since_call.saturating_add(span);
                waited += span;
            }
        }
        let calls = claims(harness, &terms).await.expect("claim wakes");
        if open.is_some() || !calls.is_empty() {
            waited = Duration::ZERO;
        }
        if !calls.is_empty() {
            assert!(
                since_call.saturating_add(LITTLE) >= CALL_GAP,
                "called again after {since_call:?}"
            );
            since_call = Duration::ZERO;
        }
        let status = harness.wakers().status(ann.scope, Some(ann.agent), "").await;
        if status.expect("look at wakes")[0].waiting == 0 {
            waited = Duration::ZERO;
        }
        assert!(waited <= CLOSED_GRACE + UNRECORDED_CALL_GAP, "nobody called it for {waited:?}");
    }
    assert!(said > 10 && since_call < Duration::MAX, "something happened");
}

/// Checks that an agent with a webhook and no URL is called, and that a rotation keeps the salt before it.
pub async fn a_webhook_is_a_way_to_wake(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let wakers = harness.wakers();
    let set = async |salt: &str| {
        let webhook = NewWebhook { url: URL.to_owned(), salt: salt.to_owned() };
        wakers.set_webhook(ann.scope, ann.agent, Some(&webhook)).await.expect("set a webhook");
    };
    set("first").await;
    set("second").await;
    let found = wakers.webhook(ann.scope, ann.agent).await.expect("read a webhook");
    let salts = ["second", "first"].map(str::to_owned).to_vec();
    assert_eq!(found, Some(AgentWebhook { url: URL.to_owned(), salts }));
    let foreign = wakers.webhook(bob.scope, ann.agent).await.expect("read a webhook");
    assert_eq!(foreign, None, "another tenant");

    cast.stored(&ann.says(1)).await;
    let called = called(harness).await;
    assert_eq!((called.agent, called.step, called.has_webhook), (ann.agent, WakeStep::Call, true));
    wakers.set_webhook(ann.scope, ann.agent, None).await.expect("remove a webhook");
    assert_eq!(wakers.webhook(ann.scope, ann.agent).await.expect("read a webhook"), None);
}
