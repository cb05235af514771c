//! The queries of a chat page.

use std::time::Duration;

use nightdesk_webchat::store::{ChatLine, ChatStatus, ChatUpdate, LineAuthor, VisitorChat};
use serde_json::Value;
use sqlx::PgConnection;

use crate::row::bad_column;

/// Returns the state of a chat without its lines. An unused chat has the state of its beginning.
pub(super) async fn read_chat_state(
    connection: &mut PgConnection,
    chat: &VisitorChat,
) -> sqlx::Result<ChatUpdate> {
    let row = sqlx::query!(
        r#"select last_seq, status, status_at as "set_at: jiff_sqlx::Timestamp",
               extract(epoch from clock_timestamp() - status_at)::float8 as stood
           from webchat_chats where tenant_id = $1 and bot_id = $2 and visitor = $3"#,
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(ChatUpdate::default()) };
    let status = row.status.zip(row.set_at).map(|(text, set_at)| ChatStatus {
        text,
        set_at: set_at.to_jiff(),
        stood: Duration::try_from_secs_f64(row.stood.unwrap_or(0.0)).unwrap_or_default(),
    });
    Ok(ChatUpdate { head: row.last_seq, lines: Vec::new(), status })
}

pub(super) async fn lines_after(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    after: i64,
    lines_max: usize,
) -> sqlx::Result<Vec<ChatLine>> {
    let rows = sqlx::query_as!(
        ChatLineRow,
        r#"select seq, message_id, at as "at: jiff_sqlx::Timestamp", author, text, nonce, prompt,
               edited_at is not null as "edited!", deleted
           from webchat_messages
           where tenant_id = $1 and bot_id = $2 and visitor = $3 and seq > $4
           order by seq limit $5"#,
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        after,
        i64::try_from(lines_max).unwrap_or(i64::MAX)
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(ChatLine::try_from).collect()
}

pub(super) async fn last_lines(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    lines_max: usize,
) -> sqlx::Result<Vec<ChatLine>> {
    let rows = sqlx::query_as!(
        ChatLineRow,
        r#"select seq as "seq!", message_id as "message_id!",
               at as "at!: jiff_sqlx::Timestamp", author as "author!", text as "text!",
               nonce, prompt, edited as "edited!", deleted as "deleted!"
           from (
               select seq, message_id, at, author, text, nonce, prompt,
                   edited_at is not null as edited, deleted
               from webchat_messages
               where tenant_id = $1 and bot_id = $2 and visitor = $3
               order by message_id desc limit $4
           ) as last
           order by at, message_id"#,
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor,
        i64::try_from(lines_max).unwrap_or(i64::MAX)
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(ChatLine::try_from).collect()
}

struct ChatLineRow {
    seq: i64,
    message_id: i64,
    at: jiff_sqlx::Timestamp,
    author: String,
    text: String,
    nonce: Option<String>,
    prompt: Option<Value>,
    edited: bool,
    deleted: bool,
}

impl TryFrom<ChatLineRow> for ChatLine {
    type Error = sqlx::Error;

    fn try_from(row: ChatLineRow) -> Result<Self, sqlx::Error> {
        let author = match row.author.as_str() {
            "visitor" => LineAuthor::Visitor,
            "agent" => LineAuthor::Agent,
            _ => return Err(bad_column("webchat_messages", "author")),
        };
        let prompt = row.prompt.map(serde_json::from_value).transpose();
        Ok(Self {
            seq: row.seq,
            message: row.message_id,
            at: row.at.to_jiff(),
            author,
            text: row.text,
            nonce: row.nonce,
            prompt: prompt.map_err(|_| bad_column("webchat_messages", "prompt"))?,
            edited: row.edited,
            deleted: row.deleted,
        })
    }
}
