//! Promises of the store of letters.

use std::time::Duration;

use nightdesk_letters::{
    DeliveryFailure, DeliveryOutcome, DeliveryRecord, DueLetter, LetterEntry, LetterState,
    NewLetter, Party, Posting, PostingOutcome, Receipt, ReplyOutcome, Route,
};
use nightdesk_protocol::delivery::{DeliveryReceipt, Millis, PayloadKind};
use nightdesk_types::limits::{HOP_REMEMBERED, HOPS_MAX, LETTERS_KEPT};
use nightdesk_types::{BotId, LetterId, Seq};
use uuid::Uuid;

use super::cast::{Cast, Person, id_of};
use super::{Harness, TimedHarness};

mod batch;
mod going;
mod listing;
mod room;

pub use batch::*;
pub use going::*;
pub use listing::*;
pub use room::*;

const SECOND: Duration = Duration::from_secs(1);

/// A bound that no list of a check reaches.
const ALL: usize = 1_000;

fn party(person: &Person) -> Party {
    Party { scope: person.scope, agent: person.agent }
}

/// Returns a letter whose id derives from its sender, recipient and dispatch.
fn letter(from: Party, to: Party, dispatch: &str) -> NewLetter {
    let name = format!("{} {} {dispatch}", from.agent, to.agent);
    NewLetter {
        id: LetterId::from_uuid(id_of("letter", &name)),
        from,
        to,
        dispatch_id: dispatch.to_owned(),
        route: Route::Deliver,
        kind: PayloadKind::Augment,
        session: None,
        correlation_id: None,
        when: None,
        wait: None,
        by_outlet: false,
    }
}

fn waited_for(from: Party, to: Party, dispatch: &str, wait: Duration) -> NewLetter {
    let correlation_id = Some(dispatch.to_owned());
    NewLetter { wait: Some(wait), correlation_id, ..letter(from, to, dispatch) }
}

fn entry(letter: &NewLetter) -> LetterEntry {
    let body = format!(
        r#"{{"event":{{"text":"{}","source":{{"platform":"desk","chat_id":"letter:x","chat_type":"dm"}}}}}}"#,
        letter.dispatch_id
    );
    let (bot, chat_id) = (BotId::from_uuid(Uuid::nil()), format!("letter:{}", letter.id));
    LetterEntry { bot, chat_id, body: body.into_bytes() }
}

/// Returns the due letter of an agent whose inbox has room.
fn due_with_room(letter: &NewLetter) -> DueLetter {
    DueLetter { entry: entry(letter), route: letter.route, is_full: false }
}

fn posting(letter: &NewLetter) -> Posting {
    Posting { letter: letter.clone(), entry: entry(letter) }
}

async fn put(harness: &dyn Harness, letter: &NewLetter) -> PostingOutcome {
    let mut puts = put_together(harness, std::slice::from_ref(letter)).await;
    puts.pop().expect("one outcome")
}

/// Puts letters in one batch.
async fn put_together(harness: &dyn Harness, letters: &[NewLetter]) -> Vec<PostingOutcome> {
    let postings: Vec<_> = letters.iter().map(posting).collect();
    let puts = harness.letters().put(&postings).await.expect("put letters");
    assert_eq!(puts.len(), letters.len(), "every letter has an outcome");
    puts
}

async fn stored(harness: &dyn Harness, letter: &NewLetter) -> Seq {
    let put = put(harness, letter).await;
    let PostingOutcome::Stored { seq, .. } = put else {
        panic!("it was to be stored, not {put:?}")
    };
    seq
}

async fn state(harness: &dyn Harness, letter: &NewLetter) -> LetterState {
    let found = harness.letters().letter(letter.from, letter.id).await.expect("look at a letter");
    found.expect("it is there").state
}

/// Creates two agents of one tenant.
async fn pair(cast: &Cast<'_>) -> (Person, Party, Party) {
    let ann = cast.person("ann").await;
    let other = cast.harness.register().create_agent(ann.scope, "other").await;
    let other = Party { scope: ann.scope, agent: other.expect("enter an agent") };
    (ann.clone(), party(&ann), other)
}

/// A letter is an entry in the inbox of its agent.
pub async fn a_letter_lies_in_the_inbox_of_its_agent(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    let letter = letter(from, to, "d1");

    assert_eq!(stored(harness, &letter).await, Seq::new(1));
    let line = cast.line(&ann).await;
    let waiting = cast.waiting(&line).await;
    assert_eq!(waiting.len(), 1);
    let found =
        harness.letters().letter(from, letter.id).await.expect("look").expect("it is there");
    assert_eq!((found.state, found.seq, found.hop), (LetterState::Put, Some(Seq::new(1)), 1));
    assert!(!found.is_acked);
    cast.ack(&line, &[(1, 1)]).await;
    let found =
        harness.letters().letter(from, letter.id).await.expect("look").expect("it is there");
    assert!(found.is_acked);
}

/// A letter wakes a sleeping agent.
pub async fn a_sleeper_is_woken_by_a_letter(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;

    let came = put(harness, &letter(from, to, "d1")).await;
    assert_eq!(came, PostingOutcome::Stored { seq: Seq::new(1), live: None });
    let status = harness.wakers().status(ann.scope, Some(ann.agent), "").await.expect("look");
    assert_eq!(status.len(), 1, "a wake is due: {status:?}");
}

/// If the recipient has an open line, the outcome includes its session.
pub async fn a_line_that_is_up_is_told_with_its_session(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    harness.lease().begin("node-1", Duration::from_mins(1)).await.expect("a node lives");
    let dialled = cast.line(&ann).await;

    let PostingOutcome::Stored { live: Some(live), .. } =
        put(harness, &letter(from, to, "d1")).await
    else {
        panic!("its line is up");
    };
    assert_eq!((live.session.as_str(), live.is_busy), ("ann", true));
    cast.ack(&dialled, &[(1, 1)]).await;
    let live = harness.letters().find_line(to).await.expect("look").expect("it is up");
    assert!(!live.is_busy);
    cast.close(&dialled, None).await;
    assert_eq!(harness.letters().find_line(to).await.expect("look"), None);
    assert_eq!(harness.letters().find_line(from).await.expect("look"), None, "it never had one");
}

/// The same dispatch to the same agent is the same letter.
pub async fn the_same_dispatch_to_the_same_agent_is_the_same_letter(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let first = letter(from, to, "d1");
    stored(harness, &first).await;
    let again = NewLetter { id: LetterId::from_uuid(id_of("letter", "again")), ..first.clone() };

    let PostingOutcome::Duplicate(before) = put(harness, &again).await else {
        panic!("it was here before")
    };
    assert_eq!(before.id, first.id);
    assert_eq!(stored(harness, &letter(from, to, "d2")).await, Seq::new(2));
    assert_eq!(stored(harness, &letter(from, from, "d1")).await, Seq::new(1), "to another");
}

/// Concurrent puts of the same dispatch store one letter.
pub async fn the_same_dispatch_at_once_is_one_letter(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let same = |n: usize| NewLetter {
        id: LetterId::from_uuid(id_of("letter", &n.to_string())),
        ..letter(from, to, "d1")
    };
    let letters: Vec<_> = (0..8).map(same).collect();

    let puts = futures(harness, &letters).await;
    let stored = puts.iter().filter(|put| matches!(put, PostingOutcome::Stored { .. })).count();
    let before = puts.iter().filter(|put| matches!(put, PostingOutcome::Duplicate(_))).count();
    assert_eq!((stored, before), (1, 7), "{puts:?}");
}

async fn futures(harness: &impl Harness, letters: &[NewLetter]) -> Vec<PostingOutcome> {
    let mut tasks = tokio::task::JoinSet::new();
    for letter in letters {
        let (letters, letter) = (harness.letters(), letter.clone());
        tasks.spawn(async move { letters.put(&[posting(&letter)]).await.expect("put") });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

/// A letter passes between tenants only with the grants of both.
pub async fn nothing_goes_between_tenants_without_both_grants(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (ann, bob) = (party(&ann), party(&bob));
    let (letters, letter) = (harness.letters(), letter(ann, bob, "d1"));

    assert_eq!(put(harness, &letter).await, PostingOutcome::NotGranted);
    assert!(letters.grant(ann, bob).await.expect("grant"));
    assert_eq!(put(harness, &letter).await, PostingOutcome::NotGranted, "one side is not enough");
    assert!(letters.grant(bob, ann).await.expect("grant"));
    assert_eq!(stored(harness, &letter).await, Seq::new(1));
    assert!(letters.release(bob, ann).await.expect("release"));
    let next = self::letter(ann, bob, "d2");
    assert_eq!(put(harness, &next).await, PostingOutcome::NotGranted);
    assert_eq!(letters.letter(ann, next.id).await.expect("look"), None, "nothing is left of it");
    let woken = harness.wakers().status(bob.scope, Some(bob.agent), "").await.expect("look");
    assert_eq!(woken.len(), 1, "the one that was let through");
}

/// A grant is listed, and can be revoked.
pub async fn a_grant_is_told_and_taken_back(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (ann, bob) = (party(&ann), party(&bob));
    let letters = harness.letters();
    assert!(letters.grant(ann, bob).await.expect("grant"));
    assert!(!letters.grant(ann, bob).await.expect("grant"), "again is no news");

    let own = letters.grants(ann.scope, None, ALL).await.expect("list");
    assert_eq!(
        own.iter().map(|grant| (grant.peer, grant.is_mutual)).collect::<Vec<_>>(),
        [(bob, false)]
    );
    assert_eq!(letters.grants(ann.scope, None, 0).await.expect("list"), []);
    assert_eq!(letters.grants(bob.scope, None, ALL).await.expect("list"), [], "nothing of others");
    letters.grant(bob, ann).await.expect("grant");
    let own = letters.grants(ann.scope, Some(ann.agent), ALL).await.expect("list");
    assert!(own[0].is_mutual);
    assert!(letters.release(ann, bob).await.expect("release"));
    assert!(!letters.release(ann, bob).await.expect("release"));
    assert_eq!(letters.grants(ann.scope, None, ALL).await.expect("list"), []);
}

/// A letter to an agent that does not exist is refused.
pub async fn nobody_writes_to_an_agent_that_is_not_there(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, _, from) = pair(&cast).await;
    let nobody = Party { agent: nightdesk_types::AgentId::from_uuid(Uuid::max()), ..from };

    assert_eq!(put(harness, &letter(from, nobody, "d1")).await, PostingOutcome::Unknown);
}

/// Hops of letters that reply to letters are counted and limited.
pub async fn letters_that_answer_letters_are_counted_and_end(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, one, other) = pair(&cast).await;
    let (mut from, mut to) = (one, other);
    for hop in 1..=HOPS_MAX {
        let letter = letter(from, to, &format!("d{hop}"));
        stored(harness, &letter).await;
        let found = harness.letters().letter(from, letter.id).await.expect("look").expect("there");
        assert_eq!(found.hop, hop);
        (from, to) = (to, from);
    }

    assert_eq!(put(harness, &letter(from, to, "one more")).await, PostingOutcome::TooManyHops);
}

/// Hops stop counting after `HOP_REMEMBERED`.
pub async fn hops_are_forgotten_after_a_while(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (_, one, other) = pair(&cast).await;
    stored(harness, &letter(one, other, "d1")).await;
    harness.let_pass(HOP_REMEMBERED + SECOND).await;
    let next = letter(other, one, "d2");
    stored(harness, &next).await;

    let found = harness.letters().letter(other, next.id).await.expect("look").expect("there");
    assert_eq!(found.hop, 1);
}

/// Only the first reply within the wait is stored.
pub async fn the_first_reply_in_time_is_the_reply(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let letters = harness.letters();
    for letter in [waited_for(from, to, "d1", SECOND * 60), letter(from, to, "d2")] {
        stored(harness, &letter).await;
        let reply = |words: &'static str| letters.store_reply(to, letter.id, words);
        assert_eq!(reply("yes").await.expect("reply"), ReplyOutcome::Taken);
        assert_eq!(reply("no").await.expect("reply"), ReplyOutcome::Again);

        let found = letters.letter(from, letter.id).await.expect("look").expect("there");
        assert_eq!(found.state, LetterState::Replied);
        assert_eq!(found.reply.expect("a reply").0, "yes");
    }
}

/// Only the recipient of a letter can reply to it.
pub async fn nobody_replies_to_a_letter_that_came_to_another(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let bob = party(&cast.person("bob").await);
    let letter = letter(from, to, "d1");
    stored(harness, &letter).await;

    for other in [from, bob, Party { agent: to.agent, ..bob }] {
        let came = harness.letters().store_reply(other, letter.id, "no").await.expect("reply");
        assert_eq!(came, ReplyOutcome::Unknown, "{other:?}");
    }
    assert_eq!(state(harness, &letter).await, LetterState::Put);
}

/// A late reply is not stored.
pub async fn a_reply_that_comes_late_is_none(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let letter = waited_for(from, to, "d1", SECOND * 60);
    stored(harness, &letter).await;
    harness.let_pass(SECOND * 61).await;

    let came = harness.letters().store_reply(to, letter.id, "late").await.expect("reply");
    assert_eq!(came, ReplyOutcome::Late);
    let found = harness.letters().letter(from, letter.id).await.expect("look").expect("there");
    assert_eq!((found.state, found.reply), (LetterState::TimedOut, None));
}

/// Of a reply and a query at the end of the wait, exactly one decides the state of the letter.
pub async fn of_a_reply_and_the_end_of_the_wait_one_counts(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    for round in 0..20 {
        let letter = waited_for(from, to, &format!("d{round}"), Duration::from_millis(round));
        stored(harness, &letter).await;
        let (letters, id) = (harness.letters(), letter.id);
        let answering = tokio::spawn(async move { letters.store_reply(to, id, "yes").await });
        let (letters, id) = (harness.letters(), letter.id);
        let looks = tokio::spawn(async move { letters.letter(from, id).await });
        let replied = answering.await.expect("no panic").expect("reply");
        drop(looks.await.expect("no panic").expect("look"));

        let found = harness.letters().letter(from, letter.id).await.expect("look").expect("there");
        match replied {
            ReplyOutcome::Taken => assert_eq!(found.state, LetterState::Replied),
            ReplyOutcome::Late => {
                assert_eq!((found.state, found.reply), (LetterState::TimedOut, None));
            }
            other @ (ReplyOutcome::Again | ReplyOutcome::Unknown) => panic!("{other:?}"),
        }
    }
}

/// A scheduled letter is stored until it is due.
pub async fn a_letter_for_later_is_kept_until_it_is_due(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    let when = harness.now().checked_add(SECOND * 60).expect("a time");
    let letter = NewLetter { when: Some(when), ..letter(from, to, "d1") };
    let letters = harness.letters();

    assert_eq!(put(harness, &letter).await, PostingOutcome::Scheduled);
    assert_eq!(state(harness, &letter).await, LetterState::Scheduled);
    assert_eq!(
        letters.store_reply(to, letter.id, "?").await.expect("reply"),
        ReplyOutcome::Unknown
    );
    let line = cast.line(&ann).await;
    assert!(cast.waiting(&line).await.is_empty(), "nothing came yet");
    let bob = party(&cast.person("bob").await);
    assert_eq!(letters.take_due(bob, letter.id).await.expect("due"), None, "it is not for them");
    for _ in 0..2 {
        let due = letters.take_due(to, letter.id).await.expect("due");
        assert_eq!(due, Some(due_with_room(&letter)), "until it is known where it lies");
    }
    assert_eq!(state(harness, &letter).await, LetterState::Put);
    letters.record_delivery(to, letter.id, Some(Seq::new(7))).await.expect("note");
    assert_eq!(letters.take_due(to, letter.id).await.expect("due"), None);
    assert_eq!(
        letters.store_reply(to, letter.id, "yes").await.expect("reply"),
        ReplyOutcome::Taken
    );
    let found = letters.letter(from, letter.id).await.expect("look").expect("there");
    assert_eq!(found.seq, Some(Seq::new(7)));
}

/// Deprovisioning an agent removes its grants and webhooks, so other tenants' agents cannot write to it.
pub async fn a_deprovisioned_agent_has_no_grants_and_no_webhooks(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (own, peer, letters) = (party(&ann), party(&bob), harness.letters());
    for (one, other, digest) in [(own, peer, [7; 32]), (peer, own, [8; 32])] {
        letters.grant(one, other).await.expect("grant");
        letters.make_hook(one, "runtime", digest).await.expect("make");
    }
    harness.register().deprovision(ann.scope, ann.agent).await.expect("deprovision");

    assert_eq!(letters.grants(ann.scope, None, ALL).await.expect("list"), []);
    assert_eq!(letters.find_hook_agent([7; 32]).await.expect("find"), None);
    assert_eq!(put(harness, &letter(peer, own, "d1")).await, PostingOutcome::NotGranted);
    let kept = letters.grants(bob.scope, None, ALL).await.expect("list");
    assert_eq!(kept.len(), 1, "its own it keeps");
    assert_eq!(letters.find_hook_agent([8; 32]).await.expect("find"), Some(peer));
}

/// Receipts are stored unchanged, and the newest one for a connector and address replaces the previous one.
pub async fn receipts_are_kept_as_they_were(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let record = |connector: &str, outcome| DeliveryRecord {
        dispatch_id: "d1".to_owned(),
        connector: connector.to_owned(),
        address: "perry@kitchen".to_owned(),
        route: Route::Wake,
        outcome,
    };
    let receipt = DeliveryReceipt { delivered_at: Millis(7), ..DeliveryReceipt::default() };
    let failed = DeliveryFailure { cause: "network".to_owned(), words: "it broke".to_owned() };
    let (one, two) = (
        record("a", DeliveryOutcome::Delivered(receipt)),
        record("b", DeliveryOutcome::Failed(failed)),
    );
    let letters = harness.letters();
    let receipt = |record: &DeliveryRecord| Receipt { scope: ann.scope, record: record.clone() };
    let again = DeliveryRecord { outcome: two.outcome.clone(), ..one.clone() };
    letters.store_receipts(&[receipt(&two), receipt(&again)]).await.expect("note");
    letters
        .store_receipts(&[receipt(&again), receipt(&one)])
        .await
        .expect("note, twice in one batch");

    assert_eq!(letters.read_receipts(ann.scope, "d1").await.expect("look"), [one, two]);
    assert_eq!(letters.read_receipts(ann.scope, "d2").await.expect("look"), []);
    assert_eq!(letters.read_receipts(bob.scope, "d1").await.expect("look"), []);
}

/// A webhook is found by the digest of its secret only.
pub async fn a_webhook_is_found_by_its_secret_alone(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (letters, own) = (harness.letters(), party(&ann));

    assert!(letters.make_hook(own, "runtime", [7; 32]).await.expect("make"));
    assert!(!letters.make_hook(own, "runtime", [8; 32]).await.expect("make"), "the name is taken");
    assert_eq!(letters.find_hook_agent([7; 32]).await.expect("find"), Some(own));
    assert_eq!(letters.find_hook_agent([8; 32]).await.expect("find"), None);
    assert_eq!(letters.hooks(ann.scope, ALL).await.expect("list"), [("runtime".to_owned(), own)]);
    assert!(letters.hooks(bob.scope, ALL).await.expect("list").is_empty());
    assert!(letters.make_hook(own, "second", [9; 32]).await.expect("make"));
    assert_eq!(letters.hooks(ann.scope, 1).await.expect("list"), [("runtime".to_owned(), own)]);
    assert_eq!(letters.hooks(ann.scope, 2).await.expect("list").len(), 2);
    assert!(!letters.remove_hook(bob.scope, "runtime").await.expect("remove"), "not theirs");
    assert!(letters.remove_hook(ann.scope, "runtime").await.expect("remove"));
    assert_eq!(letters.find_hook_agent([7; 32]).await.expect("find"), None);
}

/// Letters older than the retention time are removed.
pub async fn old_letters_are_forgotten(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let letter = letter(from, to, "d1");
    stored(harness, &letter).await;
    harness.let_pass(LETTERS_KEPT + SECOND).await;
    harness.upkeep().sweep().await.expect("keep");

    assert_eq!(harness.letters().letter(from, letter.id).await.expect("look"), None);
}
