//! The store of chats on the desk's own pages.

use async_trait::async_trait;
use nightdesk_types::limits::{CHAT_KEPT_DAYS, CHAT_LINES_KEPT_MAX, UPKEEP_ROWS_MAX};
use nightdesk_types::{StoreError, Timestamp};
use nightdesk_vault::{BodyKind, BodyOwner};
use nightdesk_webchat::store::{
    AgentMessage, ChatPrompt, ChatUpdate, LineChange, Store, VisitorChat, VisitorMessage,
    WriteOutcome,
};
use sqlx::PgConnection;

use self::read::SealedUpdate;
use crate::Pg;
use crate::bodies::{SealedBody, SealedColumns, bot_owner};
use crate::row::{bad_column, moment};
use crate::upkeep::run_batches;

mod read;

/// A new line, sealed for its bot.
struct NewLine {
    at: Timestamp,
    author: &'static str,
    text: SealedBody,
    nonce: Option<String>,
    prompt: Option<SealedBody>,
}

#[async_trait]
impl Store for Pg {
    async fn write_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError> {
        let (chat, VisitorMessage { at, nonce, text }) = (chat.clone(), said.clone());
        let text = self.seal_body(&chat_owner(&chat), text.as_bytes()).await?;
        let line = NewLine { at, author: "visitor", text, nonce: Some(nonce), prompt: None };
        run_to_end!(self.for_tenant("store a visitor's message", chat.scope), |connection| {
            let written = write(connection, &chat, line).await?;
            Ok(if written.is_some() { WriteOutcome::New } else { WriteOutcome::Before })
        })
    }

    async fn write_agent_message(
        &self,
        chat: &VisitorChat,
        answer: &AgentMessage,
    ) -> Result<i64, StoreError> {
        let (chat, AgentMessage { at, text, prompt }) = (chat.clone(), answer.clone());
        let text = self.seal_body(&chat_owner(&chat), text.as_bytes()).await?;
        let prompt = match prompt {
            Some(prompt) => Some(self.seal_prompt(&chat, &prompt).await?),
            None => None,
        };
        let line = NewLine { at, author: "agent", text, nonce: None, prompt };
        run_to_end!(self.for_tenant("store an agent's message", chat.scope), |connection| {
            let written = write(connection, &chat, line).await?;
            set_status(connection, &chat, None).await?;
            written.ok_or_else(|| bad_column("webchat_messages", "nonce"))
        })
    }

    async fn change_line(
        &self,
        chat: &VisitorChat,
        message: i64,
        amend: &LineChange,
    ) -> Result<bool, StoreError> {
        let (chat, owner) = (chat.clone(), chat_owner(chat));
        let text = match amend {
            LineChange::Edit(text) => Some(self.seal_body(&owner, text.as_bytes()).await?),
            LineChange::Delete => None,
        };
        run_to_end!(self.for_tenant("edit an agent's message", chat.scope), |connection| {
            let seq = lock(connection, &chat).await? + 1;
            let amended = write_line_change(connection, &chat, message, seq, text).await?;
            if amended {
                advance_chat(connection, &chat, seq).await?;
            }
            Ok(amended)
        })
    }

    async fn set_status(&self, chat: &VisitorChat, status: Option<&str>) -> Result<(), StoreError> {
        let (chat, owner) = (chat.clone(), chat_owner(chat));
        let status = match status {
            Some(text) => Some(self.seal_body(&owner, text.as_bytes()).await?),
            None => None,
        };
        run_to_end!(self.for_tenant("show a status", chat.scope), |connection| {
            lock(connection, &chat).await?;
            set_status(connection, &chat, status).await
        })
    }

    async fn lines_since(
        &self,
        chat: &VisitorChat,
        after: i64,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        let (chat, owner) = (chat.clone(), chat_owner(chat));
        let news =
            run_to_end!(self.for_tenant("read the changes of a chat", chat.scope), |connection| {
                let mut news = read::read_chat_state(connection, &chat).await?;
                // Most requests find nothing new.
                if news.head > after {
                    news.lines = read::lines_after(connection, &chat, after, lines_max).await?;
                }
                Ok(news)
            })?;
        self.open_update(owner, news).await
    }

    async fn latest_lines(
        &self,
        chat: &VisitorChat,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        let (chat, owner) = (chat.clone(), chat_owner(chat));
        let news = run_to_end!(self.for_tenant("read a chat", chat.scope), |connection| {
            // The head is read first, so that a line written in between is read twice instead of missed.
            let mut news = read::read_chat_state(connection, &chat).await?;
            news.lines = read::last_lines(connection, &chat, lines_max).await?;
            Ok(news)
        })?;
        self.open_update(owner, news).await
    }

    async fn delete_old(&self) -> Result<u64, StoreError> {
        run_batches!(
            self.upkeep("delete old chats"),
            r#"select forget_chats(make_interval(days => $1), $2) as "forgotten!""#,
            CHAT_KEPT_DAYS
        )
    }
}

/// Returns the owner of everything that is said in the chats of a bot.
const fn chat_owner(chat: &VisitorChat) -> BodyOwner {
    bot_owner(chat.scope, chat.bot, BodyKind::ChatLine)
}

impl Pg {
    async fn seal_prompt(
        &self,
        chat: &VisitorChat,
        prompt: &ChatPrompt,
    ) -> Result<SealedBody, StoreError> {
        let bytes = serde_json::to_vec(prompt)
            .map_err(|error| StoreError::broken("store an agent's message", error))?;
        self.seal_body(&chat_owner(chat), &bytes).await
    }

    async fn open_update(
        &self,
        owner: BodyOwner,
        update: SealedUpdate,
    ) -> Result<ChatUpdate, StoreError> {
        let keys = update.key_ids().map(|key| (owner.tenant, key));
        let keys = self.opening_keys(keys).await?;
        Ok(update.open(&owner, &keys))
    }
}

/// Locks a chat, and creates it if necessary. Returns the number of its last change.
async fn lock(connection: &mut PgConnection, chat: &VisitorChat) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        "insert into webchat_chats as c (tenant_id, bot_id, visitor) values ($1, $2, $3)
         on conflict (tenant_id, bot_id, visitor) do update set seen_at = now()
         returning c.last_seq",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor
    )
    .fetch_one(connection)
    .await
}

/// Writes a line under the next number. Returns `None` if a line with its nonce exists.
#[expect(clippy::cognitive_complexity, reason = "the macro has a branch for each column")]
async fn write(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    line: NewLine,
) -> sqlx::Result<Option<i64>> {
    let seq = lock(connection, chat).await? + 1;
    let prompt = SealedColumns::new(line.prompt);
    let written = sqlx::query!(
        "insert into webchat_messages
             (tenant_id, bot_id, visitor, message_id, seq, at, author, body, key_id, body_id, nonce,
              prompt, prompt_key_id, prompt_body_id)
         select $1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
         where check_data_key($1, $8) and check_data_key($1, $12)
         on conflict (tenant_id, bot_id, visitor, nonce) do nothing",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        seq,
        moment(line.at) as jiff_sqlx::Timestamp,
        line.author,
        line.text.bytes,
        line.text.key.get(),
        line.text.id.uuid(),
        line.nonce,
        prompt.bytes,
        prompt.key,
        prompt.id
    )
    .execute(&mut *connection)
    .await?;
    if written.rows_affected() == 0 {
        return Ok(None);
    }
    advance_chat(connection, chat, seq).await?;
    Ok(Some(seq))
}

/// Writes the last number and deletes lines beyond the limit. Each number is used once, so each write deletes at most
/// one line.
async fn advance_chat(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    seq: i64,
) -> sqlx::Result<()> {
    let (tenant, bot) = (chat.scope.tenant().uuid(), chat.bot.uuid());
    sqlx::query!(
        "update webchat_chats set last_seq = $4
         where tenant_id = $1 and bot_id = $2 and visitor = $3",
        tenant,
        bot,
        chat.visitor,
        seq
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from webchat_messages
         where tenant_id = $1 and bot_id = $2 and visitor = $3 and seq <= $4",
        tenant,
        bot,
        chat.visitor,
        seq - CHAT_LINES_KEPT_MAX
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn write_line_change(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    message: i64,
    seq: i64,
    text: Option<SealedBody>,
) -> sqlx::Result<bool> {
    let text = SealedColumns::new(text);
    let changed = sqlx::query!(
        "update webchat_messages
         set seq = $5, body = coalesce($6::bytea, ''), key_id = coalesce($7, key_id),
             body_id = coalesce($8, body_id), deleted = $6::bytea is null, edited_at = now(),
             prompt = case when $6::bytea is not null then prompt end,
             prompt_key_id = case when $6::bytea is not null then prompt_key_id end,
             prompt_body_id = case when $6::bytea is not null then prompt_body_id end
         where tenant_id = $1 and bot_id = $2 and visitor = $3 and message_id = $4
           and author = 'agent' and not deleted and check_data_key($1, $7)",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        message,
        seq,
        text.bytes,
        text.key,
        text.id
    )
    .execute(connection)
    .await?;
    Ok(changed.rows_affected() == 1)
}

async fn set_status(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    status: Option<SealedBody>,
) -> sqlx::Result<()> {
    let status = SealedColumns::new(status);
    sqlx::query!(
        "update webchat_chats
         set status = $4, status_key_id = $5, status_body_id = $6,
             status_at = case when $4::bytea is not null then clock_timestamp() end
         where tenant_id = $1 and bot_id = $2 and visitor = $3 and check_data_key($1, $5)",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        status.bytes,
        status.key,
        status.id
    )
    .execute(connection)
    .await?;
    Ok(())
}
