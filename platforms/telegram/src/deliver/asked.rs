//! Asked: what is asked of Telegram, as it wants to be asked.

use nightdesk_port::{DeliverError, File};
use nightdesk_types::Send;
use nightdesk_types::send::PromptOption;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::refused;
use crate::words::button_word;

/// The topic every forum has. What goes there names none.
const GENERAL_TOPIC: i64 = 1;

/// Buttons under one question.
const BUTTONS_MAX: usize = 12;

/// Characters a button shows.
const LABEL_CHARS_MAX: usize = 64;

/// Characters a topic's name may have.
const TOPIC_NAME_CHARS_MAX: usize = 128;

/// How long a caption may be, in UTF-16 code units.
const CAPTION_UTF16_MAX: usize = 1_024;

/// The parameters of a call.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    fields: Map<String, Value>,
    /// What is given along, and under which name.
    pub(super) file: Option<(&'static str, File)>,
}

impl Asked {
    /// Something about the chat of a send, in the topic it names.
    pub(super) fn of(send: &Send) -> Result<Self, DeliverError> {
        let chat: i64 = send.chat_id.parse().map_err(|_| refused("chat_not_found"))?;
        let asked = Self { fields: Map::new(), file: None }.with("chat_id", chat);
        Ok(match send.metadata.get("thread_id").and_then(number) {
            Some(topic) if topic != GENERAL_TOPIC => asked.with("message_thread_id", topic),
            Some(_) | None => asked,
        })
    }

    /// The same, with one more.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // What cannot be written is none: all that is given is numbers, texts and lists of them.
        self.fields.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// An answer to a message. If that is gone, it is said all the same.
    pub(super) fn replying(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(|to| to.parse::<i64>().ok()) else { return self };
        let reply = json!({ "message_id": to, "allow_sending_without_reply": true });
        self.with("reply_parameters", reply)
    }

    /// The same, and a file with it.
    pub(super) fn giving(self, name: &'static str, file: File) -> Self {
        Self { file: Some((name, file)), ..self }
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.fields)
    }
}

/// A number that clients write as one or as a text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// The number of a message.
pub(super) fn message_id(id: &str) -> Result<i64, DeliverError> {
    id.parse().map_err(|_| refused("message_not_found"))
}

/// The buttons of a question, one below the other: labels are long, and telephones narrow.
pub(super) fn keyboard(prompt_id: &str, options: &[PromptOption]) -> Result<Value, DeliverError> {
    if options.len() > BUTTONS_MAX {
        return Err(refused("too_many_options"));
    }
    let button = |option: &PromptOption| {
        let word = button_word(prompt_id, &option.id).ok_or_else(|| refused("option_not_taken"))?;
        let label: String = option.label.chars().take(LABEL_CHARS_MAX).collect();
        let label = if label.trim().is_empty() { option.id.clone() } else { label };
        Ok(json!([{ "text": label, "callback_data": word }]))
    };
    let rows: Result<Vec<Value>, DeliverError> = options.iter().map(button).collect();
    Ok(json!({ "inline_keyboard": rows? }))
}

/// The method that sends a file of this kind, and the name it has there.
pub(super) fn media(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "image" => ("sendPhoto", "photo"),
        "voice" => ("sendVoice", "voice"),
        "audio" => ("sendAudio", "audio"),
        "video" => ("sendVideo", "video"),
        _ => ("sendDocument", "document"),
    }
}

/// A file that Telegram fetches by itself. What it calls its own files is nobody's to name: a key leads
/// to all that its bot was ever shown.
pub(super) fn elsewhere(url: &str) -> Result<&str, DeliverError> {
    if url.starts_with("https://") { Ok(url) } else { Err(refused("file_not_taken")) }
}

/// What is written under a file. It cannot become several messages.
pub(super) fn caption(content: &str) -> Result<(&'static str, &str), DeliverError> {
    if content.encode_utf16().count() > CAPTION_UTF16_MAX {
        return Err(refused("too_long"));
    }
    Ok(("caption", content))
}

/// A name for a topic.
pub(super) fn topic_name(name: &str) -> Result<String, DeliverError> {
    let name: String = name.trim().chars().take(TOPIC_NAME_CHARS_MAX).collect();
    if name.is_empty() { Err(refused("empty")) } else { Ok(name) }
}
