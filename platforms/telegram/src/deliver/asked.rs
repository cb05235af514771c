//! Asked: what is asked of Telegram, as it wants to be asked.

use nightdesk_port::DeliverError;
use nightdesk_types::Send;
use nightdesk_types::send::PromptOption;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::refused;
use crate::words::{FILE_SCHEME, button_word};

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
pub(super) struct Asked(Map<String, Value>);

impl Asked {
    /// Something about the chat of a send, in the topic it names.
    pub(super) fn of(send: &Send) -> Result<Self, DeliverError> {
        let chat: i64 = send.chat_id.parse().map_err(|_| refused("chat_not_found"))?;
        let asked = Self(Map::new()).with("chat_id", chat);
        Ok(match send.metadata.get("thread_id").and_then(number) {
            Some(topic) if topic != GENERAL_TOPIC => asked.with("message_thread_id", topic),
            Some(_) | None => asked,
        })
    }

    /// The same, with one more.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // What cannot be written is none: all that is given is numbers, texts and lists of them.
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// An answer to a message. If that is gone, it is said all the same.
    pub(super) fn replying(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(|to| to.parse::<i64>().ok()) else { return self };
        let reply = json!({ "message_id": to, "allow_sending_without_reply": true });
        self.with("reply_parameters", reply)
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.0)
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

/// The method that sends a file of this kind, the name it has there, and the file: one that Telegram
/// has, or one that it fetches by itself.
pub(super) fn media(
    kind: &str,
    url: &str,
) -> Result<(&'static str, &'static str, String), DeliverError> {
    let (method, field) = match kind {
        "image" => ("sendPhoto", "photo"),
        "voice" => ("sendVoice", "voice"),
        "audio" => ("sendAudio", "audio"),
        "video" => ("sendVideo", "video"),
        _ => ("sendDocument", "document"),
    };
    let file = match url.strip_prefix(FILE_SCHEME) {
        Some(file) => file,
        None if url.starts_with("https://") => url,
        None => return Err(refused("file_not_taken")),
    };
    Ok((method, field, file.to_owned()))
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
