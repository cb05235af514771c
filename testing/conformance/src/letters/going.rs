//! Promises of the store about scheduled letters and letters that leave through another connector.

use nightdesk_letters::{LetterState, NewLetter, PostingOutcome};
use nightdesk_types::Quota;

use super::{due_with_room, letter, pair, put, state};
use crate::cast::Cast;
use crate::{Harness, TimedHarness};

/// If the sender sets a time, the desk delivers the letter when it is due, even if that time is now.
pub async fn a_letter_that_the_desk_is_to_put_is_kept(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let letter = NewLetter { when: Some(harness.now()), ..letter(from, to, "d1") };

    assert_eq!(put(harness, &letter).await, PostingOutcome::Scheduled);
    let due = harness.letters().take_due(to, letter.id).await.expect("due");
    assert_eq!(due, Some(due_with_room(&letter)));
}

/// A letter that leaves through another connector is recorded and put into no inbox, even if the inbox is full.
pub async fn a_letter_that_goes_out_is_written_down_and_not_put(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    let none = harness.register().set_quota(to.scope, Quota::PendingEntries, 0).await;
    none.expect("set a quota");
    let out = NewLetter { by_outlet: true, ..letter(from, to, "d1") };

    assert_eq!(put(harness, &out).await, PostingOutcome::Noted);
    let again = put(harness, &out).await;
    assert!(matches!(again, PostingOutcome::Duplicate(_)), "{again:?}");
    assert_eq!(state(harness, &out).await, LetterState::Put);
    let line = cast.line(&ann).await;
    assert!(cast.waiting(&line).await.is_empty(), "nothing lies there");
}

/// A scheduled letter that left through another connector is complete.
pub async fn a_letter_that_went_out_when_it_was_due_is_over(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let later = NewLetter { when: Some(harness.now()), by_outlet: true, ..letter(from, to, "d1") };
    let letters = harness.letters();
    assert_eq!(put(harness, &later).await, PostingOutcome::Scheduled);
    let none = harness.register().set_quota(to.scope, Quota::PendingEntries, 0).await;
    none.expect("set a quota");

    let due = letters.take_due(to, later.id).await.expect("due").expect("it waits");
    assert!(due.is_full, "who has another way need not mind");
    assert_eq!(state(harness, &later).await, LetterState::Scheduled);
    letters.record_delivery(to, later.id, None).await.expect("note");
    assert_eq!(state(harness, &later).await, LetterState::Put);
    assert_eq!(letters.take_due(to, later.id).await.expect("due"), None);
}
