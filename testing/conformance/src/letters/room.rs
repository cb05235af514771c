//! Promises of the store of letters about full inboxes.

use nightdesk_letters::{LetterState, NewLetter, Party, PostingOutcome};
use nightdesk_types::{Quota, Seq};

use super::{SECOND, due_with_room, letter, pair, put, state, stored};
use crate::cast::Cast;
use crate::{Harness, TimedHarness};

async fn allow(harness: &dyn Harness, to: Party, entries: i64) {
    let set = harness.register().set_quota(to.scope, Quota::PendingEntries, entries).await;
    set.expect("set a quota");
}

/// A full inbox refuses a letter, and the store does not record the letter.
pub async fn a_full_inbox_takes_no_letter(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    allow(harness, to, 2).await;
    for name in ["d1", "d2"] {
        stored(harness, &letter(from, to, name)).await;
    }
    let third = letter(from, to, "d3");
    let now = NewLetter { when: Some(harness.now()), ..letter(from, to, "d4") };

    assert_eq!(put(harness, &third).await, PostingOutcome::Full);
    assert_eq!(put(harness, &now).await, PostingOutcome::Full, "also if the desk is to put it now");
    assert_eq!(harness.letters().letter(from, third.id).await.expect("look"), None);
    let before = put(harness, &letter(from, to, "d2")).await;
    assert!(matches!(before, PostingOutcome::Duplicate(_)), "what is there is there: {before:?}");
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    assert_eq!(stored(harness, &third).await, Seq::new(3), "there is room again");
}

/// A scheduled letter waits for room in the inbox, and is not refused before it is due.
pub async fn a_letter_for_later_waits_for_room(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    allow(harness, to, 1).await;
    stored(harness, &letter(from, to, "d1")).await;
    let when = harness.now().checked_add(SECOND * 60).expect("a time");
    let later = NewLetter { when: Some(when), ..letter(from, to, "d2") };
    let letters = harness.letters();

    assert_eq!(put(harness, &later).await, PostingOutcome::Scheduled);
    let due = letters.take_due(to, later.id).await.expect("due").expect("it waits");
    assert!(due.is_full);
    assert_eq!(state(harness, &later).await, LetterState::Scheduled, "it still waits");
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    let due = letters.take_due(to, later.id).await.expect("due");
    assert_eq!(due, Some(due_with_room(&later)));
}
