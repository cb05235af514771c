//! The lines' store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_line::{AuthenticatedGateway, CloseRecord, HeldLine, LineRequest, LineStart, Store};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::limits::TRIES_MAX;
use nightdesk_types::{
    AgentId, ClientRules, GatewayId, Generation, Incarnation, Node, NodeEpoch, Seq, StoreError,
    TenantScope,
};
use nightdesk_wake::LineEnd;

use crate::Pg;
use crate::row::bad_column;
use crate::wake::end_lines;
use crate::wake::rows::WakeKey;

#[async_trait]
impl Store for Pg {
    async fn take(&self, line: LineRequest<'_>) -> Result<LineStart, StoreError> {
        let grace = line.node_end_grace();
        let LineRequest { caller, node, transport, rules } = line;
        let AuthenticatedGateway { scope, agent, gateway, acks: _ } = *caller;
        let node = node.clone();
        run_to_end!(self.single("take a line"), |connection| {
            let row = sqlx::query!(
                r#"select incarnation as "incarnation!", generation as "generation!", acked_seq as "acked!",
                       acked_at as "since!: jiff_sqlx::Timestamp", head_seq as "head!",
                       ended_ago_ms, parked_seq, client_rules as "rules!"
                   from line_take(
                       works_for($1), $2, $3, $4, $5, $6, make_interval(secs => $7), $8, $9
                   )"#,
                scope.tenant().uuid(),
                agent.uuid(),
                gateway.uuid(),
                node.name,
                node.epoch.get(),
                i32::try_from(TRIES_MAX).unwrap_or(i32::MAX),
                grace.as_secs_f64(),
                rules.map(ClientRules::slug),
                transport.slug()
            )
            .fetch_one(connection)
            .await?;
            let millis = |ms: i64| Duration::from_millis(ms.try_into().unwrap_or(0));
            Ok(LineStart {
                incarnation: Incarnation::new(row.incarnation),
                generation: Generation::new(row.generation),
                acked: Seq::new(row.acked),
                since: row.since.to_jiff(),
                head: Seq::new(row.head),
                restarted_ago: row.ended_ago_ms.map(millis),
                parked: row.parked_seq.map(Seq::new),
                rules: ClientRules::from_slug(&row.rules)
                    .ok_or_else(|| bad_column("agents", "client_rules"))?,
            })
        })
    }

    async fn find_held_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<HeldLine>, StoreError> {
        run_to_end!(self.for_tenant("find the holder of a line", scope), |connection| {
            let row = sqlx::query!(
                "select incarnation, generation, gateway_id, node, node_epoch from lines
                 where tenant_id = $1 and agent_id = $2 and closed_at is null
                   and node_lives(node, node_epoch)",
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(|row| HeldLine {
                claim: LineClaim {
                    scope,
                    agent,
                    incarnation: Incarnation::new(row.incarnation),
                    generation: Generation::new(row.generation),
                },
                gateway: GatewayId::from_uuid(row.gateway_id),
                node: Node { name: row.node, epoch: NodeEpoch::new(row.node_epoch) },
            }))
        })
    }

    async fn tell_sessions(
        &self,
        line: &LineClaim,
        sessions: &SessionNames,
    ) -> Result<(), StoreError> {
        let LineClaim { scope, agent, incarnation, generation } = *line;
        let sessions = sessions.to_vec();
        run_to_end!(self.for_tenant("store the live sessions of an agent", scope), |connection| {
            sqlx::query!(
                "update lines set sessions = $5
                 where tenant_id = $1 and agent_id = $2 and incarnation = $3 and generation = $4
                   and closed_at is null",
                scope.tenant().uuid(),
                agent.uuid(),
                incarnation.get(),
                generation.get(),
                &sessions
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
        let LineClaim { scope, agent, incarnation, generation } = *line;
        run_to_end!(self.for_tenant("close a line", scope), |connection| {
            let key = WakeKey::new(scope, agent);
            let grace = end.closed_by.grace();
            let ended_at = sqlx::query_scalar!(
                r#"select line_close($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8))
                       as "ended_at: jiff_sqlx::Timestamp""#,
                key.tenant,
                key.agent,
                incarnation.get(),
                generation.get(),
                i32::from(end.code),
                end.tried.map(Seq::get),
                end.closed_by.slug(),
                grace.as_secs_f64()
            )
            .fetch_one(&mut *connection)
            .await?;
            let end = ended_at.map(|at| (key, LineEnd { at: at.to_jiff(), grace }));
            end_lines(connection, &end.into_iter().collect()).await
        })
    }
}
