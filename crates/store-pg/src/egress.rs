//! The store of sends.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_egress::{
    AbandonedSend, PastSend, PastSends, SendKey, SendPlace, SendResult, SendState, Store,
    WaitingSend,
};
use nightdesk_gate::AdmittedSend;
use nightdesk_lease::Owner;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{
    AgentId, BotId, Node, RequestId, StoreError, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::{BodyKind, BodyOwner};
use serde_json::json;
use sqlx::PgConnection;

use crate::Pg;
use crate::bodies::SealedBody;
use crate::register::audit::record_act;
use crate::row::{bad_column, moment};

#[async_trait]
impl Store for Pg {
    async fn record_request(
        &self,
        send: &AdmittedSend,
        asked_on: &str,
    ) -> Result<SendState, StoreError> {
        let (key, asked_on) = (SendKey::from(send), asked_on.to_owned());
        let (bot, chat) = (send.bot().uuid(), send.send().chat_id.clone());
        let makes_message = send.send().op.changed_message().is_none();
        let used = send.send().op.capability();
        let used = used.map(|kind| json!({ "agent_id": key.agent, "kind": kind }));
        let body = serde_json::to_vec(send.send())
            .map_err(|error| StoreError::broken("request a send", error))?;
        let sealed = self.seal_body(&send_owner(&key), &body).await?;
        let tenant = key.scope.tenant();
        run_to_end!(self.for_tenant("request a send", key.scope), |connection| {
            let new = sqlx::query!(
                "insert into sends
                     (tenant_id, agent_id, request_id, bot_id, chat_id, body, asked_on,
                      makes_message, key_id, body_id)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
                 where check_data_key($1, $9)
                 on conflict do nothing",
                key.scope.tenant().uuid(),
                key.agent.uuid(),
                key.request.as_str(),
                bot,
                chat,
                sealed.bytes,
                asked_on,
                makes_message,
                sealed.key.get(),
                sealed.id.uuid()
            )
            .execute(&mut *connection)
            .await?;
            if new.rows_affected() == 1 {
                if let Some(about) = used {
                    record_act(connection, key.scope, Kind::CapabilityUsed, about).await?;
                }
                return Ok(SendState::New);
            }
            // A separate statement: the row may have been committed after the insert's snapshot and be invisible to
            // the insert.
            read_send(&key, connection).await?.ok_or(sqlx::Error::RowNotFound)
        })
        .inspect_err(|_| self.bodies.forget_newest([tenant]))
    }

    async fn send_state(&self, send: &SendKey) -> Result<Option<SendState>, StoreError> {
        let key = send.clone();
        run_to_end!(self.for_tenant("read a send", key.scope), |connection| {
            read_send(&key, connection).await
        })
    }

    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError> {
        let (key, owner) = (send.clone(), owner.clone());
        run_to_end!(self.for_tenant("claim a send", key.scope), |connection| {
            let claimed = sqlx::query!(
                "update sends set state = 'calling', node = $4, node_epoch = $5,
                     called_at = now()
                 where tenant_id = $1 and agent_id = $2 and request_id = $3
                   and state = 'asked' and owns('bot/' || bot_id, $4, $5, $6)",
                key.scope.tenant().uuid(),
                key.agent.uuid(),
                key.request.as_str(),
                owner.node.name,
                owner.node.epoch.get(),
                owner.epoch.get()
            )
            .execute(connection)
            .await?;
            Ok(claimed.rows_affected() == 1)
        })
    }

    async fn settle(
        &self,
        send: &SendKey,
        node: &Node,
        settled: &SendResult,
    ) -> Result<bool, StoreError> {
        self.write_result(send, node, settled, "calling").await
    }

    async fn retract(
        &self,
        send: &SendKey,
        node: &Node,
        why: &SendResult,
    ) -> Result<bool, StoreError> {
        self.write_result(send, node, why, "asked").await
    }

    async fn waiting_sends(
        &self,
        node: &Node,
        sends_max: usize,
    ) -> Result<Vec<WaitingSend>, StoreError> {
        let asked_by = node.clone();
        let sends_max = i32::try_from(sends_max).unwrap_or(i32::MAX);
        let rows = run_to_end!(self.single("find waiting sends"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", agent_id as "agent!",
                       request_id as "request!", bot_id as "bot!", body as "body!",
                       key_id as "key!", body_id as "body_id!", asked_on,
                       asked_ago_ms as "asked_ago_ms!"
                   from door_waiting_sends($1, $2, $3)"#,
                asked_by.name,
                asked_by.epoch.get(),
                sends_max
            )
            .fetch_all(connection)
            .await?;
            let waiting = rows.into_iter().map(|row| {
                Ok(SealedSend {
                    key: SendKey {
                        scope: TenantScope::for_tenant(TenantId::from_uuid(row.tenant)),
                        agent: AgentId::from_uuid(row.agent),
                        request: request_id(row.request)?,
                    },
                    bot: BotId::from_uuid(row.bot),
                    body: SealedBody::from_row(row.key, row.body_id, row.body),
                    asked_on: row.asked_on,
                    waits_for: Duration::from_millis(row.asked_ago_ms.try_into().unwrap_or(0)),
                })
            });
            waiting.collect::<sqlx::Result<Vec<SealedSend>>>()
        })?;
        self.open_sends(node, rows).await
    }

    async fn ownerless_bots(&self, bots_max: usize) -> Result<Vec<BotId>, StoreError> {
        let bots_max = i32::try_from(bots_max).unwrap_or(i32::MAX);
        run_to_end!(self.single("find bots without an owner"), |connection| {
            let bots = sqlx::query_scalar!(
                r#"select bot_id as "bot!" from door_ownerless_bots($1)"#,
                bots_max
            )
            .fetch_all(connection)
            .await?;
            Ok(bots.into_iter().map(BotId::from_uuid).collect())
        })
    }

    async fn abandon_sends(&self, sends_max: usize) -> Result<Vec<AbandonedSend>, StoreError> {
        let sends_max = i32::try_from(sends_max).unwrap_or(i32::MAX);
        run_to_end!(self.single("give up sends"), |connection| {
            let rows = sqlx::query!(
                r#"select agent_id as "agent!", request_id as "request!", asked_on
                   from door_give_up_sends($1)"#,
                sends_max
            )
            .fetch_all(connection)
            .await?;
            rows.into_iter()
                .map(|row| {
                    Ok(AbandonedSend {
                        agent: AgentId::from_uuid(row.agent),
                        request: request_id(row.request)?,
                        asked_on: row.asked_on,
                    })
                })
                .collect()
        })
    }
}

/// A waiting send whose body is still sealed.
struct SealedSend {
    key: SendKey,
    bot: BotId,
    body: SealedBody,
    asked_on: Option<String>,
    waits_for: Duration,
}

/// Returns the owner of a send.
const fn send_owner(key: &SendKey) -> BodyOwner {
    BodyOwner { tenant: key.scope.tenant(), party: key.agent.uuid(), kind: BodyKind::Send }
}

impl Pg {
    /// Opens sends. One that does not open has failed, so that its agent hears of it and the others go on.
    async fn open_sends(
        &self,
        node: &Node,
        sealed: Vec<SealedSend>,
    ) -> Result<Vec<WaitingSend>, StoreError> {
        let places = sealed.iter().map(|send| (send.key.scope.tenant(), send.body.key));
        let keys = self.opening_keys(places).await?;
        let mut waiting = Vec::with_capacity(sealed.len());
        for SealedSend { key, bot, body, asked_on, waits_for } in sealed {
            let opened = keys.open(&send_owner(&key), body).ok();
            match opened.and_then(|body| serde_json::from_slice(&body).ok()) {
                Some(send) => waiting.push(WaitingSend { key, bot, send, asked_on, waits_for }),
                None => {
                    self.write_result(&key, node, &SendResult::unreadable(), "asked").await?;
                }
            }
        }
        Ok(waiting)
    }

    /// Writes the result of a send, if the send is in state `from`.
    async fn write_result(
        &self,
        send: &SendKey,
        node: &Node,
        settled: &SendResult,
        from: &'static str,
    ) -> Result<bool, StoreError> {
        let (key, node) = (send.clone(), node.clone());
        let (ids, own_chats): (Vec<String>, Vec<Option<String>>) =
            settled.made_messages().into_iter().map(|made| (made.id, made.own_chat)).unzip();
        let (state, receipt) = match settled {
            SendResult::Ambiguous => ("ambiguous", None),
            SendResult::Delivered(_) | SendResult::InParts(_) | SendResult::Failed(_) => {
                let receipt = serde_json::to_vec(settled)
                    .map_err(|error| StoreError::broken("settle a send", error))?;
                ("settled", Some(receipt))
            }
        };
        run_to_end!(self.for_tenant("settle a send", key.scope), |connection| {
            sqlx::query_scalar!(
                r#"with settled as (
                     update sends set state = $6, receipt = $7, settled_at = now(), body = '',
                         node = $4, node_epoch = $5, called_at = coalesce(called_at, now())
                     where tenant_id = $1 and agent_id = $2 and request_id = $3 and state = $8
                       and (state = 'asked'
                           or (node = $4 and node_epoch = $5 and node_lives($4, $5)))
                     returning bot_id, chat_id, makes_message
                 ), made as (
                     insert into sent_messages
                         (tenant_id, agent_id, request_id, bot_id, chat_id, message_id)
                     select $1, $2, $3, s.bot_id, coalesce(m.own_chat, s.chat_id), m.id
                     from settled s, unnest($9::text[], $10::text[]) as m (id, own_chat)
                     where s.makes_message
                     on conflict do nothing
                 )
                 select exists (select from settled) as "settled!""#,
                key.scope.tenant().uuid(),
                key.agent.uuid(),
                key.request.as_str(),
                node.name,
                node.epoch.get(),
                state,
                receipt,
                from,
                &ids,
                &own_chats as &[Option<String>]
            )
            .fetch_one(connection)
            .await
        })
    }
}

#[async_trait]
impl PastSends for Pg {
    async fn read_past_sends(
        &self,
        scope: TenantScope,
        agent: AgentId,
        place: SendPlace<'_>,
        since: Timestamp,
    ) -> Result<Vec<PastSend>, StoreError> {
        let (bot, chat) = (place.bot.uuid(), place.chat_id.to_owned());
        run_to_end!(self.for_tenant("read an agent's sends", scope), |connection| {
            let rows = sqlx::query!(
                r#"select request_id, asked_at as "asked_at: jiff_sqlx::Timestamp", state,
                       receipt
                   from sends
                   where tenant_id = $1 and agent_id = $2 and bot_id = $3 and chat_id = $4
                     and asked_at >= $5
                   order by asked_at limit $6"#,
                scope.tenant().uuid(),
                agent.uuid(),
                bot,
                chat,
                moment(since) as jiff_sqlx::Timestamp,
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let said = rows.into_iter().map(|row| {
                Ok(PastSend {
                    request: request_id(row.request_id)?,
                    asked_at: row.asked_at.to_jiff(),
                    result: match read_state(&row.state, row.receipt.as_deref())? {
                        SendState::Settled(settled) => Some(settled),
                        SendState::New | SendState::UnderWay => None,
                    },
                })
            });
            said.collect()
        })
    }
}

async fn read_send(
    key: &SendKey,
    connection: &mut PgConnection,
) -> sqlx::Result<Option<SendState>> {
    let row = sqlx::query!(
        "select state, receipt from sends
         where tenant_id = $1 and agent_id = $2 and request_id = $3",
        key.scope.tenant().uuid(),
        key.agent.uuid(),
        key.request.as_str()
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| read_state(&row.state, row.receipt.as_deref())).transpose()
}

fn read_state(state: &str, receipt: Option<&[u8]>) -> sqlx::Result<SendState> {
    match (state, receipt) {
        ("asked" | "calling", _) => Ok(SendState::UnderWay),
        ("ambiguous", _) => Ok(SendState::Settled(SendResult::Ambiguous)),
        ("settled", Some(receipt)) => serde_json::from_slice(receipt)
            .map(SendState::Settled)
            .map_err(|_| bad_column("sends", "receipt")),
        _ => Err(bad_column("sends", "state")),
    }
}

fn request_id(text: String) -> sqlx::Result<RequestId> {
    RequestId::new(text).ok_or_else(|| bad_column("sends", "request_id"))
}
