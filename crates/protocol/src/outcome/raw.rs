//! An outcome as the SDK receives it.

use serde::Deserialize;

use super::{ChatSummary, Outcome, is_id, truncate_text};
use crate::tolerant;

/// An outcome with all fields optional.
#[derive(Deserialize)]
pub(crate) struct RawOutcome {
    #[serde(default, deserialize_with = "tolerant::truth")]
    success: bool,
    #[serde(default, deserialize_with = "tolerant::text")]
    message_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    error: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    code: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    thread_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    auto_thread_name: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    note: Option<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    ambiguous: bool,
    #[serde(default, deserialize_with = "tolerant::object")]
    chat_info: Option<RawChat>,
    #[serde(default, deserialize_with = "tolerant::text")]
    name: Option<String>,
    #[serde(rename = "type", default, deserialize_with = "tolerant::text")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct RawChat {
    #[serde(default, deserialize_with = "tolerant::text")]
    name: Option<String>,
    #[serde(rename = "type", default, deserialize_with = "tolerant::text")]
    kind: Option<String>,
}

impl From<RawOutcome> for Outcome {
    fn from(raw: RawOutcome) -> Self {
        let flat = RawChat { name: raw.name, kind: raw.kind };
        let RawChat { name, kind } = raw.chat_info.unwrap_or(flat);
        let chat = name.zip(kind).map(|(name, kind)| ChatSummary {
            name: truncate_text(name),
            kind: truncate_text(kind),
        });
        Self {
            success: raw.success,
            message_id: raw.message_id.filter(|id| is_id(id)),
            error: raw.error.map(truncate_text),
            code: raw.code.map(truncate_text),
            thread_id: raw.thread_id.filter(|id| is_id(id)),
            auto_thread_name: raw.auto_thread_name.map(truncate_text),
            note: raw.note.map(truncate_text),
            ambiguous: raw.ambiguous,
            chat_again: chat.clone(),
            chat,
        }
    }
}
