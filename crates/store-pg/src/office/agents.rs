//! The state of agents at a glance.

use async_trait::async_trait;
use nightdesk_office::{
    AgentGlance, AgentGlances, AgentSelection, BoundedCount, LineGlance, LoggedWake,
    ReceivedLetter, TenantGlance,
};
use nightdesk_types::limits::{
    AGENT_COUNTED_MAX, LIST_ROWS_MAX, RECEIVED_LETTERS_MAX, WAKES_LOGGED_MAX,
};
use nightdesk_types::{
    AgentId, Generation, LetterId, StoreError, TenantId, TenantScope, Transport,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::summary;
use crate::Pg;
use crate::row::bad_column;
use crate::wake::operator::WakeStatusRow;

#[async_trait]
impl AgentGlances for Pg {
    async fn glance_at_tenant(&self, scope: TenantScope) -> Result<TenantGlance, StoreError> {
        let tenant = scope.tenant().uuid();
        run_to_end!(self.for_tenant("count the agents of a tenant", scope), |connection| {
            summary::glance_at_tenant(connection, tenant).await
        })
    }

    async fn glance_at_agents(
        &self,
        scope: TenantScope,
        which: AgentSelection<'_>,
    ) -> Result<Vec<AgentGlance>, StoreError> {
        let tenant = scope.tenant().uuid();
        let which = match which {
            AgentSelection::Named { prefix, after } => {
                StoredSelection::Named { prefix: prefix.to_owned(), after: after.to_owned() }
            }
            AgentSelection::Needed => StoredSelection::Needed,
            AgentSelection::Awake => StoredSelection::Awake,
            AgentSelection::Of(agent) => StoredSelection::Of(agent.uuid()),
        };
        run_to_end!(self.for_tenant("list agents with their states", scope), |connection| {
            let agents = select_agents(connection, tenant, which).await?;
            read_glances(connection, tenant, &agents).await
        })
    }

    async fn newest_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<LineGlance>, StoreError> {
        run_to_end!(self.for_tenant("read an agent's newest line", scope), |connection| {
            let row = sqlx::query!(
                r#"select l.generation, g.name as gateway, l.transport, l.node,
                       l.opened_at as "opened_at: jiff_sqlx::Timestamp",
                       l.closed_at as "closed_at: jiff_sqlx::Timestamp", l.parting,
                       (l.closed_at is null and node_lives(l.node, l.node_epoch)) as "is_open!"
                   from lines l
                       join gateways g on g.tenant_id = l.tenant_id and g.gateway_id = l.gateway_id
                   where l.tenant_id = $1 and l.agent_id = $2"#,
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_optional(connection)
            .await?;
            let line = row.map(|row| {
                let transport = Transport::from_slug(&row.transport);
                Ok(LineGlance {
                    generation: Generation::new(row.generation),
                    gateway: row.gateway,
                    transport: transport.ok_or_else(|| bad_column("lines", "transport"))?,
                    node: row.node,
                    opened_at: row.opened_at.to_jiff(),
                    closed_at: row.closed_at.map(jiff_sqlx::Timestamp::to_jiff),
                    is_open: row.is_open,
                    parting: row.parting,
                })
            });
            line.transpose()
        })
    }

    async fn logged_wakes(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<LoggedWake>, StoreError> {
        run_to_end!(self.for_tenant("read an agent's last wakes", scope), |connection| {
            let rows = sqlx::query!(
                r#"select number, since as "since: jiff_sqlx::Timestamp", calls,
                       called_at as "called_at: jiff_sqlx::Timestamp", outcome,
                       woken_at as "woken_at: jiff_sqlx::Timestamp",
                       ended_at as "ended_at: jiff_sqlx::Timestamp"
                   from wake_log where tenant_id = $1 and agent_id = $2
                   order by number desc limit $3"#,
                scope.tenant().uuid(),
                agent.uuid(),
                WAKES_LOGGED_MAX
            )
            .fetch_all(connection)
            .await?;
            let wakes = rows.into_iter().map(|row| LoggedWake {
                number: row.number,
                since: row.since.to_jiff(),
                calls: row.calls.unsigned_abs(),
                called_at: row.called_at.map(jiff_sqlx::Timestamp::to_jiff),
                outcome: row.outcome,
                woken_at: row.woken_at.map(jiff_sqlx::Timestamp::to_jiff),
                ended_at: row.ended_at.to_jiff(),
            });
            Ok(wakes.collect())
        })
    }

    async fn received_letters(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ReceivedLetter>, StoreError> {
        run_to_end!(self.for_tenant("read the letters to an agent", scope), |connection| {
            let rows = sqlx::query!(
                r#"select l.letter_id, l.from_tenant_id, l.from_agent_id, a.name as "from_name?",
                       l.hop, l.put_at as "put_at: jiff_sqlx::Timestamp"
                   from letters_in l
                       left join agents a
                           on a.tenant_id = $1 and l.from_tenant_id = $1
                           and a.agent_id = l.from_agent_id
                   where l.tenant_id = $1 and l.agent_id = $2
                   order by l.put_at desc, l.letter_id limit $3"#,
                scope.tenant().uuid(),
                agent.uuid(),
                RECEIVED_LETTERS_MAX
            )
            .fetch_all(connection)
            .await?;
            let letters = rows.into_iter().map(|row| ReceivedLetter {
                id: LetterId::from_uuid(row.letter_id),
                from_tenant: TenantId::from_uuid(row.from_tenant_id),
                from: AgentId::from_uuid(row.from_agent_id),
                from_name: row.from_name,
                hop: row.hop.unsigned_abs(),
                put_at: row.put_at.to_jiff(),
            });
            Ok(letters.collect())
        })
    }
}

/// A selection of agents that outlives its caller.
enum StoredSelection {
    Named { prefix: String, after: String },
    Needed,
    Awake,
    Of(Uuid),
}

async fn select_agents(
    connection: &mut PgConnection,
    tenant: Uuid,
    which: StoredSelection,
) -> sqlx::Result<Vec<Uuid>> {
    match which {
        StoredSelection::Named { prefix, after } => {
            select_named(connection, tenant, &prefix, &after).await
        }
        StoredSelection::Needed => {
            let needed = sqlx::query_scalar!(
                "select agent_id from wakes
                 where tenant_id = $1 and state in ('due', 'held', 'unreachable')
                 order by since limit $2",
                tenant,
                LIST_ROWS_MAX
            );
            needed.fetch_all(connection).await
        }
        StoredSelection::Awake => {
            let awake = sqlx::query_scalar!(
                "select agent_id from lines where tenant_id = $1 and closed_at is null
                 order by agent_id limit $2",
                tenant,
                LIST_ROWS_MAX
            );
            awake.fetch_all(connection).await
        }
        StoredSelection::Of(agent) => Ok(vec![agent]),
    }
}

/// Selects a page of agents by name. Names are compared by their bytes, so those with a prefix are a range of the index. A
/// function that compares the prefix would be estimated as rare, and all names would be sorted.
async fn select_named(
    connection: &mut PgConnection,
    tenant: Uuid,
    prefix: &str,
    after: &str,
) -> sqlx::Result<Vec<Uuid>> {
    let Some(end) = end_of_prefix(prefix) else {
        let named = sqlx::query_scalar!(
            "select agent_id from agents where tenant_id = $1 and name > $2 and name >= $3
             order by name limit $4",
            tenant,
            after,
            prefix,
            LIST_ROWS_MAX
        );
        return named.fetch_all(connection).await;
    };
    let named = sqlx::query_scalar!(
        "select agent_id from agents
         where tenant_id = $1 and name > $2 and name >= $3 and name < $4
         order by name limit $5",
        tenant,
        after,
        prefix,
        end,
        LIST_ROWS_MAX
    );
    named.fetch_all(connection).await
}

/// Returns the first text after all texts that begin with this one. `None`: every text from it on begins with it.
fn end_of_prefix(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

/// Reads the state of these agents, in this order.
async fn read_glances(
    connection: &mut PgConnection,
    tenant: Uuid,
    agents: &[Uuid],
) -> sqlx::Result<Vec<AgentGlance>> {
    let rows = sqlx::query_as!(
        GlanceRow,
        r#"select i.agent_id as "agent_id!", a.name as "name!", a.client_rules as "rules!",
               l.line_since as "line_since: jiff_sqlx::Timestamp",
               case when l.line_since is not null then l.transport end as transport,
               x.waiting as "waiting!", x.oldest_at as "oldest_at: jiff_sqlx::Timestamp",
               p.parked as "parked!", u.urls as "urls!", w.state as "state?",
               w.since as "since?: jiff_sqlx::Timestamp", w.due_at as "due_at?: jiff_sqlx::Timestamp",
               w.calls as "calls?", w.called_at as "called_at?: jiff_sqlx::Timestamp", w.outcome as "outcome?",
               w.woken_at as "woken_at?: jiff_sqlx::Timestamp"
           from unnest($2::uuid[]) with ordinality as i (agent_id, nth)
               cross join lateral (
                   select a.name, a.client_rules from agents a
                   where a.tenant_id = $1 and a.agent_id = i.agent_id limit 1
               ) as a
               cross join lateral (
                   select c.acked_seq, c.acked_at, c.ahead from inbox_cursors c
                   where c.tenant_id = $1 and c.agent_id = i.agent_id limit 1
               ) as c
               left join lateral (
                   select l.transport, case when l.closed_at is null
                       and node_lives(l.node, l.node_epoch) then l.opened_at end as line_since
                   from lines l where l.tenant_id = $1 and l.agent_id = i.agent_id limit 1
               ) as l on true
               left join lateral (
                   select w.* from wakes w
                   where w.tenant_id = $1 and w.agent_id = i.agent_id limit 1
               ) as w on true
               cross join lateral (
                   select count(*) as urls from wakers k
                   where k.tenant_id = $1 and k.agent_id = i.agent_id
               ) as u
               cross join lateral (
                   select count(*) as waiting, min(e.at) as oldest_at from (
                       select e.at from inbox_entries e
                       where e.tenant_id = $1 and e.agent_id = i.agent_id
                         and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
                       order by e.seq limit $3
                   ) as e
               ) as x
               cross join lateral (
                   select count(*) as parked from (
                       select from inbox_parked p
                       where p.tenant_id = $1 and p.agent_id = i.agent_id
                         and p.resubmitted_as is null
                       order by p.seq limit $3
                   ) as p
               ) as p
           order by i.nth"#,
        tenant,
        agents,
        AGENT_COUNTED_MAX + 1
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(GlanceRow::glance).collect()
}

struct GlanceRow {
    agent_id: Uuid,
    name: String,
    rules: String,
    line_since: Option<jiff_sqlx::Timestamp>,
    transport: Option<String>,
    waiting: i64,
    oldest_at: Option<jiff_sqlx::Timestamp>,
    parked: i64,
    urls: i64,
    state: Option<String>,
    since: Option<jiff_sqlx::Timestamp>,
    due_at: Option<jiff_sqlx::Timestamp>,
    calls: Option<i32>,
    called_at: Option<jiff_sqlx::Timestamp>,
    outcome: Option<String>,
    woken_at: Option<jiff_sqlx::Timestamp>,
}

impl GlanceRow {
    fn glance(self) -> sqlx::Result<AgentGlance> {
        let count = |read| BoundedCount::new(read, AGENT_COUNTED_MAX);
        let (waiting, parked) = (count(self.waiting), count(self.parked));
        let oldest_at = self.oldest_at.map(jiff_sqlx::Timestamp::to_jiff);
        let status = WakeStatusRow {
            agent_id: self.agent_id,
            name: self.name,
            rules: self.rules,
            line_since: self.line_since,
            transport: self.transport,
            waiting: self.waiting.min(AGENT_COUNTED_MAX),
            urls: self.urls,
            state: self.state,
            since: self.since,
            due_at: self.due_at,
            calls: self.calls,
            called_at: self.called_at,
            outcome: self.outcome,
            woken_at: self.woken_at,
        };
        Ok(AgentGlance { status: status.status()?, waiting, oldest_at, parked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_text_that_lacks_it() {
        let ends = [
            ("", None),
            ("owl", Some("owm")),
            ("o%", Some("o&")),
            ("o\u{10ffff}", Some("p")),
            ("\u{10ffff}\u{10ffff}", None),
            // The numbers between these two are no characters.
            ("\u{d7ff}", Some("\u{e000}")),
        ];
        for (prefix, end) in ends {
            assert_eq!(end_of_prefix(prefix).as_deref(), end, "{prefix:?}");
        }
    }
}
