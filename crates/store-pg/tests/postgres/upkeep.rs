//! Tests upkeep while a reader holds its locks for long, as a backup does, and the rate of retention.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{InboxSweeper, Store};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::event;
use nightdesk_types::limits::UPKEEP_LOCK_WAIT;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::planted::People;
use crate::server::{Database, run};
use crate::suites::{Postgres, postgres};

/// Longest time of an accept while upkeep works: one wait of upkeep for a lock, and the accept itself on a busy machine.
const ACCEPTED_WITHIN: Duration = UPKEEP_LOCK_WAIT.saturating_add(Duration::from_millis(750));

/// Time within which rounds of upkeep drop everything that they can.
const DROPPED_WITHIN: Duration = Duration::from_secs(30);

/// Events per second that retention must bear.
const EVENTS_PER_SECOND: u32 = 5_000;

/// Opens a transaction that has read a table and all its days, and stays open.
async fn reader(database: &Database, tables: &[&str]) -> PgConnection {
    let mut reader = database.admin().await;
    run(&mut reader, "begin").await;
    for table in tables {
        run(&mut reader, &format!("select count(*) from {table}")).await;
    }
    reader
}

async fn count(connection: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await.expect(sql)
}

/// Accepts one event after the other until it is stopped, and returns the longest time of an accept.
struct Accepts {
    stop: CancellationToken,
    task: JoinHandle<Duration>,
}

impl Accepts {
    async fn start(postgres: &Postgres) -> Self {
        let (people, store) = (People::of(postgres, 1).await, Arc::<Pg>::clone(&postgres.store));
        let author = people.people[0].author.clone();
        let first = people.accept(&store, &event().from(&author).keyed("first")).await;
        store.accept(&[first]).await.expect("accept");
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let (mut longest, mut number) = (Duration::ZERO, 0);
            while !stopped.is_cancelled() {
                number += 1;
                let said = event().from(&author).keyed(format!("{number}"));
                let accept = people.accept(&store, &said).await;
                let asked = Instant::now();
                store.accept(&[accept]).await.expect("accept");
                longest = longest.max(asked.elapsed());
            }
            longest
        });
        Self { stop, task }
    }

    async fn longest(self) -> Duration {
        self.stop.cancel();
        self.task.await.expect("accepts go on")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_long_reader_holds_up_neither_a_new_day_nor_an_accept() {
    let postgres = postgres().await;
    let mut admin = postgres.database.admin().await;
    let accepts = Accepts::start(&postgres).await;
    let _reader = reader(&postgres.database, &["inbox_entries", "inbox_acks", "dedupe_keys"]).await;

    postgres.store.open_days(9).await.expect("days are opened beside a reader");
    let ahead = "select count(*) from stored_days() where day > (now() at time zone 'utc')::date";
    assert_eq!(count(&mut admin, ahead).await, 3 * 9);
    let longest = accepts.longest().await;
    assert!(longest < ACCEPTED_WITHIN, "an accept took {longest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_drop_that_a_reader_holds_up_stops_neither_the_others_nor_accepts() {
    let postgres = postgres().await;
    let mut admin = postgres.database.admin().await;
    run(&mut admin, "select open_days(10, 2)").await;
    let old = "select count(*) from stored_days()
         where day < (clock_timestamp() at time zone 'utc')::date - 8";
    assert_eq!(count(&mut admin, old).await, 3 * 2);
    let accepts = Accepts::start(&postgres).await;
    let reader = reader(&postgres.database, &["inbox_entries"]).await;

    // Two tables of two days can be dropped; on a busy machine an accept may hold one up for a round.
    rounds_until(&postgres, &mut admin, old, 2).await;
    let swept = postgres.store.sweep().await.expect("a round");
    assert_eq!((swept.days_dropped, swept.failed_steps), (0, 2), "{swept:?}");
    let longest = accepts.longest().await;
    assert!(longest < ACCEPTED_WITHIN, "an accept took {longest:?}");

    drop(reader);
    rounds_until(&postgres, &mut admin, old, 0).await;
}

/// Runs rounds of upkeep until the query counts this many old days.
async fn rounds_until(postgres: &Postgres, admin: &mut PgConnection, old: &str, left: i64) {
    let rounds = async {
        while count(admin, old).await > left {
            postgres.store.sweep().await.expect("a round");
        }
    };
    tokio::time::timeout(DROPPED_WITHIN, rounds).await.expect("every day that is free is dropped");
    assert_eq!(count(admin, old).await, left);
}

#[tokio::test]
async fn acknowledged_entries_are_removed_faster_than_they_come() {
    let postgres = postgres().await;
    let people = People::of(&postgres, 1).await;
    let mut admin = postgres.database.admin().await;
    let (tenant, agent) = (people.people[0].scope.tenant().uuid(), people.people[0].agent.uuid());
    let rows = EVENTS_PER_SECOND * 10;
    let waiting = 100;
    // In the order of their time, as accepts write them; the last ones still wait.
    let fill = format!(
        "select open_days(4, 2);
         insert into inbox_entries (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id)
         select '{tenant}', '{agent}', n, now() - interval '3 days' + n * interval '1 ms',
             gen_random_uuid(), 'c', decode(repeat('ab', 500), 'hex'), 1, gen_random_uuid()
         from generate_series(1, {rows}) n order by n;
         update inbox_heads set next_seq = {rows} + 1 where agent_id = '{agent}';
         update inbox_cursors set acked_seq = {rows} - {waiting} where agent_id = '{agent}';"
    );
    run(&mut admin, &fill).await;

    let began = Instant::now();
    let swept = postgres.store.sweep().await.expect("a round");
    let took = began.elapsed();
    assert_eq!(swept.forgotten, u64::from(rows - waiting), "{swept:?}");
    assert_eq!(count(&mut admin, "select count(*) from inbox_entries").await, i64::from(waiting));
    let per_second = f64::from(rows) / took.as_secs_f64();
    assert!(per_second > f64::from(EVENTS_PER_SECOND), "{per_second:.0} entries per second");
}
