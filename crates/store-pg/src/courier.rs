//! The store of letters, of what came of them, and of who may write to whom.

mod grants;
mod hooks;
mod row;

use async_trait::async_trait;
use nightdesk_courier::{
    Due, Letter, LetterEntry, Letters, Live, NewLetter, Party, Peer, Put, Receipts, Record,
    Replied, Route,
};
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{HOP_REMEMBERED, HOPS_MAX, LETTERS_PAGE_MAX};
use nightdesk_types::{Actor, AgentId, BotId, LetterId, Seq, StoreError, TenantId, TenantScope};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use self::row::LetterRow;
use crate::Pg;
use crate::register::audit::tell;
use crate::row::{misfit, moment};

#[async_trait]
impl Letters for Pg {
    async fn put(&self, letter: &NewLetter, entry: &LetterEntry) -> Result<Put, StoreError> {
        let (letter, entry) = (letter.clone(), entry.clone());
        self.scoped("put a letter", letter.from.scope, move |connection| {
            Box::pin(async move {
                let put = put(&mut *connection, &letter, &entry).await?;
                let by_hand = letter.from.scope.actor() == Actor::Operator;
                if by_hand && matches!(put, Put::Stored { .. } | Put::Kept | Put::Noted) {
                    let about = json!({ "agent_id": letter.to.agent, "letter_id": letter.id });
                    tell(connection, letter.from.scope, Kind::EntryPut, about).await?;
                }
                Ok(put)
            })
        })
        .await
    }

    async fn due(&self, to: Party, letter: LetterId) -> Result<Option<Due>, StoreError> {
        self.single("look for a letter that is due", move |connection| {
            Box::pin(async move {
                let row = sqlx::query!(
                    r#"select bot, chat, body, route, is_full as "is_full!"
                       from letter_due($1, $2, $3)"#,
                    to.scope.tenant().uuid(),
                    to.agent.uuid(),
                    letter.uuid()
                )
                .fetch_one(connection)
                .await?;
                let Some(((bot, chat_id), body)) = row.bot.zip(row.chat).zip(row.body) else {
                    return Ok(None);
                };
                let route = row.route.as_deref().and_then(Route::named);
                Ok(Some(Due {
                    entry: LetterEntry { bot: BotId::from_uuid(bot), chat_id, body },
                    route: route.ok_or_else(|| misfit("letters", "route"))?,
                    is_full: row.is_full,
                }))
            })
        })
        .await
    }

    async fn came(&self, to: Party, letter: LetterId, seq: Option<Seq>) -> Result<(), StoreError> {
        self.single("note where a letter lies", move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "select letter_came($1, $2, $3, $4)",
                    to.scope.tenant().uuid(),
                    to.agent.uuid(),
                    letter.uuid(),
                    seq.map(Seq::get)
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn reply(&self, by: Party, letter: LetterId, words: &str) -> Result<Replied, StoreError> {
        let words = words.to_owned();
        self.single("take a reply", move |connection| {
            Box::pin(async move {
                let outcome = sqlx::query_scalar!(
                    r#"select outcome as "outcome!" from letter_reply($1, $2, $3, $4)"#,
                    by.scope.tenant().uuid(),
                    by.agent.uuid(),
                    letter.uuid(),
                    words
                )
                .fetch_one(connection)
                .await?;
                match outcome.as_str() {
                    "taken" => Ok(Replied::Taken),
                    "again" => Ok(Replied::Again),
                    "late" => Ok(Replied::Late),
                    "unknown" => Ok(Replied::Unknown),
                    _ => Err(misfit("letter_reply", "outcome")),
                }
            })
        })
        .await
    }

    async fn letter(&self, from: Party, letter: LetterId) -> Result<Option<Letter>, StoreError> {
        self.single("look at a letter", move |connection| {
            Box::pin(async move { looked_at(connection, from, letter).await })
        })
        .await
    }

    async fn letters(
        &self,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<Letter>, StoreError> {
        self.single("list letters", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query_as!(
                    LetterRow,
                    r#"select letter_id as "letter_id!", agent_id as "agent_id!",
                           to_agent_id as "to_agent_id!", dispatch_id as "dispatch_id!",
                           route as "route!", kind as "kind!", session, correlation_id,
                           hop as "hop!", state as "state!", seq, is_acked as "is_acked!",
                           sent_at as "sent_at!: jiff_sqlx::Timestamp",
                           due_at as "due_at: jiff_sqlx::Timestamp",
                           reply_by as "reply_by: jiff_sqlx::Timestamp", reply,
                           replied_at as "replied_at: jiff_sqlx::Timestamp"
                       from letters_page($1, $2, $3, $4)"#,
                    from.scope.tenant().uuid(),
                    from.agent.uuid(),
                    before.map(LetterId::uuid),
                    i32::try_from(LETTERS_PAGE_MAX).unwrap_or(i32::MAX)
                )
                .fetch_all(connection)
                .await?;
                rows.into_iter().map(LetterRow::letter).collect()
            })
        })
        .await
    }

    async fn peers(&self, of: Party, at_most: usize) -> Result<Vec<Peer>, StoreError> {
        self.single("look whom an agent can write to", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query!(
                    r#"select tenant as "tenant!", agent as "agent!", name, session, is_busy
                       from letter_peers($1, $2, $3)"#,
                    of.scope.tenant().uuid(),
                    of.agent.uuid(),
                    i32::try_from(at_most).unwrap_or(i32::MAX)
                )
                .fetch_all(connection)
                .await?;
                let peers = rows.into_iter().map(|row| {
                    let tenant = TenantId::from_uuid(row.tenant);
                    let is_own = tenant == of.scope.tenant();
                    let scope = if is_own { of.scope } else { TenantScope::of(tenant) };
                    Peer {
                        party: Party { scope, agent: AgentId::from_uuid(row.agent) },
                        name: row.name,
                        live: lives(row.session, row.is_busy),
                    }
                });
                Ok(peers.collect())
            })
        })
        .await
    }

    async fn live(&self, party: Party) -> Result<Option<Live>, StoreError> {
        self.scoped("look for a line", party.scope, move |connection| {
            Box::pin(live(connection, party))
        })
        .await
    }
}

/// What came of putting a letter, as the database says it.
struct PutRow {
    outcome: String,
    letter: Option<Uuid>,
    seq: Option<i64>,
}

async fn put(
    connection: &mut PgConnection,
    letter: &NewLetter,
    entry: &LetterEntry,
) -> sqlx::Result<Put> {
    let PutRow { outcome, letter: id, seq } = written(connection, letter, entry).await?;
    match (outcome.as_str(), id, seq) {
        ("stored", _, Some(seq)) => {
            Ok(Put::Stored { seq: Seq::new(seq), live: live(connection, letter.to).await? })
        }
        ("kept", ..) => Ok(Put::Kept),
        ("noted", ..) => Ok(Put::Noted),
        ("duplicate", Some(id), _) => {
            let before = looked_at(connection, letter.from, LetterId::from_uuid(id)).await?;
            before.map(Box::new).map(Put::Duplicate).ok_or_else(|| misfit("letters", "letter_id"))
        }
        ("unknown", ..) => Ok(Put::Unknown),
        ("not-granted", ..) => Ok(Put::NotGranted),
        ("hops", ..) => Ok(Put::TooManyHops),
        ("full", ..) => Ok(Put::Full),
        _ => Err(misfit("letter_put", "outcome")),
    }
}

#[expect(
    clippy::cognitive_complexity,
    reason = "the macro makes a branch of every argument; it is one statement"
)]
async fn written(
    connection: &mut PgConnection,
    letter: &NewLetter,
    entry: &LetterEntry,
) -> sqlx::Result<PutRow> {
    let NewLetter { from, to, .. } = letter;
    sqlx::query_as!(
        PutRow,
        r#"select outcome as "outcome!", letter, seq from letter_put(
               $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, make_interval(secs => $12), $13, $14,
               $15, $16, make_interval(secs => $17), $18)"#,
        from.scope.tenant().uuid(),
        from.agent.uuid(),
        to.scope.tenant().uuid(),
        to.agent.uuid(),
        letter.id.uuid(),
        letter.dispatch_id,
        letter.route.slug(),
        letter.kind.slug(),
        letter.session,
        letter.correlation_id,
        letter.when.map(moment) as Option<jiff_sqlx::Timestamp>,
        letter.wait.map(|wait| wait.as_secs_f64()),
        entry.bot.uuid(),
        entry.chat_id,
        entry.body,
        i32::try_from(HOPS_MAX).unwrap_or(i32::MAX),
        HOP_REMEMBERED.as_secs_f64(),
        letter.goes_out
    )
    .fetch_one(connection)
    .await
}

async fn live(connection: &mut PgConnection, to: Party) -> sqlx::Result<Option<Live>> {
    let row = sqlx::query!(
        "select session, is_busy from letter_live($1, $2)",
        to.scope.tenant().uuid(),
        to.agent.uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok(lives(row.session, row.is_busy))
}

fn lives(session: Option<String>, is_busy: Option<bool>) -> Option<Live> {
    session.map(|session| Live { session, is_busy: is_busy.unwrap_or_default() })
}

async fn looked_at(
    connection: &mut PgConnection,
    from: Party,
    letter: LetterId,
) -> sqlx::Result<Option<Letter>> {
    let row = sqlx::query_as!(
        LetterRow,
        r#"select letter_id as "letter_id!", agent_id as "agent_id!", to_agent_id as "to_agent_id!",
               dispatch_id as "dispatch_id!", route as "route!", kind as "kind!", session,
               correlation_id, hop as "hop!", state as "state!", seq, is_acked as "is_acked!",
               sent_at as "sent_at!: jiff_sqlx::Timestamp",
               due_at as "due_at: jiff_sqlx::Timestamp",
               reply_by as "reply_by: jiff_sqlx::Timestamp", reply,
               replied_at as "replied_at: jiff_sqlx::Timestamp"
           from letter_look($1, $2, $3)"#,
        from.scope.tenant().uuid(),
        from.agent.uuid(),
        letter.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(LetterRow::letter).transpose()
}

#[async_trait]
impl Receipts for Pg {
    async fn note(&self, scope: TenantScope, record: &Record) -> Result<(), StoreError> {
        let record = record.clone();
        self.scoped("note what came of a letter", scope, move |connection| {
            Box::pin(async move {
                let came = serde_json::to_value(&record.came).map_err(|error| sqlx::Error::Encode(error.into()))?;
                sqlx::query!(
                    "insert into letter_receipts
                         (tenant_id, dispatch_id, connector, address, route, came)
                     values ($1, $2, $3, $4, $5, $6)
                     on conflict (tenant_id, dispatch_id, connector, address) do update
                     set route = excluded.route, came = excluded.came, noted_at = excluded.noted_at",
                    scope.tenant().uuid(),
                    record.dispatch_id,
                    record.connector,
                    record.address,
                    record.route.slug(),
                    came
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<Record>, StoreError> {
        let dispatch_id = dispatch_id.to_owned();
        self.scoped("look what came of a letter", scope, move |connection| {
            Box::pin(async move {
                let rows = sqlx::query!(
                    "select connector, address, route, came from letter_receipts
                     where tenant_id = $1 and dispatch_id = $2 order by connector, address",
                    scope.tenant().uuid(),
                    dispatch_id
                )
                .fetch_all(connection)
                .await?;
                let records = rows.into_iter().map(|row| {
                    let route = Route::named(&row.route);
                    let came = serde_json::from_value(row.came);
                    Ok(Record {
                        dispatch_id: dispatch_id.clone(),
                        connector: row.connector,
                        address: row.address,
                        route: route.ok_or_else(|| misfit("letter_receipts", "route"))?,
                        came: came.map_err(|_| misfit("letter_receipts", "came"))?,
                    })
                });
                records.collect()
            })
        })
        .await
    }
}
