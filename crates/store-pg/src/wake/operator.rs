//! The operator's view of wakes and wake URLs.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{LIST_ROWS_MAX, WAITING_COUNTED_MAX, WEBHOOK_OVERLAP};
use nightdesk_types::{AgentId, BotId, ClientRules, StoreError, TenantScope, Transport};
use nightdesk_wake::{
    AgentWakeStatus, AgentWebhook, NewWebhook, NoticeKind, NoticeSubject, OwnerNotice, WakeAdmin,
    WakeRow, WakeStatus,
};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::rows::{WakeKey, begin_wakes, change_wake};
use crate::Pg;
use crate::register::audit::record_act;
use crate::row::bad_column;

#[async_trait]
impl WakeAdmin for Pg {
    async fn wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<String>, StoreError> {
        run_to_end!(self.for_tenant("read an agent's wake URLs", scope), |connection| {
            sqlx::query_scalar!(
                "select url from wakers where tenant_id = $1 and agent_id = $2
                 order by position",
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_all(connection)
            .await
        })
    }

    async fn set_wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<(), StoreError> {
        let urls = urls.to_vec();
        run_to_end!(self.for_tenant("set an agent's wake URLs", scope), |connection| {
            let key = WakeKey::new(scope, agent);
            let WakeKey { tenant, agent } = key;
            sqlx::query!(
                "delete from wakers where tenant_id = $1 and agent_id = $2",
                tenant,
                agent
            )
            .execute(&mut *connection)
            .await?;
            sqlx::query!(
                "insert into wakers (tenant_id, agent_id, position, url)
                 select $1, $2, u.position, u.url
                 from unnest($3::text[]) with ordinality as u (url, position)",
                tenant,
                agent,
                &urls
            )
            .execute(&mut *connection)
            .await?;
            change_wake(connection, key, WakeRow::call_soon).await?;
            record_act(connection, scope, Kind::WakeUrlSet, json!({ "agent_id": agent })).await
        })
    }

    async fn webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<AgentWebhook>, StoreError> {
        run_to_end!(self.for_tenant("read an agent's webhook", scope), |connection| {
            let found = sqlx::query!(
                r#"select url, salt,
                       case when old_until > clock_timestamp() then old_salt end as old_salt
                   from agent_webhooks where tenant_id = $1 and agent_id = $2"#,
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_optional(connection)
            .await?;
            Ok(found.map(|row| AgentWebhook {
                url: row.url,
                salts: [row.salt].into_iter().chain(row.old_salt).collect(),
            }))
        })
    }

    async fn set_webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
        webhook: Option<&NewWebhook>,
    ) -> Result<(), StoreError> {
        let webhook = webhook.cloned();
        run_to_end!(self.for_tenant("set an agent's webhook", scope), |connection| {
            let key = WakeKey::new(scope, agent);
            match &webhook {
                Some(webhook) => write_webhook(connection, key, webhook).await?,
                None => delete_webhook(connection, key).await?,
            }
            change_wake(connection, key, WakeRow::call_soon).await?;
            let act = json!({ "agent_id": key.agent, "webhook": webhook.is_some() });
            record_act(connection, scope, Kind::WakeUrlSet, act).await
        })
    }

    async fn request_call(&self, scope: TenantScope, agent: AgentId) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("request a call", scope), |connection| {
            let key = WakeKey::new(scope, agent);
            begin_wakes(connection, &[key], |_, row, now| row.request_call(now)).await?;
            record_act(connection, scope, Kind::WakeAsked, json!({ "agent_id": agent })).await
        })
    }

    async fn status(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: &str,
    ) -> Result<Vec<AgentWakeStatus>, StoreError> {
        let after = after.to_owned();
        run_to_end!(self.for_tenant("list wakes", scope), |connection| {
            let tenant = scope.tenant().uuid();
            let agents = match agent {
                Some(agent) => vec![agent.uuid()],
                None => list_agents(connection, tenant, &after).await?,
            };
            let rows = read_statuses(connection, tenant, &agents, &after).await?;
            rows.into_iter().map(WakeStatusRow::status).collect()
        })
    }

    async fn notices(&self, scope: TenantScope) -> Result<Vec<OwnerNotice>, StoreError> {
        run_to_end!(self.for_tenant("read notices", scope), |connection| {
            let rows = sqlx::query!(
                r#"select at as "at: jiff_sqlx::Timestamp", kind, agent_id, bot_id, outcome, calls
                   from notices where tenant_id = $1 order by number desc limit $2"#,
                scope.tenant().uuid(),
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let notices = rows.into_iter().map(|row| {
                let kind = NoticeKind::ALL.into_iter().find(|kind| kind.slug() == row.kind);
                let agent = row.agent_id.map(|id| NoticeSubject::Agent(AgentId::from_uuid(id)));
                let bot = row.bot_id.map(|id| NoticeSubject::Bot(BotId::from_uuid(id)));
                Ok(OwnerNotice {
                    at: row.at.to_jiff(),
                    about: agent.or(bot).ok_or_else(|| bad_column("notices", "agent_id"))?,
                    kind: kind.ok_or_else(|| bad_column("notices", "kind"))?,
                    calls: row.calls.unsigned_abs(),
                    outcome: row.outcome,
                })
            });
            notices.collect()
        })
    }
}

/// Lists a page of a tenant's agents, by name, after this one.
async fn list_agents(
    connection: &mut PgConnection,
    tenant: Uuid,
    after: &str,
) -> sqlx::Result<Vec<Uuid>> {
    let agents = sqlx::query_scalar!(
        "select agent_id from agents where tenant_id = $1 and name > $2 order by name limit $3",
        tenant,
        after,
        LIST_ROWS_MAX
    );
    agents.fetch_all(connection).await
}

/// Reads the status of those of these agents whose names come after this one, by name. Each table is looked up by the
/// agent's key: the planner cannot know that the agents are few among those of their tenant.
async fn read_statuses(
    connection: &mut PgConnection,
    tenant: Uuid,
    agents: &[Uuid],
    after: &str,
) -> sqlx::Result<Vec<WakeStatusRow>> {
    let rows = sqlx::query_as!(
        WakeStatusRow,
        r#"select a.agent_id as "agent_id!", a.name as "name!", a.client_rules as "rules!",
               l.line_since as "line_since: jiff_sqlx::Timestamp",
               case when l.line_since is not null then l.transport end as transport,
               x.waiting as "waiting!", u.urls as "urls!", w.state as "state?",
               w.since as "since?: jiff_sqlx::Timestamp", w.due_at as "due_at?: jiff_sqlx::Timestamp",
               w.calls as "calls?", w.called_at as "called_at?: jiff_sqlx::Timestamp", w.outcome,
               w.woken_at as "woken_at?: jiff_sqlx::Timestamp"
           from unnest($2::uuid[]) as i (agent_id)
               cross join lateral (
                   select a.agent_id, a.name, a.client_rules from agents a
                   where a.tenant_id = $1 and a.agent_id = i.agent_id and a.name > $3 limit 1
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
                   select count(*) as waiting from (
                       select from inbox_entries e
                       where e.tenant_id = $1 and e.agent_id = i.agent_id
                         and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
                       limit $4
                   ) as e
               ) as x
           order by a.name"#,
        tenant,
        agents,
        after,
        WAITING_COUNTED_MAX
    );
    rows.fetch_all(connection).await
}

async fn write_webhook(
    connection: &mut PgConnection,
    key: WakeKey,
    webhook: &NewWebhook,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into agent_webhooks as h (tenant_id, agent_id, url, salt)
         values ($1, $2, $3, $4)
         on conflict (tenant_id, agent_id) do update
         set url = excluded.url, salt = excluded.salt, old_salt = h.salt,
             old_until = clock_timestamp() + make_interval(secs => $5)",
        key.tenant,
        key.agent,
        webhook.url,
        webhook.salt,
        WEBHOOK_OVERLAP.as_secs_f64()
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn delete_webhook(connection: &mut PgConnection, key: WakeKey) -> sqlx::Result<()> {
    sqlx::query!(
        "delete from agent_webhooks where tenant_id = $1 and agent_id = $2",
        key.tenant,
        key.agent
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The status of an agent.
pub(crate) struct WakeStatusRow {
    pub(crate) agent_id: Uuid,
    pub(crate) name: String,
    pub(crate) rules: String,
    pub(crate) line_since: Option<jiff_sqlx::Timestamp>,
    pub(crate) transport: Option<String>,
    pub(crate) waiting: i64,
    pub(crate) urls: i64,
    pub(crate) state: Option<String>,
    pub(crate) since: Option<jiff_sqlx::Timestamp>,
    pub(crate) due_at: Option<jiff_sqlx::Timestamp>,
    pub(crate) calls: Option<i32>,
    pub(crate) called_at: Option<jiff_sqlx::Timestamp>,
    pub(crate) outcome: Option<String>,
    pub(crate) woken_at: Option<jiff_sqlx::Timestamp>,
}

impl WakeStatusRow {
    pub(crate) fn status(self) -> sqlx::Result<AgentWakeStatus> {
        let jiff = |at: Option<jiff_sqlx::Timestamp>| at.map(jiff_sqlx::Timestamp::to_jiff);
        let wake = self.state.zip(self.since).map(|(state, since)| WakeStatus {
            state,
            since: since.to_jiff(),
            due_at: jiff(self.due_at),
            calls: self.calls.unwrap_or(0).unsigned_abs(),
            called_at: jiff(self.called_at),
            outcome: self.outcome,
            woken_at: jiff(self.woken_at),
        });
        Ok(AgentWakeStatus {
            agent: AgentId::from_uuid(self.agent_id),
            name: self.name,
            line_since: jiff(self.line_since),
            transport: self.transport.as_deref().and_then(Transport::from_slug),
            waiting: self.waiting.unsigned_abs(),
            urls: self.urls.unsigned_abs(),
            wake,
            rules: ClientRules::from_slug(&self.rules)
                .ok_or_else(|| bad_column("agents", "client_rules"))?,
        })
    }
}
