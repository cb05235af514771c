//! Tests that no wake is lost between two transactions that do not see each other.

use std::time::Duration;

use nightdesk_inbox::{LineClaim, PutOutcome};
use nightdesk_lease::Store as _;
use nightdesk_line::{AuthenticatedGateway, CloseRecord, ClosingSide, LineStart, Store as Lines};
use nightdesk_testkit::builders::event;
use nightdesk_types::limits::WAKE_DEADLINE;
use nightdesk_types::{Node, NodeEpoch, Seq};
use nightdesk_wake::{Store as _, WakeAdmin, WakeSelection, WakeTerms};

use crate::planted::{People, Person, replace_in_function, wait_for_a_stall};
use crate::suites::{Postgres, postgres, web_socket};

const TERMS: WakeTerms =
    WakeTerms { has_command: true, wakes_per_hour: 60, still_waking_after: WAKE_DEADLINE };

const LIFE: Duration = Duration::from_mins(10);

/// Creates a person whose agent has a line.
async fn awake(postgres: &Postgres) -> (People, LineClaim) {
    let people = People::of(postgres, 1).await;
    let epoch = postgres.store.begin("n", LIFE).await.expect("a node begins");
    assert_eq!(epoch, NodeEpoch::new(1));
    let Person { scope, agent, gateway, .. } = people.people[0];
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    let node = Node { name: "n".to_owned(), epoch };
    let taken = postgres.store.take(web_socket(&caller, &node)).await.expect("take a line");
    let LineStart { incarnation, generation, .. } = taken;
    (people, LineClaim { scope, agent, incarnation, generation })
}

/// Makes the accept pause after it looked for a line.
const SLOW_ACCEPT: (&str, &str) = (
    "    return query\n    select s.event",
    "    perform pg_sleep(0.4);\n    return query\n    select s.event",
);

/// Makes a line's end pause after it looked for entries.
const SLOW_END: (&str, &str) = (
    "    if ended_at is null or not inbox_waits(p_tenant, p_agent) then\n        return null;",
    "    if ended_at is null or not inbox_waits(p_tenant, p_agent) then\n        perform pg_sleep(0.4);\n        return null;",
);

/// Makes a line's end skip the head's lock.
const NO_HEAD: (&str, &str) = ("h.agent_id = p_agent for update;", "h.agent_id = p_agent;");

/// The transaction that comes first.
#[derive(Clone, Copy, Debug)]
enum First {
    Accept,
    End,
}

/// Accepts an entry while its agent's line ends. Returns the number of due wakes.
async fn due_after_both(postgres: &Postgres, first: First) -> usize {
    let (people, line) = awake(postgres).await;
    let slow = match first {
        First::Accept => ("inbox_accept", SLOW_ACCEPT),
        First::End => ("line_close", SLOW_END),
    };
    replace_in_function(&postgres.database, slow.0, &[slow.1]).await;
    let store = &postgres.store;
    let said = event().from(&people.people[0].author).keyed("k");
    let end = CloseRecord { code: 1000, tried: None, closed_by: ClosingSide::Idle };
    let (put, closed) = match first {
        First::Accept => tokio::join!(people.put(store, &said), async {
            wait_for_a_stall(&postgres.database).await;
            Lines::close(&**store, &line, end).await
        }),
        First::End => tokio::join!(
            async {
                wait_for_a_stall(&postgres.database).await;
                people.put(store, &said).await
            },
            Lines::close(&**store, &line, end)
        ),
    };
    assert!(
        matches!(put, PutOutcome::Stored(_)) && closed.is_ok(),
        "both are told that it is done"
    );
    due(postgres).await
}

async fn due(postgres: &Postgres) -> usize {
    let due: i64 = sqlx::query_scalar("select count(*) from wakes where state = 'due'")
        .fetch_one(&mut postgres.database.admin().await)
        .await
        .expect("count");
    usize::try_from(due).expect("a count")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_entry_that_comes_while_its_line_ends_wakes_its_agent() {
    for first in [First::Accept, First::End] {
        assert_eq!(due_after_both(&postgres().await, first).await, 1, "{first:?} first");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_the_heads_lock_it_wakes_nobody() {
    for first in [First::Accept, First::End] {
        let postgres = postgres().await;
        replace_in_function(&postgres.database, "line_close", &[NO_HEAD]).await;
        assert_eq!(due_after_both(&postgres, first).await, 0, "the check must see it: {first:?}");
    }
}

/// Makes a wake due without waiting entries, and accepts an entry while a claim runs. Returns the number of claims that
/// succeed after both.
async fn claimed_after_both(postgres: &Postgres, is_one_agents: bool) -> usize {
    let people = People::of(postgres, 1).await;
    let Person { scope, agent, .. } = people.people[0];
    let store = &postgres.store;
    store.request_call(scope, agent).await.expect("make a wake due");
    let mut admin = postgres.database.admin().await;
    crate::server::run(&mut admin, "update wakes set asked = false").await;
    replace_in_function(&postgres.database, "inbox_accept", &[SLOW_ACCEPT]).await;
    let said = event().from(&people.people[0].author).keyed("k");
    let which = if is_one_agents { WakeSelection::Of(scope, agent) } else { WakeSelection::Due(1) };
    let (_, early) = tokio::join!(people.put(store, &said), async {
        wait_for_a_stall(&postgres.database).await;
        store.claim(which, &TERMS).await.expect("claim")
    });
    assert_eq!(early, [], "nobody sees the entry yet");
    store.claim(which, &TERMS).await.expect("claim").len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_wake_is_not_put_away_while_an_entry_comes() {
    for is_one_agents in [true, false] {
        assert_eq!(claimed_after_both(&postgres().await, is_one_agents).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn if_the_accept_did_not_lock_the_wake_it_would_be() {
    let planted = (
        "do update\n    set state = 'due', since = excluded.since, due_at = greatest(excluded.due_at, w.rests_until),\n        calls = 0, outcome = null, suspect_generation = null, delay_told = false\n    where w.state not in ('due', 'held')",
        "do nothing",
    );
    for is_one_agents in [true, false] {
        let postgres = postgres().await;
        replace_in_function(&postgres.database, "wake_sleepers", &[planted]).await;
        let claimed = claimed_after_both(&postgres, is_one_agents).await;
        assert_eq!(claimed, 0, "the check must see it");
    }
}

/// Calls an agent, which dials in while the outcome of its call is written. Returns the state of its wake after both.
async fn state_after_a_dial_during_its_call(postgres: &Postgres) -> String {
    let people = People::of(postgres, 1).await;
    let Person { scope, agent, gateway, ref author } = people.people[0];
    let (store, said) = (&postgres.store, event().from(author).keyed("k"));
    people.put(store, &said).await;
    let which = WakeSelection::Of(scope, agent);
    let call = store.claim(which, &TERMS).await.expect("claim").pop().expect("it is due");
    let slow = ("begin\n    update wakes", "begin\n    perform pg_sleep(0.4);\n    update wakes");
    replace_in_function(&postgres.database, "wake_replace", &[slow]).await;
    let epoch = postgres.store.begin("n", LIFE).await.expect("a node begins");
    let node = Node { name: "n".to_owned(), epoch };
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    let (recorded, taken) =
        tokio::join!(store.record_outcome(&call, "202", Duration::from_secs(30)), async {
            wait_for_a_stall(&postgres.database).await;
            store.take(web_socket(&caller, &node)).await
        });
    assert!(recorded.is_ok() && taken.is_ok(), "{recorded:?}, {taken:?}");
    let row: (String, Option<String>) = sqlx::query_as("select state, outcome from wakes")
        .fetch_one(&mut postgres.database.admin().await)
        .await
        .expect("read the wake");
    assert_eq!(row.1.as_deref(), Some("202"), "the outcome is recorded");
    row.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_agent_that_dials_in_during_its_call_is_woken() {
    assert_eq!(state_after_a_dial_during_its_call(&postgres().await).await, "woken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_a_version_it_would_be_called_again() {
    let postgres = postgres().await;
    let planted = (" and xmin::text::bigint = p_version", "");
    replace_in_function(&postgres.database, "wake_replace", &[planted]).await;
    assert_eq!(state_after_a_dial_during_its_call(&postgres).await, "due", "the check must see it");
}

#[tokio::test]
async fn an_entry_that_is_put_aside_at_once_wakes_nobody() {
    let postgres = postgres().await;
    let people = People::of(&postgres, 1).await;
    let Person { author, .. } = &people.people[0];
    let full = ("case when n.unsendable", "case when false and n.unsendable");
    let at_once = ("due.unsendable or", "true or");
    replace_in_function(&postgres.database, "inbox_store", &[full, at_once]).await;
    let put = people.put(&postgres.store, &event().from(author).keyed("k")).await;

    let PutOutcome::Stored(stored) = put else { unreachable!("it is new") };
    assert!(stored[0].parked && stored[0].seq == Seq::new(1));
    assert_eq!(due(&postgres).await, 0);
}
