//! The inbox's store. Each gathered statement has its own file.

mod accept;
mod ack;
mod admin;
mod read;

use async_trait::async_trait;
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRequest, LineClaim, ParkOutcome, ParkReason, PutOutcome,
    QuarantinedEvent, ReadRequest, ReadResponse, SourceCursor, Store,
};
use nightdesk_types::limits::QUARANTINE_KEPT_MAX;
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantScope};
use nightdesk_vault::BodyKind;
use uuid::Uuid;

pub(crate) use admin::put_local_entry;

use crate::Pg;
use crate::bodies::bot_owner;

#[async_trait]
impl Store for Pg {
    async fn accept(&self, events: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError> {
        accept::accept_events(self, events).await
    }

    async fn read_waiting(&self, asks: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError> {
        read::read_waiting(self, asks).await
    }

    async fn ack(&self, acks: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError> {
        ack::store_acks(self, acks).await
    }

    async fn park(
        &self,
        line: &LineClaim,
        seq: Seq,
        reason: ParkReason,
    ) -> Result<ParkOutcome, StoreError> {
        let LineClaim { scope, agent, incarnation, generation } = *line;
        run_to_end!(self.for_tenant("park an entry", scope), |connection| {
            let parked = sqlx::query_scalar!(
                "select line_park($1, $2, $3, $4, $5, $6)",
                scope.tenant().uuid(),
                agent.uuid(),
                incarnation.get(),
                generation.get(),
                seq.get(),
                reason.slug()
            )
            .fetch_one(connection)
            .await?;
            Ok(match parked {
                None => ParkOutcome::LineReplaced,
                Some(true) => ParkOutcome::Parked,
                Some(false) => ParkOutcome::NotWaiting,
            })
        })
    }

    async fn read_heads(&self, agents: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError> {
        let tenants: Vec<Uuid> = agents.iter().map(|(scope, _)| scope.tenant().uuid()).collect();
        let ids: Vec<Uuid> = agents.iter().map(|(_, agent)| agent.uuid()).collect();
        run_to_end!(self.single("check inboxes"), |connection| {
            let heads = sqlx::query_scalar!(
                r#"select seq as "seq!" from inbox_last_seqs($1, $2)"#,
                &tenants,
                &ids
            )
            .fetch_all(connection)
            .await?;
            Ok(heads.into_iter().map(Seq::new).collect())
        })
    }

    async fn take_source(
        &self,
        operator: TenantScope,
        bot: BotId,
        source: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError> {
        let source = source.to_owned();
        run_to_end!(self.for_tenant("claim a source", operator), |connection| {
            let row = sqlx::query!(
                "insert into source_cursors as c (tenant_id, bot_id, source, epoch)
                 values ($1, $2, $3, 1)
                 on conflict (tenant_id, bot_id, source) do update set epoch = c.epoch + 1
                 returning epoch, cursor",
                operator.tenant().uuid(),
                bot.uuid(),
                source
            )
            .fetch_one(connection)
            .await?;
            Ok((NodeEpoch::new(row.epoch), row.cursor))
        })
    }

    async fn move_cursor(
        &self,
        operator: TenantScope,
        bot: BotId,
        mark: &SourceCursor,
    ) -> Result<bool, StoreError> {
        let mark = mark.clone();
        run_to_end!(self.for_tenant("move a source's cursor", operator), |connection| {
            let moved = sqlx::query!(
                "update source_cursors set cursor = $4, moved_at = now()
                 where tenant_id = $1 and bot_id = $2 and source = $3 and epoch = $5",
                operator.tenant().uuid(),
                bot.uuid(),
                mark.source,
                mark.cursor,
                mark.epoch.get()
            )
            .execute(connection)
            .await?;
            Ok(moved.rows_affected() == 1)
        })
    }

    async fn quarantine(&self, unreadable: &QuarantinedEvent) -> Result<(), StoreError> {
        let QuarantinedEvent { operator, bot, problem, .. } = unreadable.clone();
        let owner = bot_owner(operator, bot, BodyKind::Quarantined);
        let sealed = self.seal_body(&owner, &unreadable.body).await?;
        run_to_end!(self.for_tenant("quarantine an event", operator), |connection| {
            sqlx::query!(
                "with head as (
                     insert into quarantine_heads as h (tenant_id, bot_id, next_number)
                     values ($1, $2, 1)
                     on conflict (tenant_id, bot_id) do update
                     set next_number = h.next_number + 1
                     returning h.next_number
                 )
                 insert into quarantined
                     (tenant_id, bot_id, slot, number, problem, body, key_id, body_id)
                 select $1, $2, head.next_number % $7, head.next_number, $3, $4, $5, $6
                 from head where check_data_key($1, $5)
                 on conflict (tenant_id, bot_id, slot) do update
                 set number = excluded.number, at = excluded.at,
                     problem = excluded.problem, body = excluded.body,
                     key_id = excluded.key_id, body_id = excluded.body_id",
                operator.tenant().uuid(),
                bot.uuid(),
                problem,
                sealed.bytes,
                sealed.key.get(),
                sealed.id.uuid(),
                QUARANTINE_KEPT_MAX
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}

/// Returns the tenants of a gathered statement, each once.
pub(crate) fn tenants_of(scopes: impl Iterator<Item = TenantScope>) -> Vec<Uuid> {
    let mut tenants: Vec<Uuid> = scopes.map(|scope| scope.tenant().uuid()).collect();
    tenants.sort_unstable();
    tenants.dedup();
    tenants
}

/// Returns the ordinal number of an item in its batch, counted from one.
fn ordinal(index: usize) -> i32 {
    i32::try_from(index + 1).unwrap_or(i32::MAX)
}
