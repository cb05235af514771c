//! Checks the operator's view of an inbox, and the operator's actions on it.

use std::time::Duration;

use nightdesk_inbox::{
    EntryDetails, EntryStatus, InboxOverview, ParkReason, ParkRecord, StoppedChat,
};
use nightdesk_types::Seq;
use nightdesk_types::limits::LIST_ROWS_MAX;

use super::put::seq;
use crate::Harness;
use crate::cast::{Cast, Person};

/// Checks that an overview lists waiting and parked entries, in order and without their content.
pub async fn an_overview_tells_what_waits_and_what_is_parked(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let stored = cast.stored(&ann.says(1)).await;
    for number in 2..=5 {
        cast.stored(&ann.says(number)).await;
    }
    let line = cast.line(&ann).await;
    let bytes = cast.waiting(&line).await[0].json.as_ref().ok().map(|json| json.as_bytes().len());
    cast.ack(&line, &[(2, 2)]).await;
    assert!(set_aside(harness, &ann, 4).await);

    let overview = overview(harness, &ann, 0).await.expect("the agent is known");
    assert_eq!((overview.head, overview.acked), (seq(5), seq(0)));
    assert_eq!(waiting(&overview), [1, 3, 5]);
    let first = &overview.waiting[0];
    assert_eq!((first.at, first.bot), (stored.at, cast.bot.id));
    assert_eq!(Some(first.body_bytes), bytes);
    let (listed, parked) = &overview.parked[0];
    assert_eq!((listed.seq, parked.reason), (seq(4), ParkReason::Operator));
    assert_eq!((overview.parked.len(), parked.resubmitted_as), (1, None));
}

/// Checks that a page goes on behind many entries that were acknowledged out of order.
pub async fn an_overview_finds_what_waits_behind_a_gap(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let page = usize::try_from(LIST_ROWS_MAX).expect("a small number");
    let (last, gap_end) = (3 * page, LIST_ROWS_MAX * 2 + 10);
    let events: Vec<_> = (1..=last).map(|number| ann.says(number)).collect();
    for batch in cast.accepts(events).await.chunks(16) {
        cast.accept(batch).await;
    }
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(3, gap_end)]).await;

    let expected: Vec<i64> = [1, 2].into_iter().chain(gap_end + 1..=LIST_ROWS_MAX * 3).collect();
    let found = overview(harness, &ann, 0).await.expect("the agent is known");
    assert_eq!(waiting(&found), expected);
    let after = overview(harness, &ann, gap_end + 1).await.expect("the agent is known");
    assert_eq!(waiting(&after), expected[3..]);
}

/// Checks that a page begins after a number and is bounded, and that no tenant sees another's inbox.
pub async fn an_overview_comes_in_pages_and_to_its_tenant_alone(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let page = usize::try_from(LIST_ROWS_MAX).expect("a small number");
    let events: Vec<_> = (1..=page + 1).map(|number| ann.says(number)).collect();
    for batch in cast.accepts(events).await.chunks(16) {
        cast.accept(batch).await;
    }

    let first = overview(harness, &ann, 0).await.expect("the agent is known");
    assert_eq!(first.waiting.len(), page);
    let second = overview(harness, &ann, LIST_ROWS_MAX).await.expect("the agent is known");
    assert_eq!(waiting(&second), [LIST_ROWS_MAX + 1]);
    let foreign = Person { scope: bob.scope, ..ann.clone() };
    assert_eq!(overview(harness, &foreign, 0).await, None);
    assert_eq!(show(harness, &foreign, 1).await, None);
    assert!(!set_aside(harness, &foreign, 1).await);
}

/// Checks that an entry is shown with its state, in every state.
pub async fn an_entry_is_shown_with_what_became_of_it(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 4).await;
    let line = cast.line(&ann).await;
    let body = cast.waiting(&line).await[1].json.as_ref().ok().map(|json| json.as_bytes().to_vec());
    cast.ack(&line, &[(1, 1)]).await;
    cast.close(&line, Some(2)).await;
    set_aside(harness, &ann, 3).await;

    let tried = show(harness, &ann, 2).await.expect("it waits");
    assert_eq!((tried.state, tried.origin), (EntryStatus::Waiting { tries: 1 }, None));
    assert_eq!(Some(tried.body), body);
    let untried = show(harness, &ann, 4).await.expect("it waits");
    assert_eq!(untried.state, EntryStatus::Waiting { tries: 0 });
    let acked = show(harness, &ann, 1).await.expect("it is remembered");
    assert!(matches!(acked.state, EntryStatus::Acked { times: Some(_) }), "{:?}", acked.state);
    let parked = show(harness, &ann, 3).await.expect("it is parked");
    let EntryStatus::Parked(ParkRecord { reason, resubmitted_as: None, .. }) = parked.state else {
        panic!("it is parked, not {:?}", parked.state)
    };
    assert_eq!(reason, ParkReason::Operator);
    assert_eq!(show(harness, &ann, 9).await, None, "never given out");
}

/// Checks that a resubmitted entry names its origin, and the origin its successor.
pub async fn a_resubmitted_entry_knows_its_origin(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 2).await;
    set_aside(harness, &ann, 1).await;
    let again = harness.aside().resubmit(ann.scope, ann.agent, seq(1)).await;
    assert_eq!(again.expect("resubmit an entry"), Some(seq(3)));

    let new = show(harness, &ann, 3).await.expect("it waits");
    assert_eq!((new.origin, new.state), (Some(seq(1)), EntryStatus::Waiting { tries: 0 }));
    let old = show(harness, &ann, 1).await.expect("it is parked");
    assert_eq!((old.origin, new.body), (None, old.body));
    let EntryStatus::Parked(parked) = old.state else { panic!("it is parked") };
    assert_eq!(parked.resubmitted_as, Some(seq(3)));
}

/// Checks that an operator can park only waiting entries, with or without a line, and that the line moves on.
pub async fn what_waits_is_set_aside_by_hand(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;

    assert!(set_aside(harness, &ann, 1).await, "without a line");
    let line = cast.line(&ann).await;
    assert!(set_aside(harness, &ann, 2).await, "with a line");
    assert_eq!(cast.numbers(&line).await, [3]);
    cast.ack(&line, &[(3, 3)]).await;
    for (name, number) in [("parked before", 1), ("acked", 3), ("never given out", 9)] {
        assert!(!set_aside(harness, &ann, number).await, "{name}");
    }
    assert_eq!(harness.parked(ann.scope, ann.agent).await.len(), 2);
}

/// Checks that a stop sets the waiting entries of its chat aside, and no others, and only while the agent has no line.
pub async fn a_stopped_chat_is_set_aside_while_its_agent_sleeps(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.several(&ann, 4).await;
    cast.stored(&bob.says(5)).await;
    harness.lease().begin("node-1", Duration::from_mins(1)).await.expect("a node lives");
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    let chat_id =
        overview(harness, &ann, 0).await.expect("the agent is known").waiting[0].chat_id.clone();
    let (own, entries_max) = (Some(cast.bot.id), 2);
    let chat = StoppedChat { bot: own, chat_id: &chat_id, entries_max };
    let park = async |person: &Person, chat| {
        harness.aside().park_chat(person.scope, person.agent, chat).await.expect("stop a chat")
    };

    assert_eq!(park(&ann, chat).await, 0, "the agent has a line");
    cast.close(&line, None).await;
    assert_eq!(park(&Person { scope: bob.scope, ..ann.clone() }, chat).await, 0, "not its tenant");
    let other = cast.another_bot("other").await.id;
    assert_eq!(park(&ann, StoppedChat { bot: Some(other), ..chat }).await, 0, "another bot");
    assert_eq!(park(&ann, StoppedChat { chat_id: "elsewhere", ..chat }).await, 0, "another chat");
    assert_eq!(park(&ann, chat).await, 2, "the oldest ones");
    let left = overview(harness, &ann, 0).await.expect("the agent is known");
    assert_eq!((waiting(&left), left.acked), (vec![4], seq(3)));
    let reasons: Vec<ParkReason> = left.parked.iter().map(|(_, parked)| parked.reason).collect();
    assert_eq!(reasons, [ParkReason::Stopped; 2]);
    assert_eq!(park(&ann, StoppedChat { bot: None, ..chat }).await, 1);
    assert_eq!(park(&ann, chat).await, 0, "nothing waits");
    let others = overview(harness, &bob, 0).await.expect("the agent is known");
    assert_eq!(waiting(&others), [1], "another agent's entries wait");
}

fn waiting(overview: &InboxOverview) -> Vec<i64> {
    overview.waiting.iter().map(|listed| listed.seq.get()).collect()
}

async fn overview(harness: &impl Harness, person: &Person, after: i64) -> Option<InboxOverview> {
    let overview = harness.aside().overview(person.scope, person.agent, Seq::new(after)).await;
    overview.expect("look into an inbox")
}

async fn show(harness: &impl Harness, person: &Person, number: i64) -> Option<EntryDetails> {
    let shown = harness.aside().show_entry(person.scope, person.agent, Seq::new(number)).await;
    shown.expect("show an entry")
}

async fn set_aside(harness: &impl Harness, person: &Person, number: i64) -> bool {
    let aside = harness.aside().park_waiting(person.scope, person.agent, Seq::new(number)).await;
    aside.expect("set an entry aside")
}
