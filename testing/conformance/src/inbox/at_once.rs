//! Checks concurrent writers: the store decides the order of events, but not their number.

use std::collections::BTreeMap;
use std::sync::Arc;

use nightdesk_inbox::{AcceptRequest, PutOutcome, Store};
use nightdesk_types::limits::GATHER_MAX;
use nightdesk_types::{AgentId, Seq};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::put::{accept_for_a_ghost, heads};
use crate::Harness;
use crate::cast::Cast;

/// Checks that four senders of the same fifty events in four orders store each event once, and that the other three get
/// a duplicate (Q5).
pub async fn a_repeat_is_found_whoever_comes_first(harness: &impl Harness) {
    const SENDERS: usize = 4;
    const EVENTS: usize = 50;
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let events = cast.accepts((1..=EVENTS).map(|number| ann.says(number))).await;
    let start = Arc::new(Barrier::new(SENDERS));
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        // Fifty and these strides share no factor, so each is a different order.
        let stride = [1, 3, 7, 49][sender];
        let order = (0..EVENTS).map(|index| events[index * stride % EVENTS].clone());
        let batches = in_batches(&order.collect::<Vec<_>>(), 1 + sender * 5);
        let (store, start) = (harness.inbox(), Arc::clone(&start));
        senders.spawn(async move {
            start.wait().await;
            put_all(&*store, batches).await
        });
    }

    let puts: Vec<PutOutcome> = senders.join_all().await.into_iter().flatten().collect();
    let duplicates = puts.iter().filter(|put| **put == PutOutcome::Duplicate).count();
    assert_eq!(duplicates, EVENTS * (SENDERS - 1));
    let numbers = numbers_by_agent(&puts);
    assert_eq!(numbers[&ann.agent], upto(EVENTS));
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, upto(EVENTS));
}

fn in_batches(events: &[AcceptRequest], events_max: usize) -> Vec<Vec<AcceptRequest>> {
    events.chunks(events_max.min(GATHER_MAX)).map(<[AcceptRequest]>::to_vec).collect()
}

/// Stores batches one after the other. A batch that may succeed later is retried.
async fn put_all(store: &dyn Store, batches: Vec<Vec<AcceptRequest>>) -> Vec<PutOutcome> {
    let mut puts = Vec::new();
    for batch in batches {
        puts.extend(put_again(store, &batch).await.unwrap_or_default());
    }
    puts
}

/// Returns the result of a batch, or `None` if it can never succeed.
async fn put_again(store: &dyn Store, batch: &[AcceptRequest]) -> Option<Vec<PutOutcome>> {
    const TRIES_MAX: usize = 20;
    for _ in 0..TRIES_MAX {
        match store.accept(batch).await {
            Ok(puts) => return Some(puts),
            Err(error) if error.retryable => {}
            Err(_) => return None,
        }
    }
    panic!("the store was busy {TRIES_MAX} times in a row")
}

/// Checks that no inbox has a gap after two hundred batches by eight writers, some of which fail (Q10).
pub async fn no_inbox_has_a_gap(harness: &impl Harness) {
    const WRITERS: usize = 8;
    const BATCHES: usize = 200;
    let cast = Cast::of(harness).await;
    let people = [cast.person("ann").await, cast.person("bob").await, cast.person("cid").await];
    let mut batches: Vec<Vec<Vec<AcceptRequest>>> = vec![Vec::new(); WRITERS];
    let mut wanted = 0;
    for number in 0..BATCHES {
        let events =
            (0..=number % 4).map(|index| people[(number + index) % 3].says(number * 4 + index));
        let mut batch = cast.accepts(events).await;
        if number % 7 == 0 {
            // In the middle of numbers that may have been taken already.
            batch.push(accept_for_a_ghost(&cast, &people[0].says(BATCHES * 4 + number)).await);
        } else {
            wanted += batch.len();
        }
        batches[number % WRITERS].push(batch);
    }
    let mut writers = JoinSet::new();
    for batches in batches {
        let store = harness.inbox();
        writers.spawn(async move { put_all(&*store, batches).await });
    }

    let puts: Vec<PutOutcome> = writers.join_all().await.into_iter().flatten().collect();
    let numbers = numbers_by_agent(&puts);
    assert_eq!(puts.len(), wanted, "every event of a good batch has its outcome");
    for person in &people {
        let got = &numbers[&person.agent];
        assert_eq!(*got, upto(got.len()), "{}", person.author);
        assert_eq!(heads(&cast, &[person]).await, [i64::try_from(got.len()).unwrap_or(0)]);
        let line = cast.line(person).await;
        assert_eq!(cast.numbers(&line).await, *got, "{}", person.author);
    }
}

/// Returns the numbers given out in each inbox, in order.
fn numbers_by_agent(puts: &[PutOutcome]) -> BTreeMap<AgentId, Vec<i64>> {
    let mut numbers: BTreeMap<AgentId, Vec<i64>> = BTreeMap::new();
    for put in puts {
        let PutOutcome::Stored(stored) = put else { continue };
        for stored in stored {
            numbers.entry(stored.agent).or_default().push(Seq::get(stored.seq));
        }
    }
    for numbers in numbers.values_mut() {
        numbers.sort_unstable();
    }
    numbers
}

fn upto(count: usize) -> Vec<i64> {
    (1..).take(count).collect()
}
