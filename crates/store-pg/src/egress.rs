//! The store of sends.

use async_trait::async_trait;
use nightdesk_egress::{Asked, LeftOver, Owner, SendKey, Settled, Store};
use nightdesk_gate::AdmittedSend;
use nightdesk_types::limits::SEND_FORGOTTEN_AFTER;
use nightdesk_types::{AgentId, BotId, RequestId, StoreError, TenantId, TenantScope};

use crate::Pg;
use crate::row::misfit;

#[async_trait]
impl Store for Pg {
    async fn ask(&self, send: &AdmittedSend) -> Result<Asked, StoreError> {
        let key = SendKey::from(send);
        let (bot, chat) = (send.bot().uuid(), send.send().chat_id.clone());
        let body = serde_json::to_vec(send.send())
            .map_err(|error| StoreError::broken("ask for a send", error))?;
        self.scoped("ask for a send", key.scope, move |connection| {
            Box::pin(async move {
                let (tenant, agent) = (key.scope.tenant().uuid(), key.agent.uuid());
                let new = sqlx::query!(
                    "insert into sends (tenant_id, agent_id, request_id, bot_id, chat_id, body)
                     values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
                    tenant,
                    agent,
                    key.request.as_str(),
                    bot,
                    chat,
                    body
                )
                .execute(&mut *connection)
                .await?;
                if new.rows_affected() == 1 {
                    return Ok(Asked::New);
                }
                // A statement of its own: the row may have been committed after the insert's
                // snapshot was taken, and be invisible to it.
                let before = sqlx::query!(
                    "select state, receipt from sends
                     where tenant_id = $1 and agent_id = $2 and request_id = $3",
                    tenant,
                    agent,
                    key.request.as_str()
                )
                .fetch_one(connection)
                .await?;
                asked_before(&before.state, before.receipt)
            })
        })
        .await
    }

    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError> {
        let (key, owner) = (send.clone(), owner.clone());
        self.scoped("claim a send", key.scope, move |connection| {
            Box::pin(async move {
                let claimed = sqlx::query!(
                    "update sends set state = 'calling', node = $4, node_epoch = $5,
                         called_at = now()
                     where tenant_id = $1 and agent_id = $2 and request_id = $3
                       and state = 'asked'",
                    key.scope.tenant().uuid(),
                    key.agent.uuid(),
                    key.request.as_str(),
                    owner.node,
                    owner.epoch.get()
                )
                .execute(connection)
                .await?;
                Ok(claimed.rows_affected() == 1)
            })
        })
        .await
    }

    async fn settle(
        &self,
        send: &SendKey,
        owner: &Owner,
        settled: &Settled,
    ) -> Result<bool, StoreError> {
        let (key, owner) = (send.clone(), owner.clone());
        let (state, receipt) = match settled {
            Settled::Ambiguous => ("ambiguous", None),
            Settled::Delivered(_) | Settled::InParts(_) | Settled::Failed(_) => {
                let receipt = serde_json::to_vec(settled)
                    .map_err(|error| StoreError::broken("settle a send", error))?;
                ("settled", Some(receipt))
            }
        };
        self.scoped("settle a send", key.scope, move |connection| {
            Box::pin(async move {
                let settled = sqlx::query!(
                    "update sends set state = $6, receipt = $7, settled_at = now()
                     where tenant_id = $1 and agent_id = $2 and request_id = $3
                       and state = 'calling' and node = $4 and node_epoch = $5",
                    key.scope.tenant().uuid(),
                    key.agent.uuid(),
                    key.request.as_str(),
                    owner.node,
                    owner.epoch.get(),
                    state,
                    receipt
                )
                .execute(connection)
                .await?;
                Ok(settled.rows_affected() == 1)
            })
        })
        .await
    }

    async fn left_over(
        &self,
        owner: &Owner,
        sends_max: usize,
    ) -> Result<Vec<LeftOver>, StoreError> {
        let owner = owner.clone();
        let sends_max = i32::try_from(sends_max).unwrap_or(i32::MAX);
        self.single("find forgotten sends", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query!(
                    r#"select tenant_id as "tenant!", agent_id as "agent!",
                           request_id as "request!", bot_id as "bot!", body as "body!",
                           was_called as "was_called!"
                       from door_left_over($1, $2, make_interval(secs => $3), $4)"#,
                    owner.node,
                    owner.epoch.get(),
                    SEND_FORGOTTEN_AFTER.as_secs_f64(),
                    sends_max
                )
                .fetch_all(connection)
                .await?;
                rows.into_iter()
                    .map(|row| {
                        let request = RequestId::new(row.request);
                        let key = SendKey {
                            scope: TenantScope::of(TenantId::from_uuid(row.tenant)),
                            agent: AgentId::from_uuid(row.agent),
                            request: request.ok_or_else(|| misfit("sends", "request_id"))?,
                        };
                        let send = serde_json::from_slice(&row.body)
                            .map_err(|_| misfit("sends", "body"))?;
                        let bot = BotId::from_uuid(row.bot);
                        Ok(LeftOver { key, bot, send, was_called: row.was_called })
                    })
                    .collect()
            })
        })
        .await
    }

    async fn give_up(&self, send: &SendKey, owner: &Owner) -> Result<(), StoreError> {
        let (key, owner) = (send.clone(), owner.clone());
        self.scoped("give a send up", key.scope, move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "update sends set state = 'ambiguous', settled_at = now()
                     where tenant_id = $1 and agent_id = $2 and request_id = $3
                       and state = 'calling' and node = $4 and node_epoch < $5",
                    key.scope.tenant().uuid(),
                    key.agent.uuid(),
                    key.request.as_str(),
                    owner.node,
                    owner.epoch.get()
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }
}

fn asked_before(state: &str, receipt: Option<Vec<u8>>) -> sqlx::Result<Asked> {
    match (state, receipt) {
        ("asked" | "calling", _) => Ok(Asked::UnderWay),
        ("ambiguous", _) => Ok(Asked::Settled(Settled::Ambiguous)),
        ("settled", Some(receipt)) => serde_json::from_slice(&receipt)
            .map(Asked::Settled)
            .map_err(|_| misfit("sends", "receipt")),
        _ => Err(misfit("sends", "state")),
    }
}
