//! The accept and the take of a line are one statement each, and repeat a rule of waking in SQL. Each is compared with
//! the rule, for every phase that a wake may be in.

use nightdesk_inbox::PutOutcome;
use nightdesk_line::{AuthenticatedGateway, Store as _};
use nightdesk_testkit::builders::event;
use nightdesk_types::{Generation, Node, NodeEpoch, Seq};
use nightdesk_wake::{Suspicion, WakePhase, WakeRow};
use sqlx::{PgConnection, Row};

use crate::planted::{People, Person, replace_in_function};
use crate::suites::{Postgres, postgres, web_socket};

/// The end of the time in which the agent is not called.
const RESTS_UNTIL: [&str; 2] = ["-1 minute", "1 minute"];

/// Wakes before and after a statement.
struct Comparison {
    before: Option<WakeRow>,
    after: Option<WakeRow>,
}

/// Writes a wake that has a value in every column.
async fn write_wake(
    admin: &mut PgConnection,
    person: &Person,
    phase: WakePhase,
    rests_until: &str,
) {
    sqlx::query(
        "insert into wakes
             (tenant_id, agent_id, state, since, due_at, calls, called_at, outcome, rests_until,
              woken_at, suspect_generation, suspect_acked_seq, asked, delay_told, hour_began_at,
              hour_wakes)
         values ($1, $2, $3, now() - interval '1 hour',
             case when $3 in ('due', 'held') then now() - interval '1 second' end, 4,
             now() - interval '50 minutes', 'answered with status 500', now() + $4::interval,
             now() - interval '2 hours', 7, 9, $3 = 'due', true, now() - interval '1 hour', 2)",
    )
    .bind(person.scope.tenant().uuid())
    .bind(person.agent.uuid())
    .bind(phase.slug())
    .bind(rests_until)
    .execute(admin)
    .await
    .expect("write a wake");
}

async fn read_wake(admin: &mut PgConnection, person: &Person) -> Option<WakeRow> {
    let row = sqlx::query("select * from wakes where tenant_id = $1 and agent_id = $2")
        .bind(person.scope.tenant().uuid())
        .bind(person.agent.uuid())
        .fetch_optional(admin)
        .await
        .expect("read a wake")?;
    let at = |column: &str| row.get::<jiff_sqlx::Timestamp, _>(column).to_jiff();
    let at_last = |column: &str| {
        row.get::<Option<jiff_sqlx::Timestamp>, _>(column).map(jiff_sqlx::Timestamp::to_jiff)
    };
    let count = |column: &str| row.get::<i32, _>(column).unsigned_abs();
    let number = |column: &str| row.get::<Option<i64>, _>(column);
    let suspicion = number("suspect_generation").zip(number("suspect_acked_seq"));
    Some(WakeRow {
        phase: WakePhase::from_slug(row.get("state")).expect("a phase"),
        since: at("since"),
        due_at: at_last("due_at"),
        calls: count("calls"),
        called_at: at_last("called_at"),
        outcome: row.get("outcome"),
        rests_until: at("rests_until"),
        woken_at: at_last("woken_at"),
        suspicion: suspicion
            .map(|(line, acked)| Suspicion { line: Generation::new(line), acked: Seq::new(acked) }),
        asked: row.get("asked"),
        delay_told: row.get("delay_told"),
        hour_began_at: at("hour_began_at"),
        hour_wakes: count("hour_wakes"),
    })
}

/// Runs a statement for one agent per phase and rest, and for one that was never needed.
async fn compare(
    postgres: &Postgres,
    statement: impl AsyncFn(&Postgres, &People, &Person),
) -> Vec<Comparison> {
    let mut phases: Vec<_> = WakePhase::ALL
        .into_iter()
        .flat_map(|phase| RESTS_UNTIL.map(|rests_until| Some((phase, rests_until))))
        .collect();
    phases.push(None);
    let people = People::of(postgres, phases.len()).await;
    let mut admin = postgres.database.admin().await;
    let mut compared = Vec::new();
    for (person, phase) in people.people.iter().zip(phases) {
        if let Some((phase, rests_until)) = phase {
            write_wake(&mut admin, person, phase, rests_until).await;
        }
        let before = read_wake(&mut admin, person).await;
        statement(postgres, &people, person).await;
        compared.push(Comparison { before, after: read_wake(&mut admin, person).await });
    }
    compared
}

async fn accept(postgres: &Postgres, people: &People, person: &Person) {
    let said = event().from(&person.author).keyed(&person.author);
    let put = people.put(&postgres.store, &said).await;
    assert!(matches!(put, PutOutcome::Stored(_)), "{put:?}");
}

async fn take_line(postgres: &Postgres, _: &People, person: &Person) {
    let Person { scope, agent, gateway, .. } = *person;
    let node = Node { name: "n".to_owned(), epoch: NodeEpoch::new(1) };
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    postgres.store.take(web_socket(&caller, &node)).await.expect("take a line");
}

/// Returns the wake that the rule gives after an accept, at the time that the accept wrote.
fn needed(compared: &Comparison) -> Option<WakeRow> {
    let after = compared.after.as_ref()?;
    let before = compared.before.clone().unwrap_or_else(|| WakeRow::new(after.since));
    Some(before.make_due(after.since, after.since))
}

/// Returns the wake that the rule gives after a line was taken, at the time that the line wrote.
fn dialled_in(compared: &Comparison) -> Option<WakeRow> {
    let before = compared.before.clone()?;
    let now = compared.after.as_ref()?.woken_at?;
    Some(before.clone().dial_in(now).unwrap_or(before))
}

#[tokio::test]
async fn the_accept_makes_a_wake_due_by_the_rule() {
    for compared in compare(&postgres().await, accept).await {
        assert_eq!(compared.after, needed(&compared), "before: {:?}", compared.before);
    }
}

#[tokio::test]
async fn a_line_that_is_taken_ends_a_wake_by_the_rule() {
    for compared in compare(&postgres().await, take_line).await {
        assert_eq!(compared.after, dialled_in(&compared), "before: {:?}", compared.before);
    }
}

#[tokio::test]
async fn an_accept_that_forgets_the_rest_is_seen() {
    let postgres = postgres().await;
    let planted = ("greatest(excluded.due_at, w.rests_until)", "excluded.due_at");
    replace_in_function(&postgres.database, "wake_sleepers", &[planted]).await;

    let compared = compare(&postgres, accept).await;
    assert!(compared.iter().any(|compared| compared.after != needed(compared)));
}
