//! Rows of wakes, read and written. The rules are those of `nightdesk-wake`.

use nightdesk_types::{AgentId, Generation, Seq, TenantScope, Timestamp};
use nightdesk_wake::{Suspicion, WakePhase, WakeRow};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::row::{bad_column, moment};

/// The key of an agent's wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WakeKey {
    pub(crate) tenant: Uuid,
    pub(crate) agent: Uuid,
}

impl WakeKey {
    pub(crate) const fn new(scope: TenantScope, agent: AgentId) -> Self {
        Self { tenant: scope.tenant().uuid(), agent: agent.uuid() }
    }
}

/// A wake as it was read, and the database's time after that.
pub(super) struct ReadWake {
    pub(super) key: WakeKey,
    pub(super) row: WakeRow,
    pub(super) now: Timestamp,
    version: i64,
}

/// A wake's row to write.
pub(super) struct WakeWrite {
    pub(super) key: WakeKey,
    pub(super) row: WakeRow,
}

/// Changes an agent's wake, if it has one and the rule changes it.
pub(crate) async fn change_wake(
    connection: &mut PgConnection,
    key: WakeKey,
    rule: impl FnOnce(WakeRow, Timestamp) -> Option<WakeRow> + Send,
) -> sqlx::Result<()> {
    let Some(ReadWake { row, now, .. }) = lock(connection, key).await? else { return Ok(()) };
    let Some(row) = rule(row, now) else { return Ok(()) };
    write(connection, vec![WakeWrite { key, row }]).await
}

/// Changes the wakes of agents that are needed from now on, perhaps for the first time. The keys are in order, so that
/// two transactions do not deadlock.
pub(crate) async fn begin_wakes(
    connection: &mut PgConnection,
    keys: &[WakeKey],
    rule: impl Fn(WakeKey, WakeRow, Timestamp) -> WakeRow + Send + Sync,
) -> sqlx::Result<()> {
    let locked = lock_or_insert(connection, keys).await?;
    let writes = locked
        .into_iter()
        .map(|ReadWake { key, row, now, .. }| WakeWrite { key, row: rule(key, row, now) })
        .collect();
    write(connection, writes).await
}

/// Locks an agent's wake. The time is read after the lock is taken.
async fn lock(connection: &mut PgConnection, key: WakeKey) -> sqlx::Result<Option<ReadWake>> {
    let record = sqlx::query_as!(
        WakeRecord,
        r#"with locked as materialized (
               select *, xmin::text::bigint as version from wakes
               where tenant_id = $1 and agent_id = $2 for update
           )
           select clock_timestamp() as "now_at!: jiff_sqlx::Timestamp", tenant_id as "tenant!",
               agent_id as "agent!", state as "state!", since as "since!: jiff_sqlx::Timestamp",
               due_at as "due_at: jiff_sqlx::Timestamp", calls as "calls!",
               called_at as "called_at: jiff_sqlx::Timestamp", outcome,
               rests_until as "rests_until!: jiff_sqlx::Timestamp",
               woken_at as "woken_at: jiff_sqlx::Timestamp", suspect_generation,
               suspect_acked_seq, asked as "asked!", delay_told as "delay_told!",
               hour_began_at as "hour_began_at!: jiff_sqlx::Timestamp",
               hour_wakes as "hour_wakes!", version as "version!"
           from locked"#,
        key.tenant,
        key.agent
    )
    .fetch_optional(connection)
    .await?;
    record.map(WakeRecord::into_read_wake).transpose()
}

/// Reads an agent's wake without a lock. The statement works for the agent's tenant.
pub(super) async fn read_wake(
    connection: &mut PgConnection,
    key: WakeKey,
) -> sqlx::Result<Option<ReadWake>> {
    let record = sqlx::query_as!(
        WakeRecord,
        r#"select now_at as "now_at!: jiff_sqlx::Timestamp", (wake).tenant_id as "tenant!",
               (wake).agent_id as "agent!", (wake).state as "state!",
               (wake).since as "since!: jiff_sqlx::Timestamp",
               (wake).due_at as "due_at: jiff_sqlx::Timestamp", (wake).calls as "calls!",
               (wake).called_at as "called_at: jiff_sqlx::Timestamp", (wake).outcome,
               (wake).rests_until as "rests_until!: jiff_sqlx::Timestamp",
               (wake).woken_at as "woken_at: jiff_sqlx::Timestamp", (wake).suspect_generation,
               (wake).suspect_acked_seq, (wake).asked as "asked!",
               (wake).delay_told as "delay_told!",
               (wake).hour_began_at as "hour_began_at!: jiff_sqlx::Timestamp",
               (wake).hour_wakes as "hour_wakes!", version as "version!"
           from wake_read(works_for($1), $2)"#,
        key.tenant,
        key.agent
    )
    .fetch_optional(connection)
    .await?;
    record.map(WakeRecord::into_read_wake).transpose()
}

/// Writes a wake, if no transaction has changed it since it was read. Returns true if it is written.
pub(super) async fn replace_wake_row(
    connection: &mut PgConnection,
    read: &ReadWake,
    row: WakeRow,
) -> sqlx::Result<bool> {
    let is_written = sqlx::query_scalar!(
        "select wake_replace(
             works_for($1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
         )",
        read.key.tenant,
        read.key.agent,
        read.version,
        row.phase.slug(),
        moment(row.since) as jiff_sqlx::Timestamp,
        row.due_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        integer(row.calls),
        row.called_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        row.outcome,
        moment(row.rests_until) as jiff_sqlx::Timestamp,
        row.woken_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        row.suspicion.map(|suspicion| suspicion.line.get()),
        row.suspicion.map(|suspicion| suspicion.acked.get()),
        row.asked,
        row.delay_told,
        moment(row.hour_began_at) as jiff_sqlx::Timestamp,
        integer(row.hour_wakes)
    )
    .fetch_one(connection)
    .await?;
    Ok(is_written == Some(true))
}

/// Locks agents' wakes. An agent that was never needed gets the row that [`WakeRow::new`] describes.
async fn lock_or_insert(
    connection: &mut PgConnection,
    keys: &[WakeKey],
) -> sqlx::Result<Vec<ReadWake>> {
    let tenants: Vec<Uuid> = keys.iter().map(|key| key.tenant).collect();
    let agents: Vec<Uuid> = keys.iter().map(|key| key.agent).collect();
    let records = sqlx::query_as!(
        WakeRecord,
        r#"insert into wakes as w (tenant_id, agent_id, state, since)
           select k.tenant, k.agent, 'settled', clock_timestamp()
           from unnest($1::uuid[], $2::uuid[]) as k (tenant, agent)
           on conflict (tenant_id, agent_id) do update set state = w.state
           returning clock_timestamp() as "now_at!: jiff_sqlx::Timestamp", tenant_id as tenant,
               agent_id as agent, state, since as "since: jiff_sqlx::Timestamp",
               due_at as "due_at: jiff_sqlx::Timestamp", calls,
               called_at as "called_at: jiff_sqlx::Timestamp", outcome,
               rests_until as "rests_until: jiff_sqlx::Timestamp",
               woken_at as "woken_at: jiff_sqlx::Timestamp", suspect_generation,
               suspect_acked_seq, asked, delay_told,
               hour_began_at as "hour_began_at: jiff_sqlx::Timestamp", hour_wakes,
               w.xmin::text::bigint as "version!""#,
        &tenants,
        &agents
    )
    .fetch_all(connection)
    .await?;
    records.into_iter().map(WakeRecord::into_read_wake).collect()
}

/// Writes wakes that this transaction has locked, in one statement.
pub(super) async fn write(
    connection: &mut PgConnection,
    writes: Vec<WakeWrite>,
) -> sqlx::Result<()> {
    let columns = WakeColumns::new(writes);
    sqlx::query!(
        "update wakes w
         set state = d.state, since = d.since, due_at = d.due_at, calls = d.calls,
             called_at = d.called_at, outcome = d.outcome, rests_until = d.rests_until,
             woken_at = d.woken_at, suspect_generation = d.suspect_generation,
             suspect_acked_seq = d.suspect_acked_seq, asked = d.asked,
             delay_told = d.delay_told, hour_began_at = d.hour_began_at, hour_wakes = d.hour_wakes
         from unnest(
             $1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[],
             $6::integer[], $7::timestamptz[], $8::text[], $9::timestamptz[], $10::timestamptz[],
             $11::bigint[], $12::bigint[], $13::boolean[], $14::boolean[], $15::timestamptz[],
             $16::integer[]
         ) as d (
             tenant, agent, state, since, due_at, calls, called_at, outcome, rests_until, woken_at,
             suspect_generation, suspect_acked_seq, asked, delay_told, hour_began_at, hour_wakes
         )
         where w.tenant_id = d.tenant and w.agent_id = d.agent",
        &columns.tenants,
        &columns.agents,
        &columns.states,
        &columns.sinces as &[jiff_sqlx::Timestamp],
        &columns.due_ats as &[Option<jiff_sqlx::Timestamp>],
        &columns.calls,
        &columns.called_ats as &[Option<jiff_sqlx::Timestamp>],
        &columns.outcomes as &[Option<String>],
        &columns.rests_until as &[jiff_sqlx::Timestamp],
        &columns.woken_ats as &[Option<jiff_sqlx::Timestamp>],
        &columns.suspect_generations as &[Option<i64>],
        &columns.suspect_acked_seqs as &[Option<i64>],
        &columns.asked,
        &columns.delays_told,
        &columns.hour_began_ats as &[jiff_sqlx::Timestamp],
        &columns.hour_wakes
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A wake's row as the driver reads it.
pub(super) struct WakeRecord {
    pub(super) now_at: jiff_sqlx::Timestamp,
    pub(super) tenant: Uuid,
    pub(super) agent: Uuid,
    pub(super) state: String,
    pub(super) since: jiff_sqlx::Timestamp,
    pub(super) due_at: Option<jiff_sqlx::Timestamp>,
    pub(super) calls: i32,
    pub(super) called_at: Option<jiff_sqlx::Timestamp>,
    pub(super) outcome: Option<String>,
    pub(super) rests_until: jiff_sqlx::Timestamp,
    pub(super) woken_at: Option<jiff_sqlx::Timestamp>,
    pub(super) suspect_generation: Option<i64>,
    pub(super) suspect_acked_seq: Option<i64>,
    pub(super) asked: bool,
    pub(super) delay_told: bool,
    pub(super) hour_began_at: jiff_sqlx::Timestamp,
    pub(super) hour_wakes: i32,
    pub(super) version: i64,
}

impl WakeRecord {
    pub(super) fn into_read_wake(self) -> sqlx::Result<ReadWake> {
        let jiff = |at: Option<jiff_sqlx::Timestamp>| at.map(jiff_sqlx::Timestamp::to_jiff);
        let suspicion = self.suspect_generation.zip(self.suspect_acked_seq);
        let row = WakeRow {
            phase: WakePhase::from_slug(&self.state).ok_or_else(|| bad_column("wakes", "state"))?,
            since: self.since.to_jiff(),
            due_at: jiff(self.due_at),
            calls: self.calls.unsigned_abs(),
            called_at: jiff(self.called_at),
            outcome: self.outcome,
            rests_until: self.rests_until.to_jiff(),
            woken_at: jiff(self.woken_at),
            suspicion: suspicion.map(|(line, acked)| Suspicion {
                line: Generation::new(line),
                acked: Seq::new(acked),
            }),
            asked: self.asked,
            delay_told: self.delay_told,
            hour_began_at: self.hour_began_at.to_jiff(),
            hour_wakes: self.hour_wakes.unsigned_abs(),
        };
        let key = WakeKey { tenant: self.tenant, agent: self.agent };
        Ok(ReadWake { key, row, now: self.now_at.to_jiff(), version: self.version })
    }
}

/// The columns of several wakes, as one statement takes them.
#[derive(Default)]
struct WakeColumns {
    tenants: Vec<Uuid>,
    agents: Vec<Uuid>,
    states: Vec<String>,
    sinces: Vec<jiff_sqlx::Timestamp>,
    due_ats: Vec<Option<jiff_sqlx::Timestamp>>,
    calls: Vec<i32>,
    called_ats: Vec<Option<jiff_sqlx::Timestamp>>,
    outcomes: Vec<Option<String>>,
    rests_until: Vec<jiff_sqlx::Timestamp>,
    woken_ats: Vec<Option<jiff_sqlx::Timestamp>>,
    suspect_generations: Vec<Option<i64>>,
    suspect_acked_seqs: Vec<Option<i64>>,
    asked: Vec<bool>,
    delays_told: Vec<bool>,
    hour_began_ats: Vec<jiff_sqlx::Timestamp>,
    hour_wakes: Vec<i32>,
}

impl WakeColumns {
    fn new(writes: Vec<WakeWrite>) -> Self {
        let mut columns = Self::default();
        for WakeWrite { key, row } in writes {
            columns.push(key, row);
        }
        columns
    }

    fn push(&mut self, key: WakeKey, row: WakeRow) {
        self.tenants.push(key.tenant);
        self.agents.push(key.agent);
        self.states.push(row.phase.slug().to_owned());
        self.sinces.push(moment(row.since));
        self.due_ats.push(row.due_at.map(moment));
        self.calls.push(integer(row.calls));
        self.called_ats.push(row.called_at.map(moment));
        self.outcomes.push(row.outcome);
        self.rests_until.push(moment(row.rests_until));
        self.woken_ats.push(row.woken_at.map(moment));
        self.suspect_generations.push(row.suspicion.map(|suspicion| suspicion.line.get()));
        self.suspect_acked_seqs.push(row.suspicion.map(|suspicion| suspicion.acked.get()));
        self.asked.push(row.asked);
        self.delays_told.push(row.delay_told);
        self.hour_began_ats.push(moment(row.hour_began_at));
        self.hour_wakes.push(integer(row.hour_wakes));
    }
}

pub(super) fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
