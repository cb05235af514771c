//! The store of chats on the desk's own pages.

use async_trait::async_trait;
use nightdesk_types::limits::{CHAT_KEPT_DAYS, CHAT_LINES_KEPT_MAX, UPKEEP_ROWS_MAX};
use nightdesk_types::{StoreError, Timestamp};
use nightdesk_webchat::store::{
    AgentMessage, ChatPrompt, ChatUpdate, LineChange, Store, VisitorChat, VisitorMessage,
    WriteOutcome,
};
use sqlx::PgConnection;

use crate::Pg;
use crate::row::{bad_column, moment};
use crate::upkeep::run_batches;

mod read;

/// A new line.
struct NewLine {
    at: Timestamp,
    author: &'static str,
    text: String,
    nonce: Option<String>,
    prompt: Option<ChatPrompt>,
}

#[async_trait]
impl Store for Pg {
    async fn write_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError> {
        let (chat, VisitorMessage { at, nonce, text }) = (chat.clone(), said.clone());
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
        let (chat, amend) = (chat.clone(), amend.clone());
        run_to_end!(self.for_tenant("edit an agent's message", chat.scope), |connection| {
            let seq = lock(connection, &chat).await? + 1;
            let amended = write_line_change(connection, &chat, message, seq, amend).await?;
            if amended {
                advance_chat(connection, &chat, seq).await?;
            }
            Ok(amended)
        })
    }

    async fn set_status(&self, chat: &VisitorChat, status: Option<&str>) -> Result<(), StoreError> {
        let (chat, status) = (chat.clone(), status.map(str::to_owned));
        run_to_end!(self.for_tenant("show a status", chat.scope), |connection| {
            lock(connection, &chat).await?;
            set_status(connection, &chat, status.as_deref()).await
        })
    }

    async fn lines_since(
        &self,
        chat: &VisitorChat,
        after: i64,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        let chat = chat.clone();
        run_to_end!(self.for_tenant("read the changes of a chat", chat.scope), |connection| {
            let mut news = read::read_chat_state(connection, &chat).await?;
            // Most requests find nothing new.
            if news.head > after {
                news.lines = read::lines_after(connection, &chat, after, lines_max).await?;
            }
            Ok(news)
        })
    }

    async fn latest_lines(
        &self,
        chat: &VisitorChat,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        let chat = chat.clone();
        run_to_end!(self.for_tenant("read a chat", chat.scope), |connection| {
            // The head is read first, so that a line written in between is read twice instead of missed.
            let mut news = read::read_chat_state(connection, &chat).await?;
            news.lines = read::last_lines(connection, &chat, lines_max).await?;
            Ok(news)
        })
    }

    async fn delete_old(&self) -> Result<u64, StoreError> {
        run_batches!(
            self.upkeep("delete old chats"),
            r#"select forget_chats(make_interval(days => $1), $2) as "forgotten!""#,
            CHAT_KEPT_DAYS
        )
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
async fn write(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    line: NewLine,
) -> sqlx::Result<Option<i64>> {
    let seq = lock(connection, chat).await? + 1;
    let prompt = line.prompt.map(serde_json::to_value).transpose();
    let written = sqlx::query!(
        "insert into webchat_messages
             (tenant_id, bot_id, visitor, message_id, seq, at, author, text, nonce, prompt)
         values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9)
         on conflict (tenant_id, bot_id, visitor, nonce) do nothing",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        seq,
        moment(line.at) as jiff_sqlx::Timestamp,
        line.author,
        line.text,
        line.nonce,
        prompt.map_err(|_| bad_column("webchat_messages", "prompt"))?
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
    amend: LineChange,
) -> sqlx::Result<bool> {
    let text = match amend {
        LineChange::Edit(text) => Some(text),
        LineChange::Delete => None,
    };
    let changed = sqlx::query!(
        "update webchat_messages
         set seq = $5, text = coalesce($6, ''), deleted = $6 is null, edited_at = now(),
             prompt = case when $6 is null then null else prompt end
         where tenant_id = $1 and bot_id = $2 and visitor = $3 and message_id = $4
           and author = 'agent' and not deleted",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        message,
        seq,
        text
    )
    .execute(connection)
    .await?;
    Ok(changed.rows_affected() == 1)
}

async fn set_status(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    status: Option<&str>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update webchat_chats
         set status = $4, status_at = case when $4::text is null then null else clock_timestamp() end
         where tenant_id = $1 and bot_id = $2 and visitor = $3",
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        status
    )
    .execute(connection)
    .await?;
    Ok(())
}
