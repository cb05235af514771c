//! Builds request parameters in Telegram's format.

use nightdesk_kit::buttons::Button;
use nightdesk_port::{DeliverError, File};
use nightdesk_types::Send;
use nightdesk_types::send::PromptOption;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::Upload;
use crate::events::BUTTONS;

/// The general topic of every forum. A message to it names no topic.
const GENERAL_TOPIC: i64 = 1;

/// Maximum characters of a topic's name.
pub(super) const TOPIC_NAME_CHARS_MAX: usize = 128;

/// Maximum length of a caption, in UTF-16 code units.
const CAPTION_UTF16_MAX: usize = 1_024;

/// A text with markup, and the name of its field.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextField<'t> {
    pub(super) name: &'static str,
    pub(super) text: &'t str,
}

/// The parameters of a call.
#[derive(Clone, Debug)]
pub(super) struct CallParameters {
    fields: Map<String, Value>,
    /// A file to upload.
    pub(super) upload: Option<Upload>,
}

impl CallParameters {
    /// Creates parameters for the chat and the topic of a send.
    pub(super) fn for_send(send: &Send) -> Result<Self, DeliverError> {
        let chat: i64 =
            send.chat_id.parse().map_err(|_| DeliverError::refused("chat_not_found"))?;
        let asked = Self { fields: Map::new(), upload: None }.with("chat_id", chat);
        Ok(match send.metadata.get("thread_id").and_then(parse_number) {
            Some(topic) if topic != GENERAL_TOPIC => asked.with("message_thread_id", topic),
            Some(_) | None => asked,
        })
    }

    /// Adds a field.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // Serialization cannot fail: all values are numbers, texts and lists of them.
        self.fields.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// Makes the message a reply. If the original message is deleted, the message is sent all the same.
    pub(super) fn reply_to(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(|to| to.parse::<i64>().ok()) else { return self };
        let reply = json!({ "message_id": to, "allow_sending_without_reply": true });
        self.with("reply_parameters", reply)
    }

    /// Adds a file.
    pub(super) fn with_upload(self, field: &'static str, file: File) -> Self {
        Self { upload: Some(Upload { field, file }), ..self }
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.fields)
    }
}

/// Parses a number that clients may write as a string.
fn parse_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Parses the id of a message.
pub(super) fn message_id(id: &str) -> Result<i64, DeliverError> {
    id.parse().map_err(|_| DeliverError::refused("message_not_found"))
}

/// Builds the buttons of a prompt, one per row, because labels are long and phones narrow.
pub(super) fn keyboard(prompt_id: &str, options: &[PromptOption]) -> Result<Value, DeliverError> {
    let row = |button: Button<'_>| json!([{ "text": button.label, "callback_data": button.word }]);
    let rows: Vec<Value> = BUTTONS.buttons(prompt_id, options)?.into_iter().map(row).collect();
    Ok(json!({ "inline_keyboard": rows }))
}

/// Returns the method that sends a file of this kind, and the name of its field.
pub(super) fn media_method(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "image" => ("sendPhoto", "photo"),
        "voice" => ("sendVoice", "voice"),
        "audio" => ("sendAudio", "audio"),
        "video" => ("sendVideo", "video"),
        _ => ("sendDocument", "document"),
    }
}

/// Returns a URL that Telegram fetches itself. Telegram's own file ids are refused, because the bot's key gives access
/// to every file that the bot ever received.
pub(super) fn external_url(url: &str) -> Result<&str, DeliverError> {
    if url.starts_with("https://") { Ok(url) } else { Err(DeliverError::refused("file_not_taken")) }
}

/// Returns a caption. It cannot be split into several messages.
pub(super) fn caption(content: &str) -> Result<TextField<'_>, DeliverError> {
    if content.encode_utf16().count() > CAPTION_UTF16_MAX {
        return Err(DeliverError::refused("too_long"));
    }
    Ok(TextField { name: "caption", text: content })
}
