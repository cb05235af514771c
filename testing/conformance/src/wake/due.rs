//! Promises about the time at which a wake becomes due.

use std::time::Duration;

use nightdesk_inbox::{AgentPresence, AuthorPace, LocalEntry, PutOutcome};
use nightdesk_types::Seq;
use nightdesk_types::limits::{CLOSED_GRACE, IDLE_GRACE, UNRECORDED_CALL_GAP, VANISHED_GRACE};

use super::super::TimedHarness;
use super::super::cast::{Cast, Line};
use super::{LITTLE, URL, begin_node, callable, called, claimed, line, phase, state, wakes_up};

/// An entry for an agent without a line reports the agent as asleep and makes a wake due at once. Further entries
/// do not shorten the gap between calls.
pub async fn an_entry_for_a_sleeper_makes_a_wake_due(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = callable(&cast, "ann").await;
    assert_eq!(cast.stored(&ann.says(1)).await.presence, AgentPresence::Asleep);
    assert_eq!(cast.stored(&ann.says(2).in_chat("c2")).await.presence, AgentPresence::Asleep);

    let first = called(harness).await;
    assert_eq!((first.scope, first.agent, first.calls), (ann.scope, ann.agent, 1));
    assert_eq!(first.urls, [URL]);
    let chats: Vec<&str> = first.places.iter().map(|place| place.chat_id.as_str()).collect();
    assert_eq!(chats, ["c1", "c2"]);
    assert!(!first.went_idle);
    cast.stored(&ann.says(3)).await;
    assert_eq!(claimed(harness).await, [], "one call is enough for all of them");
    harness.let_pass(UNRECORDED_CALL_GAP).await;
    let second = called(harness).await;
    assert_eq!((second.calls, second.places), (2, Vec::new()), "people were told before");
}

/// An entry over its author's rate limit makes no wake due, and is handed over in order when another one wakes the
/// agent, also one of the same batch.
pub async fn an_entry_over_its_authors_limit_wakes_no_agent(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let bob = callable(&cast, "bob").await;
    let over = [AuthorPace::DeliverWithoutWake];
    let first = cast.accept_of(&ann.says(1)).await.with_paces(&over);
    let puts = cast.accept(&[first]).await;
    let PutOutcome::Stored(stored) = &puts[0] else { panic!("it is new") };
    assert_eq!((stored[0].parked, stored[0].presence), (false, AgentPresence::Awake));
    assert_eq!(claimed(harness).await, []);
    assert_eq!(state(&cast, &ann).await, None);

    let over = cast.accept_of(&ann.says(2)).await.with_paces(&over);
    let batch = [over, cast.accept_of(&ann.says(3)).await, cast.accept_of(&bob.says(4)).await];
    let presences = cast.accept(&batch).await.into_iter().map(|put| {
        let PutOutcome::Stored(stored) = put else { panic!("it is new") };
        stored[0].presence
    });
    let asleep = AgentPresence::Asleep;
    assert_eq!(presences.collect::<Vec<_>>(), [AgentPresence::Awake, asleep, asleep]);
    let called: Vec<_> = claimed(harness).await.into_iter().map(|claim| claim.agent).collect();
    assert!(called.len() == 2 && called.contains(&ann.agent) && called.contains(&bob.agent));
    assert_eq!(cast.numbers(&line(&cast, &ann).await).await, [1, 2, 3]);
}

/// An agent with an open line is not called. A duplicate event does not make a wake due either.
pub async fn who_has_a_line_is_not_called(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let awake = line(&cast, &ann).await;
    assert_eq!(cast.stored(&ann.says(1)).await.presence, AgentPresence::Awake);
    cast.ack(&awake, &[(1, 1)]).await;
    cast.goes_idle(&awake).await;
    cast.put(&ann.says(1)).await;

    harness.let_pass(Duration::from_mins(1)).await;
    assert_eq!(claimed(harness).await, []);
    assert_eq!(state(&cast, &ann).await, None);
}

/// If a line ends while an entry waits, the client has a grace period, which depends on how the line ended.
pub async fn a_parting_has_its_grace(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    for (name, grace) in [("idle", IDLE_GRACE), ("client", VANISHED_GRACE), ("desk", CLOSED_GRACE)]
    {
        let ann = callable(&cast, name).await;
        let open = line(&cast, &ann).await;
        cast.stored(&ann.says(1).keyed(name)).await;
        match name {
            "idle" => cast.goes_idle(&open).await,
            "client" => cast.close(&open, None).await,
            _ => cast.restart(&open).await,
        }

        harness.let_pass(grace.saturating_sub(LITTLE)).await;
        assert_eq!(claimed(harness).await, [], "{name}: it may still come back");
        harness.let_pass(LITTLE).await;
        assert_eq!(called(harness).await.went_idle, name == "idle");
        wakes_up(&cast, &ann, 1).await;
    }
}

/// An entry that arrives right after a line ended waits for the same grace period. A later entry does not.
pub async fn an_entry_soon_after_a_parting_waits_for_the_grace(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    cast.restart(&line(&cast, &ann).await).await;
    assert_eq!(cast.stored(&ann.says(1)).await.presence, AgentPresence::Asleep);
    assert_eq!(claimed(harness).await, [], "the desk restarts; it comes back");

    harness.let_pass(CLOSED_GRACE).await;
    called(harness).await;
    wakes_up(&cast, &ann, 1).await;
    harness.let_pass(Duration::from_hours(1)).await;
    cast.stored(&ann.says(2)).await;
    called(harness).await;
}

/// A line that ends with no entry waiting makes no wake due. A parked entry does not count as waiting.
pub async fn a_line_that_ended_with_nothing_waiting_wakes_nobody(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let open = line(&cast, &ann).await;
    cast.several(&ann, 2).await;
    cast.ack(&open, &[(2, 2)]).await;
    let aside = harness.aside().park_waiting(ann.scope, ann.agent, Seq::new(1)).await;
    assert!(aside.expect("set an entry aside"));
    cast.close(&open, None).await;

    harness.let_pass(Duration::from_mins(1)).await;
    assert_eq!(claimed(harness).await, []);
}

/// A resubmitted entry makes a wake due like any other entry.
pub async fn a_resubmitted_entry_wakes(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let open = line(&cast, &ann).await;
    cast.stored(&ann.says(1)).await;
    let aside = harness.aside();
    aside.park_waiting(ann.scope, ann.agent, Seq::new(1)).await.expect("set an entry aside");
    cast.goes_idle(&open).await;
    harness.let_pass(Duration::from_mins(1)).await;
    aside.resubmit(ann.scope, ann.agent, Seq::new(1)).await.expect("resubmit an entry");

    called(harness).await;
}

/// An operator's test entry makes a wake due like any other entry.
pub async fn a_test_entry_wakes(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let entry = LocalEntry::for_bot(cast.bot.id, "discord", "bot").expect("discord can be made up");
    let seq = harness.aside().put_local(ann.scope, ann.agent, &entry).await.expect("put");
    assert_eq!(seq, Some(Seq::new(1)));

    called(harness).await;
    let awake = line(&cast, &ann).await;
    let [handed] = &cast.waiting(&awake).await[..] else { panic!("one waits") };
    assert!(handed.json.is_ok(), "a client can take it");
    let strange = harness.aside().put_local(cast.operator, ann.agent, &entry).await.expect("put");
    assert_eq!(strange, None, "another tenant's agent");
}

/// Lines end with their node, and their clients have a grace period to connect to another node.
pub async fn a_dead_node_ends_its_lines(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let bob = callable(&cast, "bob").await;
    line(&cast, &ann).await;
    line(&cast, &bob).await;
    cast.stored(&ann.says(1)).await;
    assert_eq!(harness.wake().close_dead_lines().await.expect("bury"), 0, "its node lives");
    begin_node(&cast).await;
    assert_eq!(cast.stored(&bob.says(2)).await.presence, AgentPresence::Asleep);

    assert_eq!(harness.wake().close_dead_lines().await.expect("bury"), 2);
    assert_eq!(harness.wake().close_dead_lines().await.expect("bury"), 0, "once");
    harness.let_pass(CLOSED_GRACE.saturating_sub(LITTLE)).await;
    assert_eq!(claimed(harness).await, []);
    harness.let_pass(LITTLE).await;
    assert_eq!(claimed(harness).await.len(), 2);
}

/// A line on which the desk posts has no client that comes back, so the next node posts at once when its node ends.
pub async fn a_posted_line_is_resumed_at_once(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    cast.posted_line(&ann).await;
    cast.stored(&ann.says(1)).await;
    begin_node(&cast).await;

    assert_eq!(harness.wake().close_dead_lines().await.expect("bury"), 1);
    assert_eq!(claimed(harness).await.len(), 1);
}

/// A step of the store's clock over the end of every lease ends no line: its agent is awake, and is not called.
pub async fn a_step_of_the_clock_ends_no_line(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    harness.lease().begin("node-1", LITTLE).await.expect("a node begins");
    let ann = callable(&cast, "ann").await;
    line(&cast, &ann).await;
    harness.let_pass(Duration::from_hours(1)).await;

    assert_eq!(cast.stored(&ann.says(1)).await.presence, AgentPresence::Awake);
    assert_eq!(harness.wake().close_dead_lines().await.expect("bury"), 0);
    assert_eq!(claimed(harness).await, []);
}

/// An agent whose line does not respond is called until it acks. The line stays open.
pub async fn a_suspect_line_has_its_agent_called(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(&cast).await;
    let ann = callable(&cast, "ann").await;
    let old = line(&cast, &ann).await;
    let open = line(&cast, &ann).await;
    harness.let_pass(LITTLE).await;
    let suspect = async |line: &Line| {
        let suspected = harness.wake().suspect(ann.scope, ann.agent, line.claim.generation).await;
        suspected.expect("suspect a line");
    };
    suspect(&open).await;
    assert_eq!(claimed(harness).await, [], "nothing waits");
    cast.several(&ann, 2).await;
    suspect(&old).await;
    assert_eq!(claimed(harness).await, [], "another line took over");
    suspect(&open).await;

    called(harness).await;
    harness.let_pass(UNRECORDED_CALL_GAP).await;
    assert_eq!(called(harness).await.calls, 2, "it still does not ack");
    cast.ack(&open, &[(1, 1)]).await;
    harness.let_pass(UNRECORDED_CALL_GAP).await;
    assert_eq!(claimed(harness).await, []);
    assert_eq!(phase(&cast, &ann).await, "settled");
}
