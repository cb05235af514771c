//! Letters that are due, and replies to letters.

use nightdesk_gate::LetterGrants;
use nightdesk_letters::decide::{DueDecision, DueFacts, decide_due, decide_reply};
use nightdesk_letters::{DueLetter, LetterEntry, LetterState, Party, ReplyOutcome, Route};
use nightdesk_types::{AgentId, BotId, LetterId, TenantId, TenantScope};
use nightdesk_vault::SEALED_EXTRA_BYTES;
use sqlx::PgConnection;
use uuid::Uuid;

use super::row::CapacityRow;
use crate::bodies::SealedBody;
use crate::row::bad_column;

/// A letter that came to an agent, and the facts that decide on its delivery.
struct DueRow {
    from_tenant: Option<Uuid>,
    from_agent: Option<Uuid>,
    bot: Option<Uuid>,
    chat: Option<String>,
    body: Option<Vec<u8>>,
    key_id: Option<i64>,
    body_id: Option<Uuid>,
    route: Option<String>,
    is_granted: Option<bool>,
    is_granted_back: Option<bool>,
    entries: Option<i64>,
    entries_max: Option<i64>,
    bytes: Option<i64>,
    bytes_max: Option<i64>,
}

impl DueRow {
    fn facts(&self, to: Party) -> Option<DueFacts> {
        let tenant = TenantId::from_uuid(self.from_tenant?);
        let agent = AgentId::from_uuid(self.from_agent?);
        let Self { entries, entries_max, bytes, bytes_max, .. } = self;
        let room = CapacityRow {
            entries: *entries,
            entries_max: *entries_max,
            bytes: *bytes,
            bytes_max: *bytes_max,
        };
        Some(DueFacts {
            from: Party { scope: TenantScope::for_tenant(tenant), agent },
            to,
            grants: LetterGrants {
                by_sender: self.is_granted.unwrap_or_default(),
                by_recipient: self.is_granted_back.unwrap_or_default(),
            },
            capacity: room.capacity(),
            body_bytes: self
                .body
                .as_ref()
                .map(|body| body.len().saturating_sub(SEALED_EXTRA_BYTES)),
        })
    }

    fn due(self, is_full: bool) -> sqlx::Result<(DueLetter, SealedBody)> {
        let (entry, sealed) = (self.bot.zip(self.chat), self.key_id.zip(self.body_id));
        let whole = entry.zip(sealed).zip(self.body);
        let (((bot, chat_id), (key, id)), bytes) =
            whole.ok_or_else(|| bad_column("letters", "body"))?;
        let route = self.route.as_deref().and_then(Route::from_slug);
        let due = DueLetter {
            entry: LetterEntry { bot: BotId::from_uuid(bot), chat_id, body: Vec::new() },
            route: route.ok_or_else(|| bad_column("letters", "route"))?,
            is_full,
        };
        Ok((due, SealedBody::from_row(key, id, bytes)))
    }
}

/// Returns a letter that is due, without its body, and its sealed body.
pub(super) async fn take_due(
    connection: &mut PgConnection,
    to: Party,
    letter: LetterId,
) -> sqlx::Result<Option<(DueLetter, SealedBody)>> {
    let row = sqlx::query_as!(
        DueRow,
        "select from_tenant, from_agent, bot, chat, body, key_id, body_id, route, is_granted,
             is_granted_back, entries, entries_max, bytes, bytes_max
         from letter_due_facts($1, $2, $3)",
        to.scope.tenant().uuid(),
        to.agent.uuid(),
        letter.uuid()
    )
    .fetch_one(&mut *connection)
    .await?;
    let Some(facts) = row.facts(to) else { return Ok(None) };
    match decide_due(&facts) {
        DueDecision::Drop => Ok(None),
        DueDecision::WaitForRoom => row.due(true).map(Some),
        DueDecision::Deliver => {
            mark_put(connection, facts.from, letter).await?;
            row.due(false).map(Some)
        }
    }
}

async fn mark_put(
    connection: &mut PgConnection,
    from: Party,
    letter: LetterId,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update letters set state = 'put'
         where tenant_id = $1 and letter_id = $2 and state = 'scheduled'",
        from.scope.tenant().uuid(),
        letter.uuid()
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Returns the sender of a letter that came to an agent.
pub(super) async fn read_sender(
    connection: &mut PgConnection,
    by: Party,
    letter: LetterId,
) -> sqlx::Result<Option<Party>> {
    let row = sqlx::query!(
        "select from_tenant, from_agent from letter_sender($1, $2, $3)",
        by.scope.tenant().uuid(),
        by.agent.uuid(),
        letter.uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok(row.from_tenant.zip(row.from_agent).map(|(tenant, agent)| Party {
        scope: TenantScope::for_tenant(TenantId::from_uuid(tenant)),
        agent: AgentId::from_uuid(agent),
    }))
}

pub(super) async fn decide_and_reply(
    connection: &mut PgConnection,
    by: Party,
    letter: LetterId,
    words: SealedBody,
) -> sqlx::Result<ReplyOutcome> {
    let row = sqlx::query!(
        r#"select from_tenant, state, reply_by as "reply_by: jiff_sqlx::Timestamp",
               now_at as "now_at: jiff_sqlx::Timestamp"
           from letter_reply_facts($1, $2, $3)"#,
        by.scope.tenant().uuid(),
        by.agent.uuid(),
        letter.uuid()
    )
    .fetch_one(&mut *connection)
    .await?;
    let Some(((from, state), now)) = row.from_tenant.zip(row.state).zip(row.now_at) else {
        return Ok(ReplyOutcome::Unknown);
    };
    let state = LetterState::from_slug(&state).ok_or_else(|| bad_column("letters", "state"))?;
    let reply_by = row.reply_by.map(jiff_sqlx::Timestamp::to_jiff);
    let replied = decide_reply(state, reply_by, now.to_jiff());
    match replied {
        ReplyOutcome::Taken => store_reply(connection, from, letter, words, now).await?,
        ReplyOutcome::Late => end_wait(connection, from, letter).await?,
        ReplyOutcome::Again | ReplyOutcome::Unknown => {}
    }
    Ok(replied)
}

async fn store_reply(
    connection: &mut PgConnection,
    from: Uuid,
    letter: LetterId,
    words: SealedBody,
    now: jiff_sqlx::Timestamp,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update letters set state = 'replied', reply = $3, reply_key_id = $5, reply_body_id = $6,
             replied_at = $4
         where tenant_id = $1 and letter_id = $2 and check_data_key($1, $5)",
        from,
        letter.uuid(),
        words.bytes,
        now as jiff_sqlx::Timestamp,
        words.key.get(),
        words.id.uuid()
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn end_wait(connection: &mut PgConnection, from: Uuid, letter: LetterId) -> sqlx::Result<()> {
    sqlx::query!(
        "update letters set state = 'timed-out' where tenant_id = $1 and letter_id = $2",
        from,
        letter.uuid()
    )
    .execute(connection)
    .await?;
    Ok(())
}
