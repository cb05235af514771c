//! An action as received: every field of every op, all of them optional.

use std::borrow::Cow;

use nightdesk_types::Send;
use nightdesk_types::limits::PLATFORM_ID_BYTES_MAX;
use nightdesk_types::send::{Op, PromptOption};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, FollowUp};
use crate::frame::UNKNOWN_NAME_BYTES_MAX;
use crate::session_key::SessionKey;
use crate::{text, tolerant};

/// Longest metadata of an action as JSON.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Longest chunks of a task card as JSON.
pub const CHUNKS_BYTES_MAX: usize = 64 * 1024;

/// The fields of all ops.
#[derive(Debug, Deserialize)]
pub(crate) struct RawAction<'a> {
    #[serde(borrow, default, deserialize_with = "tolerant::borrowed")]
    op: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "tolerant::text")]
    chat_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    content: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    reply_to: Option<String>,
    #[serde(default = "no_metadata", deserialize_with = "tolerant::map::<_, METADATA_BYTES_MAX>")]
    metadata: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "tolerant::text")]
    message_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::integer")]
    draft_id: Option<i64>,
    #[serde(rename = "final", default, deserialize_with = "tolerant::truth")]
    is_final: bool,
    #[serde(default, deserialize_with = "tolerant::text")]
    card_id: Option<String>,
    #[serde(default = "no_chunks", deserialize_with = "tolerant::values::<_, CHUNKS_BYTES_MAX>")]
    chunks: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "tolerant::text")]
    media_kind: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    source_url: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    filename: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    prompt_kind: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    prompt_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::objects")]
    options: Vec<RawOption>,
    #[serde(default, deserialize_with = "tolerant::number")]
    timeout_s: Option<f64>,
    #[serde(default, deserialize_with = "tolerant::text")]
    emoji: Option<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    remove: bool,
    #[serde(default, deserialize_with = "tolerant::text")]
    thread_name: Option<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    only_if_connector_created: bool,
    #[serde(default, deserialize_with = "tolerant::text")]
    only_if_current_name: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    session_key: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    kind: Option<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "a value that is too long differs from an absent one")]
fn no_metadata() -> Option<Map<String, Value>> {
    Some(Map::new())
}

#[expect(clippy::unnecessary_wraps, reason = "a value that is too long differs from an absent one")]
const fn no_chunks() -> Option<Vec<Value>> {
    Some(Vec::new())
}

#[derive(Debug, Deserialize)]
struct RawOption {
    #[serde(default, deserialize_with = "tolerant::text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    label: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    style: Option<String>,
}

impl RawAction<'_> {
    /// Converts to the desk's type, or reports the missing field.
    pub(crate) fn into_action(mut self) -> Action {
        let name = text::cut(self.op.take().unwrap_or_default(), UNKNOWN_NAME_BYTES_MAX);
        let action = match name.as_str() {
            "send" => self.in_chat(Self::send),
            "edit" => self.in_chat(Self::edit),
            "typing" => self.in_chat(Self::typing),
            "follow_up" => self.follow_up(),
            "delete" => self.in_chat(Self::delete),
            "draft" => self.in_chat(Self::draft),
            "task_card" => self.in_chat(Self::task_card),
            "task_card_stop" => self.in_chat(Self::task_card_stop),
            "send_media" => self.in_chat(Self::send_media),
            "prompt" => self.in_chat(Self::prompt),
            "react" => self.in_chat(Self::react),
            "thread_create" => self.in_chat(Self::thread_create),
            "thread_rename" => self.thread_rename(),
            "get_chat_info" => self.in_chat(|_| Ok(Op::GetChatInfo)),
            "" => Err(Missing("op")),
            _ => return Action::Unknown { op: name },
        };
        action.unwrap_or_else(|Missing(missing)| Action::Malformed { op: name, missing })
    }

    fn in_chat(mut self, op: impl FnOnce(Self) -> Result<Op, Missing>) -> Result<Action, Missing> {
        let chat_id = require_text(self.chat_id.take(), "chat_id")?;
        let metadata = self.metadata.take().ok_or(Missing("metadata"))?;
        Ok(Action::Send(Send { chat_id, op: op(self)?, metadata }))
    }

    fn follow_up(self) -> Result<Action, Missing> {
        let session_key = self.session_key.and_then(SessionKey::new);
        Ok(Action::FollowUp(FollowUp {
            session_key: session_key.ok_or(Missing("session_key"))?,
            kind: require_text(self.kind, "kind")?,
            content: require_content(self.content)?,
            metadata: self.metadata.ok_or(Missing("metadata"))?,
        }))
    }

    fn send(self) -> Result<Op, Missing> {
        Ok(Op::Send { content: require_content(self.content)?, reply_to: plain_id(self.reply_to) })
    }

    fn edit(self) -> Result<Op, Missing> {
        let message_id = require_text(self.message_id, "message_id")?;
        Ok(Op::Edit { message_id, content: require_content(self.content)? })
    }

    #[expect(clippy::unnecessary_wraps, reason = "it stands among ops that lack something")]
    fn typing(self) -> Result<Op, Missing> {
        Ok(Op::Typing { content: self.content.map(without_nul) })
    }

    fn delete(self) -> Result<Op, Missing> {
        Ok(Op::Delete { message_id: require_text(self.message_id, "message_id")? })
    }

    fn draft(self) -> Result<Op, Missing> {
        let draft_id = self.draft_id.ok_or(Missing("draft_id"))?;
        Ok(Op::Draft { draft_id, content: require_content(self.content)?, is_final: self.is_final })
    }

    fn task_card(self) -> Result<Op, Missing> {
        let chunks = self.chunks.ok_or(Missing("chunks"))?;
        Ok(Op::TaskCard { card_id: require_text(self.card_id, "card_id")?, chunks })
    }

    fn task_card_stop(self) -> Result<Op, Missing> {
        Ok(Op::TaskCardStop { card_id: require_text(self.card_id, "card_id")? })
    }

    fn send_media(self) -> Result<Op, Missing> {
        let source_url = self.source_url.filter(|url| !url.is_empty());
        Ok(Op::SendMedia {
            media_kind: require_text(self.media_kind, "media_kind")?,
            source_url: source_url.ok_or(Missing("source_url"))?,
            content: self.content.map(without_nul).unwrap_or_default(),
            reply_to: plain_id(self.reply_to),
            filename: self.filename,
        })
    }

    fn prompt(self) -> Result<Op, Missing> {
        let options: Vec<_> = self.options.into_iter().filter_map(RawOption::into_option).collect();
        if options.is_empty() {
            return Err(Missing("options"));
        }
        Ok(Op::Prompt {
            content: require_content(self.content)?,
            prompt_kind: require_text(self.prompt_kind, "prompt_kind")?,
            prompt_id: require_text(self.prompt_id, "prompt_id")?,
            options,
            reply_to: plain_id(self.reply_to),
            timeout_s: self.timeout_s,
        })
    }

    fn react(self) -> Result<Op, Missing> {
        let message_id = require_text(self.message_id, "message_id")?;
        Ok(Op::React { message_id, emoji: require_text(self.emoji, "emoji")?, remove: self.remove })
    }

    fn thread_create(self) -> Result<Op, Missing> {
        Ok(Op::ThreadCreate { thread_name: require_text(self.thread_name, "thread_name")? })
    }

    /// Stores the conditions of a rename in the metadata, where the platform's adapter reads them.
    fn thread_rename(mut self) -> Result<Action, Missing> {
        if let Some(metadata) = &mut self.metadata {
            if self.only_if_connector_created {
                metadata.insert("only_if_connector_created".to_owned(), true.into());
            }
            if let Some(name) = self.only_if_current_name.take() {
                metadata.insert("only_if_current_name".to_owned(), name.into());
            }
        }
        self.in_chat(|raw| {
            let message_id = require_text(raw.message_id, "message_id")?;
            let thread_name = require_text(raw.thread_name, "thread_name")?;
            Ok(Op::ThreadRename { message_id, thread_name })
        })
    }
}

impl RawOption {
    fn into_option(self) -> Option<PromptOption> {
        let id = self.id.filter(|id| !id.is_empty())?;
        let label = self.label.unwrap_or_else(|| id.clone());
        Some(PromptOption { id, label, style: self.style })
    }
}

/// The required field that is missing.
struct Missing(&'static str);

fn require_text(field: Option<String>, name: &'static str) -> Result<String, Missing> {
    plain_id(field).ok_or(Missing(name))
}

/// Returns an id or name that may go into keys and columns.
fn plain_id(field: Option<String>) -> Option<String> {
    field.filter(|id| {
        (1..=PLATFORM_ID_BYTES_MAX).contains(&id.len()) && !id.chars().any(char::is_control)
    })
}

fn require_content(field: Option<String>) -> Result<String, Missing> {
    field.map(without_nul).ok_or(Missing("content"))
}

/// Removes U+0000, which neither PostgreSQL nor a platform accepts.
fn without_nul(mut content: String) -> String {
    if content.contains('\0') {
        content.retain(|c| c != '\0');
    }
    content
}
