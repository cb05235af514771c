//! A claim of wakes: lock and read, decide, write.

use nightdesk_types::limits::{NOTICES_KEPT_MAX, WAKE_PLACES_MAX};
use nightdesk_types::{AgentId, BotId, Generation, Seq, StoreError, TenantId, TenantScope};
use nightdesk_wake::{
    DueWake, OpenLine, OwnerNotice, WaitingChat, WakeClaim, WakeDecision, WakeSelection, WakeStep,
    WakeTerms, decide,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::rows::{ReadWake, WakeKey, WakeRecord, WakeWrite, integer, replace_wake_row, write};
use crate::Pg;

/// Claims wakes that are due.
pub(super) async fn claim(
    store: &Pg,
    which: WakeSelection,
    terms: WakeTerms,
) -> Result<Vec<WakeClaim>, StoreError> {
    if matches!(which, WakeSelection::Of(..))
        && let Some(claims) = claim_call(store, which, terms).await?
    {
        return Ok(claims);
    }
    claim_locked(store, which, terms).await
}

/// Claims a call to one agent without a lock between read and write. Returns `None` if the row changed meanwhile, or if
/// the step is not a call: only a call stays right when an entry comes meanwhile.
async fn claim_call(
    store: &Pg,
    which: WakeSelection,
    terms: WakeTerms,
) -> Result<Option<Vec<WakeClaim>>, StoreError> {
    run_to_end!(store.single("claim a wake"), |connection| {
        let Some(DueRecord { read, wake }) = read_due(connection, which).await?.pop() else {
            return Ok(Some(Vec::new()));
        };
        let WakeDecision { row, claimed, .. } = decide(wake, terms, read.now);
        let Some(call) = claimed.filter(|claimed| claimed.step == WakeStep::Call) else {
            return Ok(None);
        };
        let is_written = replace_wake_row(connection, &read, row).await?;
        Ok(is_written.then(|| vec![call]))
    })
}

/// Claims wakes in one transaction. The tenants are not known before the rows are locked.
async fn claim_locked(
    store: &Pg,
    which: WakeSelection,
    terms: WakeTerms,
) -> Result<Vec<WakeClaim>, StoreError> {
    run_to_end!(store.for_tenant("claim wakes", TenantScope::desk_own()), |connection| {
        let due = read_due(connection, which).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let decisions = due.into_iter().map(|DueRecord { read, wake }| DecidedWake {
            key: read.key,
            decision: decide(wake, terms, read.now),
        });
        write_decisions(connection, decisions.collect()).await
    })
}

/// A wake that is due, and the facts.
struct DueRecord {
    read: ReadWake,
    wake: DueWake,
}

/// The decision about one wake.
struct DecidedWake {
    key: WakeKey,
    decision: WakeDecision,
}

/// A notice for the owner of an agent.
struct NoticeWrite {
    key: WakeKey,
    notice: OwnerNotice,
}

/// Reads due wakes. Their rows are locked until the transaction ends, or, outside of one, until this statement ends.
async fn read_due(
    connection: &mut PgConnection,
    which: WakeSelection,
) -> sqlx::Result<Vec<DueRecord>> {
    let (key, wakes_max) = match which {
        WakeSelection::Due(most) => (None, most),
        WakeSelection::Of(scope, agent) => (Some(WakeKey::new(scope, agent)), 1),
    };
    let rows = sqlx::query!(
        r#"select now_at as "now_at!: jiff_sqlx::Timestamp", tenant as "tenant!",
               agent as "agent!", state as "state!", since as "since!: jiff_sqlx::Timestamp",
               due_at as "due_at: jiff_sqlx::Timestamp", calls as "calls!",
               called_at as "called_at: jiff_sqlx::Timestamp", outcome,
               rests_until as "rests_until!: jiff_sqlx::Timestamp",
               woken_at as "woken_at: jiff_sqlx::Timestamp", suspect_generation,
               suspect_acked_seq, asked as "asked!", delay_told as "delay_told!",
               hour_began_at as "hour_began_at!: jiff_sqlx::Timestamp",
               hour_wakes as "hour_wakes!", version as "version!", line_generation,
               line_opened_at as "line_opened_at: jiff_sqlx::Timestamp", acked_seq, parting,
               urls as "urls!", has_webhook as "has_webhook!", bots as "bots!", chats as "chats!"
           from lock_due_wakes($1, $2, $3, $4)"#,
        key.map(|key| key.tenant),
        key.map(|key| key.agent),
        count(wakes_max),
        count(WAKE_PLACES_MAX)
    )
    .fetch_all(connection)
    .await?;
    let due = rows.into_iter().map(|row| {
        let record = WakeRecord {
            now_at: row.now_at,
            tenant: row.tenant,
            agent: row.agent,
            state: row.state,
            since: row.since,
            due_at: row.due_at,
            calls: row.calls,
            called_at: row.called_at,
            outcome: row.outcome,
            rests_until: row.rests_until,
            woken_at: row.woken_at,
            suspect_generation: row.suspect_generation,
            suspect_acked_seq: row.suspect_acked_seq,
            asked: row.asked,
            delay_told: row.delay_told,
            hour_began_at: row.hour_began_at,
            hour_wakes: row.hour_wakes,
            version: row.version,
        };
        let facts = FactsRecord {
            line_generation: row.line_generation,
            line_opened_at: row.line_opened_at,
            acked_seq: row.acked_seq,
            parting: row.parting,
            urls: row.urls,
            has_webhook: row.has_webhook,
            bots: row.bots,
            chats: row.chats,
        };
        Ok(facts.due(record.into_read_wake()?))
    });
    due.collect()
}

/// The facts of a claim as the driver reads them.
struct FactsRecord {
    line_generation: Option<i64>,
    line_opened_at: Option<jiff_sqlx::Timestamp>,
    acked_seq: Option<i64>,
    parting: Option<String>,
    urls: Vec<String>,
    has_webhook: bool,
    bots: Vec<Uuid>,
    chats: Vec<String>,
}

impl FactsRecord {
    fn due(self, read: ReadWake) -> DueRecord {
        let line = self.line();
        let places = self.bots.into_iter().zip(self.chats);
        let wake = DueWake {
            scope: TenantScope::for_tenant(TenantId::from_uuid(read.key.tenant)),
            agent: AgentId::from_uuid(read.key.agent),
            row: read.row.clone(),
            line,
            went_idle: self.parting.as_deref() == Some("idle"),
            urls: self.urls,
            has_webhook: self.has_webhook,
            places: places
                .map(|(bot, chat_id)| WaitingChat { bot: BotId::from_uuid(bot), chat_id })
                .collect(),
        };
        DueRecord { read, wake }
    }

    fn line(&self) -> Option<OpenLine> {
        Some(OpenLine {
            generation: Generation::new(self.line_generation?),
            opened_at: self.line_opened_at?.to_jiff(),
            acked: Seq::new(self.acked_seq?),
        })
    }
}

/// Writes rows and notices, each in one statement.
async fn write_decisions(
    connection: &mut PgConnection,
    decided: Vec<DecidedWake>,
) -> sqlx::Result<Vec<WakeClaim>> {
    let (mut writes, mut notices, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for DecidedWake { key, decision: WakeDecision { row, notice, claimed } } in decided {
        writes.push(WakeWrite { key, row });
        notices.extend(notice.map(|notice| NoticeWrite { key, notice }));
        claims.extend(claimed);
    }
    write(connection, writes).await?;
    if !notices.is_empty() {
        write_notices(connection, notices).await?;
    }
    Ok(claims)
}

/// Writes notices in the order of tenants, so that two claims do not deadlock.
async fn write_notices(
    connection: &mut PgConnection,
    mut notices: Vec<NoticeWrite>,
) -> sqlx::Result<()> {
    notices.sort_by_key(|write| write.key);
    let tenants: Vec<Uuid> = notices.iter().map(|write| write.key.tenant).collect();
    let agents: Vec<Uuid> = notices.iter().map(|write| write.key.agent).collect();
    let kinds = notices.iter().map(|write| write.notice.kind.slug().to_owned());
    let outcomes = notices.iter().map(|write| write.notice.outcome.clone());
    let calls: Vec<i32> = notices.iter().map(|write| integer(write.notice.calls)).collect();
    sqlx::query!(
        "select notice(n.tenant, n.agent, n.kind, n.outcome, n.calls, $6)
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::integer[])
             as n (tenant, agent, kind, outcome, calls)",
        &tenants,
        &agents,
        &kinds.collect::<Vec<_>>(),
        &outcomes.collect::<Vec<_>>() as &[Option<String>],
        &calls,
        NOTICES_KEPT_MAX
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn count(most: usize) -> i32 {
    i32::try_from(most).unwrap_or(i32::MAX)
}
