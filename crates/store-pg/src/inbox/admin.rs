//! The operator's view of an inbox and changes to it.

use std::ops::Range;

use async_trait::async_trait;
use nightdesk_inbox::{
    EntryDetails, EntryStatus, EntrySummary, InboxAdmin, InboxOverview, LocalEntry, ParkReason,
    ParkRecord, StoppedChat,
};
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, BotId, Incarnation, Seq, StoreError, TenantScope};
use nightdesk_vault::SEALED_EXTRA_BYTES;
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::bodies::{SealedBody, message_owner};
use crate::register::audit::record_act;
use crate::row::bad_column;

#[async_trait]
impl InboxAdmin for Pg {
    async fn overview(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<Option<InboxOverview>, StoreError> {
        let whose = (scope.tenant().uuid(), agent.uuid());
        run_to_end!(self.for_tenant("list the entries of an inbox", scope), |connection| {
            let Some((head, acked)) = read_ends(connection, whose).await? else { return Ok(None) };
            let waiting = list_waiting(connection, whose, acked.max(after)..head).await?;
            let parked = list_parked(connection, whose, after).await?;
            Ok(Some(InboxOverview { head, acked, waiting, parked }))
        })
    }

    async fn show_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<EntryDetails>, StoreError> {
        let whose = (scope.tenant().uuid(), agent.uuid());
        let found = run_to_end!(self.for_tenant("show an entry", scope), |connection| {
            show_entry(connection, whose, seq).await
        })?;
        let Some((details, sealed)) = found else { return Ok(None) };
        let opened = self.open_body(&message_owner(scope, agent), sealed).await?;
        Ok(Some(EntryDetails { body: opened.unwrap_or_default(), ..details }))
    }

    async fn park_waiting(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("set an entry aside", scope), |connection| {
            // The cursor is locked first, as in every statement that moves it.
            let locked = sqlx::query!(
                "select from inbox_cursors where tenant_id = $1 and agent_id = $2 for update",
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_optional(&mut *connection)
            .await?;
            if locked.is_none() {
                return Ok(false);
            }
            let moved = sqlx::query_scalar!(
                r#"select set_aside($1, $2, $3, $4) as "moved!""#,
                scope.tenant().uuid(),
                agent.uuid(),
                seq.get(),
                ParkReason::Operator.slug()
            );
            moved.fetch_one(connection).await
        })
    }

    async fn park_chat(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: StoppedChat<'_>,
    ) -> Result<usize, StoreError> {
        let StoppedChat { bot, chat_id, entries_max } = chat;
        let (bot, chat_id) = (bot.map(BotId::uuid), chat_id.to_owned());
        let entries_max = i64::try_from(entries_max).unwrap_or(i64::MAX);
        run_to_end!(self.for_tenant("set the entries of a chat aside", scope), |connection| {
            let whose = (scope.tenant().uuid(), agent.uuid());
            // The cursor is locked first, as in every statement that moves it.
            let locked = sqlx::query!(
                "select from inbox_cursors where tenant_id = $1 and agent_id = $2 for update",
                whose.0,
                whose.1
            )
            .fetch_optional(&mut *connection)
            .await?;
            if locked.is_none() {
                return Ok(0);
            }
            let parked = sqlx::query_scalar!(
                r#"select count(*) filter (where set_aside($1, $2, w.seq, $3)) as "parked!"
                   from (
                       select e.seq from inbox_entries e
                           join inbox_cursors c
                               on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
                       where e.tenant_id = $1 and e.agent_id = $2
                         and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
                         and e.chat_id = $4 and coalesce(e.bot_id = $5::uuid, true)
                         and not exists (
                             select from lines l
                             where l.tenant_id = $1 and l.agent_id = $2
                               and l.closed_at is null and node_lives(l.node, l.node_epoch)
                         )
                       order by e.seq limit $6
                   ) as w"#,
                whose.0,
                whose.1,
                ParkReason::Stopped.slug(),
                chat_id,
                bot,
                entries_max
            );
            let parked = parked.fetch_one(connection).await?;
            Ok(usize::try_from(parked).unwrap_or(0))
        })
    }

    async fn resubmit(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Seq>, StoreError> {
        run_to_end!(self.for_tenant("resubmit an entry", scope), |connection| {
            let again = sqlx::query_scalar!(
                "select inbox_resubmit($1, $2, $3)",
                scope.tenant().uuid(),
                agent.uuid(),
                seq.get()
            )
            .fetch_one(connection)
            .await?;
            Ok(again.map(Seq::new))
        })
    }

    async fn drop_parked(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("drop a parked entry", scope), |connection| {
            let dropped = sqlx::query!(
                "delete from inbox_parked
                 where tenant_id = $1 and agent_id = $2 and seq = $3 and resubmitted_as is null",
                scope.tenant().uuid(),
                agent.uuid(),
                seq.get()
            );
            Ok(dropped.execute(connection).await?.rows_affected() > 0)
        })
    }

    async fn put_local(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &LocalEntry,
    ) -> Result<Option<Seq>, StoreError> {
        let entry = self.seal_entry(scope, agent, entry).await?;
        run_to_end!(self.for_tenant("put a test entry", scope), |connection| {
            let seq = put_local_entry(connection, scope, agent, &entry).await?;
            if let Some(seq) = seq {
                let about = json!({ "agent_id": agent, "seq": seq });
                record_act(connection, scope, Kind::EntryPut, about).await?;
            }
            Ok(seq)
        })
    }
}

type InboxKey = (Uuid, Uuid);

/// An entry that came from no platform, sealed for its agent.
pub(crate) struct SealedEntry {
    bot: BotId,
    chat_id: String,
    body: SealedBody,
}

impl Pg {
    /// Seals an entry that came from no platform.
    pub(crate) async fn seal_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        entry: &LocalEntry,
    ) -> Result<SealedEntry, StoreError> {
        let body = self.seal_body(&message_owner(scope, agent), &entry.body).await?;
        Ok(SealedEntry { bot: entry.bot, chat_id: entry.chat_id.clone(), body })
    }
}

/// Puts an entry that came from no platform, and makes its agent's wake due if it has no line.
pub(crate) async fn put_local_entry(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
    entry: &SealedEntry,
) -> sqlx::Result<Option<Seq>> {
    let seq = sqlx::query_scalar!(
        "select inbox_put_test($1, $2, $3, $4, $5, $6, $7)",
        scope.tenant().uuid(),
        agent.uuid(),
        entry.bot.uuid(),
        entry.chat_id,
        entry.body.bytes,
        entry.body.key.get(),
        entry.body.id.uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok(seq.map(Seq::new))
}

async fn read_ends(
    connection: &mut PgConnection,
    whose: InboxKey,
) -> sqlx::Result<Option<(Seq, Seq)>> {
    let row = sqlx::query!(
        "select h.next_seq, c.acked_seq
         from inbox_heads h
             join inbox_cursors c on c.tenant_id = h.tenant_id and c.agent_id = h.agent_id
         where h.tenant_id = $1 and h.agent_id = $2",
        whose.0,
        whose.1
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| (Seq::new(row.next_seq - 1), Seq::new(row.acked_seq))))
}

/// Lists the first entries that wait, with numbers after the start and up to the end. It reads a span of numbers at a
/// time: the planner expects few entries, so it would read and sort all that wait. Numbers of parked entries are left out,
/// so each span is twice as long as the one before.
async fn list_waiting(
    connection: &mut PgConnection,
    whose: InboxKey,
    numbers: Range<Seq>,
) -> sqlx::Result<Vec<EntrySummary>> {
    let (mut from, mut span, mut rows_max) = (numbers.start.get(), LIST_ROWS_MAX, LIST_ROWS_MAX);
    let mut listed = Vec::new();
    while from < numbers.end.get() && rows_max > 0 {
        let up_to = from.saturating_add(span);
        let rows = sqlx::query_as!(
            EntryRow,
            r#"select e.seq, e.incarnation, e.at as "at: jiff_sqlx::Timestamp", e.bot_id, e.chat_id,
                   body_bytes(e.body) as "body_bytes!"
               from inbox_entries e
                   join inbox_cursors c on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
               where e.tenant_id = $1 and e.agent_id = $2 and e.seq > $3 and e.seq <= $4
                 and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
               order by e.seq limit $5"#,
            whose.0,
            whose.1,
            from,
            up_to,
            rows_max
        );
        let rows = rows.fetch_all(&mut *connection).await?;
        rows_max -= i64::try_from(rows.len()).unwrap_or(rows_max);
        listed.extend(rows.into_iter().map(EntryRow::summary));
        (from, span) = (up_to, span.saturating_mul(2));
    }
    Ok(listed)
}

async fn list_parked(
    connection: &mut PgConnection,
    whose: InboxKey,
    after: Seq,
) -> sqlx::Result<Vec<(EntrySummary, ParkRecord)>> {
    let rows = sqlx::query!(
        r#"select p.seq, p.incarnation, p.at as "at: jiff_sqlx::Timestamp", p.bot_id, p.chat_id,
               body_bytes(p.body) as "body_bytes!", p.reason,
               p.parked_at as "parked_at: jiff_sqlx::Timestamp", p.resubmitted_as
           from inbox_parked p
           where p.tenant_id = $1 and p.agent_id = $2 and p.seq > $3
           order by p.seq limit $4"#,
        whose.0,
        whose.1,
        after.get(),
        LIST_ROWS_MAX
    )
    .fetch_all(connection)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let parked = park_record(&row.reason, row.parked_at, row.resubmitted_as)?;
        let row = EntryRow {
            seq: row.seq,
            incarnation: row.incarnation,
            at: row.at,
            bot_id: row.bot_id,
            chat_id: row.chat_id,
            body_bytes: row.body_bytes,
        };
        Ok((row.summary(), parked))
    });
    listed.collect()
}

/// Returns an entry without its body, and its sealed body.
async fn show_entry(
    connection: &mut PgConnection,
    whose: InboxKey,
    seq: Seq,
) -> sqlx::Result<Option<(EntryDetails, SealedBody)>> {
    // A parked entry may still be among the entries too; then the parked row counts.
    let row = sqlx::query!(
        r#"select incarnation as "incarnation!", at as "at!: jiff_sqlx::Timestamp", bot_id as "bot_id!",
               chat_id as "chat_id!", body as "body!", key_id as "key_id!", body_id as "body_id!", reason,
               parked_at as "parked_at: jiff_sqlx::Timestamp", resubmitted_as,
               (select o.seq from inbox_parked o where o.tenant_id = $1 and o.agent_id = $2
                  and o.resubmitted_as = $3) as origin
           from (
               select incarnation, at, bot_id, chat_id, body, key_id, body_id, reason, parked_at,
                   resubmitted_as
               from inbox_parked where tenant_id = $1 and agent_id = $2 and seq = $3
               union all
               select incarnation, at, bot_id, chat_id, body, key_id, body_id, null, null, null
               from inbox_entries where tenant_id = $1 and agent_id = $2 and seq = $3
           ) as either
           order by reason nulls last limit 1"#,
        whose.0,
        whose.1,
        seq.get()
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let state = match (&row.reason, row.parked_at) {
        (Some(reason), Some(at)) => {
            EntryStatus::Parked(park_record(reason, at, row.resubmitted_as)?)
        }
        _ => read_state(connection, whose, seq).await?,
    };
    let listed = EntrySummary {
        seq,
        incarnation: Incarnation::new(row.incarnation),
        at: row.at.to_jiff(),
        bot: BotId::from_uuid(row.bot_id),
        chat_id: row.chat_id,
        body_bytes: row.body.len().saturating_sub(SEALED_EXTRA_BYTES),
    };
    let origin = row.origin.map(Seq::new);
    let details = EntryDetails { summary: listed, state, origin, body: Vec::new() };
    Ok(Some((details, SealedBody::from_row(row.key_id, row.body_id, row.body))))
}

/// Returns the state of an entry that is not parked: waiting, or acked with its times.
async fn read_state(
    connection: &mut PgConnection,
    whose: InboxKey,
    seq: Seq,
) -> sqlx::Result<EntryStatus> {
    let row = sqlx::query!(
        r#"select $3 > c.acked_seq and not $3 <@ c.ahead as "waits!",
               case when c.tried_seq = $3 then c.tries else 0 end as "tries!",
               a.handed_at as "handed_at?: jiff_sqlx::Timestamp",
               a.acked_at as "acked_at?: jiff_sqlx::Timestamp"
           from inbox_cursors c
               left join lateral (
                   select a.handed_at, a.acked_at from inbox_acks a
                   where a.tenant_id = $1 and a.agent_id = $2
                     and a.from_seq <= $3 and a.to_seq >= $3
                   order by a.to_seq, a.acked_at limit 1
               ) as a on true
           where c.tenant_id = $1 and c.agent_id = $2"#,
        whose.0,
        whose.1,
        seq.get()
    )
    .fetch_one(connection)
    .await?;
    if row.waits {
        return Ok(EntryStatus::Waiting { tries: u32::try_from(row.tries).unwrap_or(0) });
    }
    let times = row.handed_at.zip(row.acked_at);
    Ok(EntryStatus::Acked {
        times: times.map(|(handed, acked)| (handed.to_jiff(), acked.to_jiff())),
    })
}

/// An entry's row, without its body.
struct EntryRow {
    seq: i64,
    incarnation: i64,
    at: jiff_sqlx::Timestamp,
    bot_id: Uuid,
    chat_id: String,
    body_bytes: i32,
}

impl EntryRow {
    fn summary(self) -> EntrySummary {
        EntrySummary {
            seq: Seq::new(self.seq),
            incarnation: Incarnation::new(self.incarnation),
            at: self.at.to_jiff(),
            bot: BotId::from_uuid(self.bot_id),
            chat_id: self.chat_id,
            body_bytes: usize::try_from(self.body_bytes).unwrap_or(0),
        }
    }
}

fn park_record(
    reason: &str,
    at: jiff_sqlx::Timestamp,
    resubmitted_as: Option<i64>,
) -> sqlx::Result<ParkRecord> {
    let known = ParkReason::ALL.into_iter().find(|known| known.slug() == reason);
    let reason = known.ok_or_else(|| bad_column("inbox_parked", "reason"))?;
    Ok(ParkRecord { reason, at: at.to_jiff(), resubmitted_as: resubmitted_as.map(Seq::new) })
}
