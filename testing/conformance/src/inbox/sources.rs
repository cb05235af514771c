//! Checks sources with a cursor: shards, pollers.

use nightdesk_inbox::{AcceptRequest, PutOutcome, QuarantinedEvent, SourceCursor};
use nightdesk_testkit::builders::EventBuilder;
use nightdesk_types::NodeEpoch;
use nightdesk_types::limits::QUARANTINE_KEPT_MAX;

use super::put::heads;
use crate::Harness;
use crate::cast::Cast;

/// Checks that every owner of a source gets a higher epoch, and that other sources are not touched.
pub async fn epochs_of_a_source_rise(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let other = cast.another_bot("other-bot").await;

    let first = take(&cast, "shard-0").await.0;
    let second = take(&cast, "shard-0").await.0;
    assert!(first < second, "{first} before {second}");
    assert_eq!(take(&cast, "shard-1").await, (first, None));
    let elsewhere = harness.inbox().take_source(cast.operator, other.id, "shard-0").await;
    assert_eq!(elsewhere.expect("take a source"), (first, None));
}

/// Checks that a source's cursor is at the last event of a batch.
pub async fn a_source_stands_after_the_last_event_of_its_batch(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let (epoch, cursor) = take(&cast, "shard-0").await;
    assert_eq!(cursor, None);
    let read = Reader { cast: &cast, source: "shard-0", epoch };
    let batch = [read.event(&ann.says(1), "at 1").await, read.event(&ann.says(2), "at 2").await];
    cast.accept(&batch).await;
    assert_eq!(take(&cast, "shard-0").await.1.as_deref(), Some("at 2"));

    let (epoch, _) = take(&cast, "shard-0").await;
    let read = Reader { epoch, ..read };
    let repeat = read.event(&ann.says(2), "at 3").await;
    assert_eq!(cast.accept(&[repeat]).await, [PutOutcome::Duplicate]);
    let cursor = take(&cast, "shard-0").await.1;
    assert_eq!(cursor.as_deref(), Some("at 3"), "a repeat was dealt with too");
}

/// Checks that an event of a replaced owner is refused: it is not stored, its key is not taken, and the source's cursor
/// does not move. The same holds for a source without an owner.
pub async fn a_fenced_source_is_refused_and_its_cursor_stays(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let (old, _) = take(&cast, "shard-0").await;
    let (new, _) = take(&cast, "shard-0").await;
    let old = Reader { cast: &cast, source: "shard-0", epoch: old };
    let new = Reader { epoch: new, ..old };
    let nobodys = Reader { source: "shard-9", ..new };

    let batch = [
        old.event(&ann.says(1), "at 1").await,
        nobodys.event(&ann.says(2), "at 2").await,
        cast.accept_of(&ann.says(3)).await,
    ];
    let puts = cast.accept(&batch).await;
    assert_eq!(puts[..2], [PutOutcome::Fenced, PutOutcome::Fenced]);
    assert!(matches!(puts[2], PutOutcome::Stored(_)), "it has no source: {puts:?}");
    assert_eq!(heads(&cast, &[&ann]).await, [1]);
    let again = new.event(&ann.says(1), "at 1").await;
    assert!(
        matches!(cast.accept(&[again]).await[0], PutOutcome::Stored(_)),
        "the new owner reads it"
    );
    let stale = old.event(&ann.says(4), "at 0").await;
    assert_eq!(cast.accept(&[stale]).await, [PutOutcome::Fenced]);
    assert_eq!(take(&cast, "shard-0").await.1.as_deref(), Some("at 1"));
}

/// Checks that an event that must be decided again holds back the later events and the cursor of its source, while
/// other sources continue.
pub async fn a_stale_event_holds_back_its_source(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let (epoch, _) = take(&cast, "shard-0").await;
    let (other, _) = take(&cast, "shard-1").await;
    let read = Reader { cast: &cast, source: "shard-0", epoch };
    let beside = Reader { source: "shard-1", epoch: other, ..read };
    let batch = [
        read.event(&bob.says(1), "at 1").await,
        read.event(&ann.says(2), "at 2").await,
        beside.event(&bob.says(3), "at 3").await,
        read.event(&bob.says(4), "at 4").await,
    ];
    cast.unbind(&ann, "ann").await;

    let puts = cast.accept(&batch).await;
    assert!(matches!(puts[0], PutOutcome::Stored(_)), "it came before: {puts:?}");
    assert_eq!(puts[1], PutOutcome::Stale);
    assert!(matches!(puts[2], PutOutcome::Stored(_)), "it is another source's: {puts:?}");
    assert_eq!(puts[3], PutOutcome::Stale, "it must not overtake");
    assert_eq!(take(&cast, "shard-0").await.1.as_deref(), Some("at 1"));
    assert_eq!(take(&cast, "shard-1").await.1.as_deref(), Some("at 3"));
    assert!(matches!(cast.put(&bob.says(4)).await, PutOutcome::Stored(_)), "its key was not taken");
}

/// Checks that only the newest owner can move a cursor without an event.
pub async fn a_cursor_is_moved_by_the_newest_owner_alone(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (old, _) = take(&cast, "shard-0").await;
    let (new, _) = take(&cast, "shard-0").await;
    let marks = [
        ("the newest", "shard-0", new, true),
        ("replaced", "shard-0", old, false),
        ("of a source nobody took", "shard-9", new, false),
    ];

    for (name, source, epoch, ours) in marks {
        let mark = Reader { cast: &cast, source, epoch }.mark(name);
        let moved = harness.inbox().move_cursor(cast.operator, cast.bot.id, &mark).await;
        assert_eq!(moved.expect("move a cursor"), ours, "{name}");
    }
    assert_eq!(take(&cast, "shard-0").await.1.as_deref(), Some("the newest"));
}

/// Checks that unreadable events are stored in a ring: there is always room for the newest.
pub async fn the_quarantine_is_a_ring(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let kept_max = usize::try_from(QUARANTINE_KEPT_MAX).expect("a limit is not negative");
    let unreadable = QuarantinedEvent {
        operator: cast.operator,
        bot: cast.bot.id,
        problem: "not readable".to_owned(),
        body: b"\0\xff".to_vec(),
    };
    for count in 1..=kept_max + 2 {
        harness.inbox().quarantine(&unreadable).await.expect("quarantine an event");
        if [1, kept_max, kept_max + 2].contains(&count) {
            let kept = harness.quarantined(cast.operator, cast.bot.id).await;
            assert_eq!(kept, count.min(kept_max));
        }
    }
}

async fn take(cast: &Cast<'_>, source: &str) -> (NodeEpoch, Option<String>) {
    let taken = cast.harness.inbox().take_source(cast.operator, cast.bot.id, source).await;
    taken.expect("take a source")
}

/// A reader of a source.
#[derive(Clone, Copy)]
struct Reader<'c> {
    cast: &'c Cast<'c>,
    source: &'c str,
    epoch: NodeEpoch,
}

impl Reader<'_> {
    async fn event(&self, event: &EventBuilder, cursor: &str) -> AcceptRequest {
        AcceptRequest::from_event(&self.cast.admitted(event).await, Some(self.mark(cursor)))
    }

    fn mark(&self, cursor: &str) -> SourceCursor {
        let (source, cursor) = (self.source.to_owned(), cursor.to_owned());
        SourceCursor { source, epoch: self.epoch, cursor }
    }
}
