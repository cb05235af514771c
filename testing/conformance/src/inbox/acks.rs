//! Checks the acks of entries.

use nightdesk_inbox::{AckOutcome, LineClaim, ReadRequest, ReadResponse};
use nightdesk_types::Seq;

use crate::Harness;
use crate::cast::{Cast, Line};

/// Checks that an acked entry is never handed over again, neither on this line nor on a new one.
pub async fn an_acked_entry_is_never_handed_over_again(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;

    assert_eq!(cast.ack(&line, &[(1, 2)]).await, moved(2));
    assert_eq!(cast.numbers(&line).await, [3]);
    let new = cast.line(&ann).await;
    assert_eq!(new.taken.acked, Seq::new(2));
    assert_eq!(cast.numbers(&new).await, [3]);
    let from_the_start = ReadRequest { after: Seq::default(), ..new.ask() };
    let ReadResponse::Entries(entries) = cast.ask(from_the_start).await else {
        panic!("the newest")
    };
    assert_eq!(entries.len(), 1, "the cursor counts, wherever a line begins");
}

/// Checks that acks may come out of order: their entries are done, and the cursor moves over them when the gap closes.
pub async fn acks_out_of_order_count_and_the_cursor_waits_for_the_gap(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 6).await;
    let line = cast.line(&ann).await;

    assert_eq!(cast.ack(&line, &[(2, 2), (4, 5)]).await, moved(0));
    assert_eq!(cast.numbers(&line).await, [1, 3, 6]);
    let new = cast.line(&ann).await;
    assert_eq!(cast.numbers(&new).await, [1, 3, 6], "also on a new line");
    assert_eq!(cast.ack(&new, &[(1, 1)]).await, moved(2));
    assert_eq!(cast.ack(&new, &[(3, 3)]).await, moved(5));
    assert_eq!(cast.numbers(&new).await, [6]);
    assert_eq!(cast.ack(&new, &[(6, 6)]).await, moved(6));
}

/// Checks that a replaced line cannot move the cursor.
pub async fn acks_of_a_replaced_line_do_not_count(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 2).await;
    let old = cast.line(&ann).await;
    assert_eq!(cast.numbers(&old).await, [1, 2]);

    let new = cast.line(&ann).await;
    assert_eq!(cast.ack(&old, &[(1, 2)]).await, AckOutcome::LineReplaced);
    assert_eq!(cast.numbers(&new).await, [1, 2], "the entries are still there");
    let newer = cast.line(&ann).await;
    assert_eq!(newer.taken.acked, Seq::default());
}

/// Checks that an ack of an entry that the store does not have counts for nothing and ends the history: the store lost
/// the entry. The next entry of that number is delivered.
pub async fn an_ack_beyond_the_head_ends_the_history(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 2).await;
    let old = cast.line(&ann).await;

    assert_eq!(cast.ack(&old, &[(1, 3)]).await, AckOutcome::BeyondHead);
    assert_eq!(cast.ack(&old, &[(1, 2)]).await, AckOutcome::HistoryChanged);
    let new = cast.line(&ann).await;
    assert_ne!(new.claim.incarnation, old.claim.incarnation);
    let third = cast.stored(&ann.says(3)).await;
    assert_eq!((third.seq, third.incarnation), (Seq::new(3), new.claim.incarnation));
    let entries = cast.ask(new.ask()).await;
    let ReadResponse::Entries(entries) = entries else { panic!("the line is the newest") };
    let histories: Vec<_> = entries.iter().map(|entry| entry.incarnation).collect();
    let (before, after) = (old.claim.incarnation, new.claim.incarnation);
    assert_eq!(histories, [before, before, after], "an entry that survived keeps its id");
}

/// Checks that a repeated ack, before the cursor or beyond it, changes nothing.
pub async fn acking_twice_changes_nothing(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 6).await;
    let line = cast.line(&ann).await;
    assert_eq!(cast.ack(&line, &[(1, 3), (5, 5)]).await, moved(3));

    for repeat in [(1, 3), (1, 1), (2, 3), (3, 3), (5, 5)] {
        assert_eq!(cast.ack(&line, &[repeat]).await, moved(3), "{repeat:?} again");
        assert_eq!(cast.numbers(&line).await, [4, 6], "after {repeat:?} again");
    }
    assert_eq!(cast.ack(&line, &[]).await, moved(3), "of nothing");
    assert_eq!(cast.ack(&line, &[(2, 4)]).await, moved(5), "what is new of it counts");
    assert_eq!(cast.ack(&line, &[(1, 1), (6, 6)]).await, moved(6), "beside a repeat too");
}

/// Checks that an ack covers the numbers in between that never were entries.
pub async fn an_ack_covers_what_was_parked_in_between(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let huge = "x".repeat(600 * 1024);
    for number in 1..=4 {
        let says = ann.says(number);
        let unsendable = number % 2 == 1;
        cast.stored(&if unsendable { says.saying(huge.clone()) } else { says }).await;
    }
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, [2, 4]);

    assert_eq!(cast.ack(&line, &[(3, 4)]).await, moved(0));
    assert_eq!(cast.ack(&line, &[(1, 2)]).await, moved(4));
    assert_eq!(cast.line(&ann).await.taken.acked, Seq::new(4));
}

/// Checks that gathered acks get an answer each, in their order.
pub async fn gathered_acks_get_an_answer_each(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let cid = cast.person("cid").await;
    for (number, person) in [&ann, &ann, &bob, &cid].into_iter().enumerate() {
        cast.stored(&person.says(number)).await;
    }
    let replaced = cast.line(&cid).await;
    let new = cast.line(&cid).await;
    let (bobs, anns) = (cast.line(&bob).await, cast.line(&ann).await);
    let acks = [bobs.acks(&[(1, 1)]), replaced.acks(&[(1, 1)]), anns.acks(&[(2, 2)])];

    let answers = harness.inbox().ack(&acks).await.expect("ack entries");
    assert_eq!(answers, [moved(1), AckOutcome::LineReplaced, moved(0)]);
    assert_eq!(cast.numbers(&bobs).await, [0; 0]);
    assert_eq!(cast.numbers(&new).await, [1]);
    assert_eq!(cast.numbers(&anns).await, [1]);
}

/// Checks that a tenant cannot ack another tenant's entries.
pub async fn nothing_is_acked_by_another_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 1).await;
    let line = cast.line(&ann).await;
    let claim = LineClaim { scope: bob.scope, ..line.claim };

    let acked = harness.inbox().ack(&[Line { claim, ..line }.acks(&[(1, 1)])]).await;
    assert!(!matches!(acked.as_deref(), Ok([AckOutcome::Moved(_)])), "{acked:?}");
    assert_eq!(cast.numbers(&line).await, [1]);
}

const fn moved(to: i64) -> AckOutcome {
    AckOutcome::Moved(Seq::new(to))
}
