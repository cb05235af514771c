//! Checks the delivery of entries.

use nightdesk_inbox::{AckOutcome, LineClaim, ParkOutcome, ParkReason, ReadRequest, ReadResponse};
use nightdesk_types::limits::WINDOW_BYTES_MAX;
use nightdesk_types::{Generation, Seq};

use super::put::seq;
use crate::Harness;
use crate::cast::{Cast, Line};

/// Checks that waiting entries come in order, from the read position on, and at most as many as requested.
pub async fn waiting_comes_in_order(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 5).await;
    cast.stored(&bob.says(6)).await;
    let line = cast.line(&ann).await;

    let cases = [
        ("all", 0, 9, vec![1, 2, 3, 4, 5]),
        ("the first two", 0, 2, vec![1, 2]),
        ("the next two", 2, 2, vec![3, 4]),
        ("the rest", 4, 2, vec![5]),
        ("nothing more", 5, 2, vec![]),
        ("none wanted", 0, 0, vec![]),
    ];
    for (name, after, entries_max, want) in cases {
        let ask = ReadRequest { after: Seq::new(after), entries_max, ..line.ask() };
        assert_eq!(numbers(cast.ask(ask).await), want, "{name}");
    }
}

/// Checks that one read holds at most a window of bytes, or a single entry of any size.
pub async fn a_read_is_bounded_in_bytes(harness: &impl Harness) {
    const TEXT_BYTES: usize = WINDOW_BYTES_MAX * 2 / 5;
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    for number in 1..=4 {
        cast.stored(&ann.says(number).saying("x".repeat(TEXT_BYTES))).await;
    }
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, [1, 2, 3], "the window is full after the third");
    let rest = cast.ask(ReadRequest { after: Seq::new(3), ..line.ask() }).await;
    assert_eq!(numbers(rest), [4]);

    let huge = cast.stored(&ann.says(5).saying("x".repeat(WINDOW_BYTES_MAX + 1))).await;
    let again = harness.aside().resubmit(ann.scope, ann.agent, huge.seq).await;
    assert_eq!(again.expect("resubmit an entry"), Some(seq(6)));
    cast.stored(&ann.says(7)).await;
    let ask = ReadRequest { after: Seq::new(4), ..line.ask() };
    let ReadResponse::Entries(entries) = cast.ask(ask).await else {
        panic!("the line is the newest")
    };
    assert_eq!(entries.len(), 1, "one always fits, and then nothing more");
    let unsendable = Err(ParkReason::Unsendable);
    assert_eq!(
        (entries[0].seq, &entries[0].json),
        (seq(6), &unsendable),
        "no client could take it"
    );
}

/// Checks that a replaced line reads nothing, and gets a corresponding answer.
pub async fn a_replaced_line_reads_nothing(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 1).await;
    let old = cast.line(&ann).await;
    let new = cast.line(&ann).await;

    assert_eq!(cast.ask(old.ask()).await, ReadResponse::LineReplaced);
    assert_eq!(cast.numbers(&new).await, [1]);
    let generation = Generation::new(new.claim.generation.get() + 1);
    let made_up = LineClaim { generation, ..new.claim };
    assert_eq!(
        cast.ask(ReadRequest { line: made_up, ..new.ask() }).await,
        ReadResponse::LineReplaced
    );
}

/// Checks that a line that began in another history of the store reads, acks and parks nothing, also if it has the
/// number of the newest line.
pub async fn a_line_of_another_history_reads_and_acks_nothing(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 1).await;
    let line = cast.line(&ann).await;
    let incarnation = line.claim.incarnation.next();
    let past = Line { claim: LineClaim { incarnation, ..line.claim }, ..line };

    assert_eq!(cast.ask(past.ask()).await, ReadResponse::HistoryChanged);
    assert_eq!(cast.ack(&past, &[(1, 1)]).await, AckOutcome::HistoryChanged);
    let parked = harness.inbox().park(&past.claim, seq(1), ParkReason::Unsendable).await;
    assert_eq!(parked.expect("park an entry"), ParkOutcome::LineReplaced);
    cast.close(&past, Some(1)).await;
    assert_eq!(cast.numbers(&line).await, [1], "the line of this history goes on");
}

/// Checks that gathered reads get an answer each, in their order.
pub async fn gathered_reads_get_an_answer_each(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let cid = cast.person("cid").await;
    cast.several(&ann, 2).await;
    cast.stored(&cid.says(9)).await;
    let replaced = cast.line(&cid).await;
    cast.line(&cid).await;
    let asks = [cast.line(&bob).await.ask(), replaced.ask(), cast.line(&ann).await.ask()];

    let mut answers = harness.inbox().read_waiting(&asks).await.expect("read what waits");
    assert_eq!(numbers(answers.remove(2)), [1, 2]);
    assert_eq!(answers, [ReadResponse::Entries(Vec::new()), ReadResponse::LineReplaced]);
}

/// Checks that a tenant cannot read another tenant's entries with any line number.
pub async fn nothing_is_handed_over_to_another_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 1).await;
    let line = cast.line(&ann).await;
    let foreign = LineClaim { scope: bob.scope, ..line.claim };

    let read = harness.inbox().read_waiting(&[ReadRequest { line: foreign, ..line.ask() }]).await;
    assert!(!matches!(read.as_deref(), Ok([ReadResponse::Entries(_)])), "{read:?}");
    assert_eq!(cast.numbers(&line).await, [1]);
}

fn numbers(waiting: ReadResponse) -> Vec<i64> {
    match waiting {
        ReadResponse::Entries(entries) => entries.iter().map(|entry| entry.seq.get()).collect(),
        ReadResponse::LineReplaced => panic!("the line is the newest"),
        ReadResponse::HistoryChanged => panic!("the history goes on"),
    }
}
