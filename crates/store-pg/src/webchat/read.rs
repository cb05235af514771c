//! The queries of a chat page.

use std::time::Duration;

use nightdesk_types::{DataKeyId, Timestamp};
use nightdesk_vault::BodyOwner;
use nightdesk_webchat::store::{ChatLine, ChatStatus, ChatUpdate, LineAuthor, VisitorChat};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::bodies::{OpeningKeys, SealedBody, SealedColumns};
use crate::row::bad_column;

/// The state of a chat whose texts are still sealed.
#[derive(Default)]
pub(super) struct SealedUpdate {
    pub(super) head: i64,
    pub(super) lines: Vec<SealedLine>,
    status: Option<SealedStatus>,
}

struct SealedStatus {
    text: SealedBody,
    set_at: Timestamp,
    stood: Duration,
}

/// A line, without its text and its prompt.
pub(super) struct SealedLine {
    line: ChatLine,
    /// A deleted line has none.
    text: Option<SealedBody>,
    prompt: Option<SealedBody>,
}

impl SealedUpdate {
    /// Returns the keys that open its texts.
    pub(super) fn key_ids(&self) -> impl Iterator<Item = DataKeyId> {
        let lines = self.lines.iter().flat_map(|line| [&line.text, &line.prompt]);
        let status = self.status.as_ref().map(|status| status.text.key);
        lines.flatten().map(|sealed| sealed.key).chain(status)
    }

    /// Opens its texts. A status that does not open is not shown.
    pub(super) fn open(self, owner: &BodyOwner, keys: &OpeningKeys) -> ChatUpdate {
        let status = self.status.and_then(|SealedStatus { text, set_at, stood }| {
            let text = String::from_utf8(keys.open(owner, text).ok()?).ok()?;
            Some(ChatStatus { text, set_at, stood })
        });
        let lines = self.lines.into_iter().map(|line| line.open(owner, keys)).collect();
        ChatUpdate { head: self.head, lines, status }
    }
}

impl SealedLine {
    /// Opens a line. One that does not open is shown as a deleted one.
    fn open(self, owner: &BodyOwner, keys: &OpeningKeys) -> ChatLine {
        let Self { line, text, prompt } = self;
        let Some(text) = text else { return line };
        let text = keys.open(owner, text).ok().and_then(|text| String::from_utf8(text).ok());
        let prompt = prompt.and_then(|prompt| keys.open(owner, prompt).ok());
        let prompt = prompt.and_then(|prompt| serde_json::from_slice(&prompt).ok());
        match text {
            Some(text) => ChatLine { text, prompt, ..line },
            None => ChatLine { deleted: true, ..line },
        }
    }
}

/// Returns the state of a chat without its lines. An unused chat has the state of its beginning.
pub(super) async fn read_chat_state(
    connection: &mut PgConnection,
    chat: &VisitorChat,
) -> sqlx::Result<SealedUpdate> {
    let row = sqlx::query!(
        r#"select last_seq, status, status_key_id, status_body_id, status_at as "set_at: jiff_sqlx::Timestamp",
               extract(epoch from clock_timestamp() - status_at)::float8 as stood
           from webchat_chats where tenant_id = $1 and bot_id = $2 and visitor = $3"#,
        chat.scope.tenant().uuid(),
        chat.bot.uuid(),
        chat.visitor
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(SealedUpdate::default()) };
    let text = SealedColumns { bytes: row.status, key: row.status_key_id, id: row.status_body_id };
    let status = text.sealed().zip(row.set_at).map(|(text, set_at)| SealedStatus {
        text,
        set_at: set_at.to_jiff(),
        stood: Duration::try_from_secs_f64(row.stood.unwrap_or(0.0)).unwrap_or_default(),
    });
    Ok(SealedUpdate { head: row.last_seq, lines: Vec::new(), status })
}

pub(super) async fn lines_after(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    after: i64,
    lines_max: usize,
) -> sqlx::Result<Vec<SealedLine>> {
    let rows = sqlx::query_as!(
        ChatLineRow,
        r#"select seq, message_id, at as "at: jiff_sqlx::Timestamp", author, body, key_id, body_id,
               nonce, prompt, prompt_key_id, prompt_body_id, edited_at is not null as "edited!",
               deleted
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
    rows.into_iter().map(SealedLine::try_from).collect()
}

pub(super) async fn last_lines(
    connection: &mut PgConnection,
    chat: &VisitorChat,
    lines_max: usize,
) -> sqlx::Result<Vec<SealedLine>> {
    let rows = sqlx::query_as!(
        ChatLineRow,
        r#"select seq as "seq!", message_id as "message_id!",
               at as "at!: jiff_sqlx::Timestamp", author as "author!", body as "body!",
               key_id as "key_id!", body_id as "body_id!", nonce, prompt, prompt_key_id,
               prompt_body_id, edited as "edited!", deleted as "deleted!"
           from (
               select seq, message_id, at, author, body, key_id, body_id, nonce, prompt,
                   prompt_key_id, prompt_body_id, edited_at is not null as edited, deleted
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
    rows.into_iter().map(SealedLine::try_from).collect()
}

struct ChatLineRow {
    seq: i64,
    message_id: i64,
    at: jiff_sqlx::Timestamp,
    author: String,
    body: Vec<u8>,
    key_id: i64,
    body_id: Uuid,
    nonce: Option<String>,
    prompt: Option<Vec<u8>>,
    prompt_key_id: Option<i64>,
    prompt_body_id: Option<Uuid>,
    edited: bool,
    deleted: bool,
}

impl TryFrom<ChatLineRow> for SealedLine {
    type Error = sqlx::Error;

    fn try_from(row: ChatLineRow) -> Result<Self, sqlx::Error> {
        let author = match row.author.as_str() {
            "visitor" => LineAuthor::Visitor,
            "agent" => LineAuthor::Agent,
            _ => return Err(bad_column("webchat_messages", "author")),
        };
        let text = SealedBody::from_row(row.key_id, row.body_id, row.body);
        let prompt =
            SealedColumns { bytes: row.prompt, key: row.prompt_key_id, id: row.prompt_body_id };
        let line = ChatLine {
            seq: row.seq,
            message: row.message_id,
            at: row.at.to_jiff(),
            author,
            text: String::new(),
            nonce: row.nonce,
            prompt: None,
            edited: row.edited,
            deleted: row.deleted,
        };
        let text = (!row.deleted).then_some(text);
        Ok(Self { line, text, prompt: prompt.sealed() })
    }
}
