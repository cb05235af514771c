//! Builds request bodies in Discord's format.

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_kit::buttons::{Button, StopButton};
use nightdesk_kit::text::message_text;
use nightdesk_port::{Bot, DeliverError, File};
use nightdesk_types::send::{Op, PromptOption};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::UNNAMED;
use crate::capabilities::MESSAGE_CHARS_MAX;
use crate::events::BUTTONS;
use crate::id::Id;

/// Type of a thread that every viewer of the channel can see.
pub(super) const PUBLIC_THREAD: u8 = 11;

/// Maximum buttons in one row.
const ROW_MAX: usize = 5;

/// Maximum characters of a thread's name.
pub(super) const THREAD_NAME_CHARS_MAX: usize = 100;

/// Maximum bytes of an emoji, or of the name and id of a custom emoji.
const EMOJI_BYTES_MAX: usize = 64;

/// Characters of the nonce by which Discord detects a repeated message. Its maximum is 25.
const NONCE_CHARS: usize = 24;

/// Kinds of mentions that can notify people.
const CALLABLE: [&str; 3] = ["everyone", "roles", "users"];

/// The body of a message to create.
#[derive(Clone, Debug)]
pub(super) struct MessageBody(Map<String, Value>);

impl MessageBody {
    /// Creates a message with a text. It notifies no people, unless the bot's operator granted that.
    pub(super) fn with_text(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        Self::with_optional_text(bot, &message_text(content)?)
    }

    /// Creates a message whose text may be empty, because it shows something else, too.
    fn with_optional_text(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        let text = content.replace('\0', "");
        if u32::try_from(text.chars().count()).is_ok_and(|chars| chars <= MESSAGE_CHARS_MAX) {
            let mentions = json!({ "parse": granted_mentions(bot), "replied_user": false });
            return Ok(Self(Map::new()).with("content", text).with("allowed_mentions", mentions));
        }
        Err(DeliverError::refused("too_long"))
    }

    /// Creates a message with a link to an external file. Discord shows a preview of the link.
    pub(super) fn with_link(bot: &Bot, caption: &str, url: &str) -> Result<Self, DeliverError> {
        if !url.starts_with("https://") || url.contains(char::is_whitespace) {
            return Err(DeliverError::refused("file_not_taken"));
        }
        Self::with_text(bot, format!("{caption}\n{url}").trim())
    }

    /// Creates a message with buttons.
    pub(super) fn with_buttons(
        bot: &Bot,
        content: &str,
        prompt_id: &str,
        options: &[PromptOption],
    ) -> Result<Self, DeliverError> {
        let buttons = buttons(prompt_id, options)?;
        Ok(Self::with_text(bot, content)?.with("components", buttons))
    }

    /// Adds the stop button of an unfinished answer, or removes it.
    pub(super) fn with_stop_button(self, button: StopButton<'_>) -> Result<Self, DeliverError> {
        Ok(match button {
            StopButton::Shown(prompt) => {
                self.with("components", buttons(prompt, &StopButton::options())?)
            }
            StopButton::Removed => self.with("components", json!([])),
            StopButton::Unchanged => self,
        })
    }

    /// Creates a message with an uploaded file and its caption.
    pub(super) fn with_upload(
        bot: &Bot,
        op: &Op,
        file: &File,
    ) -> Result<(Self, File), DeliverError> {
        let Op::SendMedia { content, reply_to, filename, .. } = op else {
            return Err(DeliverError::Unsupported);
        };
        let file = file.with_filename(filename.as_ref());
        let named = json!([{ "id": 0, "filename": file.filename.as_deref().unwrap_or(UNNAMED) }]);
        let asked = Self::with_optional_text(bot, content)?.with("attachments", named);
        Ok((asked.reply_to(reply_to.as_deref()), file))
    }

    /// Adds a field.
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // Serialization cannot fail: all values are numbers, texts and lists of them.
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// Makes the message a reply. If the original message is deleted, the message is sent all the same.
    pub(super) fn reply_to(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(parse_id) else { return self };
        let reply = json!({ "message_id": to.to_string(), "fail_if_not_exists": false });
        self.with("message_reference", reply)
    }

    /// Adds a nonce. Discord answers a repeated nonce with the message of the first call.
    pub(super) fn with_nonce(self, name: Option<&str>) -> Self {
        let Some(name) = name else { return self };
        let hash = hex::encode(digest(&SHA256, name.as_bytes()));
        self.with("nonce", &hash[..NONCE_CHARS]).with("enforce_nonce", true)
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}

fn granted_mentions(bot: &Bot) -> Vec<&'static str> {
    let granted = bot.settings["mentions"].as_array();
    let is_granted = |name: &&str| granted.is_some_and(|list| list.iter().any(|one| one == name));
    CALLABLE.into_iter().filter(is_granted).collect()
}

/// Parses an id in a client's format.
pub(super) fn parse_id(text: &str) -> Option<Id> {
    Id::parse(text)
}

/// Parses an id that may also be a JSON number.
pub(super) fn parse_id_value(value: &Value) -> Option<Id> {
    value.as_u64().filter(|id| *id != 0).map(Id).or_else(|| parse_id(value.as_str()?))
}

/// Builds the buttons of a prompt, in rows.
fn buttons(prompt_id: &str, options: &[PromptOption]) -> Result<Value, DeliverError> {
    let button = |button: Button<'_>| {
        let style = style(button.style);
        json!({ "type": 2, "style": style, "label": button.label, "custom_id": button.word })
    };
    let all: Vec<Value> = BUTTONS.buttons(prompt_id, options)?.into_iter().map(button).collect();
    let rows = all.chunks(ROW_MAX).map(|row| json!({ "type": 1, "components": row })).collect();
    Ok(Value::Array(rows))
}

fn style(named: Option<&str>) -> u8 {
    match named {
        Some("primary") => 1,
        Some("success") => 3,
        Some("danger") => 4,
        Some(_) | None => 2,
    }
}

/// Encodes an emoji, of Unicode or of a guild, as a path segment.
pub(super) fn emoji(shown: &str) -> Result<String, DeliverError> {
    let own = shown.strip_prefix("<:").or_else(|| shown.strip_prefix("<a:"));
    let name = own.and_then(|own| own.strip_suffix('>')).unwrap_or(shown).trim();
    // A path segment of dots leads to another path in any encoding.
    let is_odd = name.len() > EMOJI_BYTES_MAX || name.contains(['.', '/', '\\']);
    if name.is_empty() || is_odd {
        return Err(DeliverError::refused("reaction_invalid"));
    }
    let write = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || b"_-".contains(&b) => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    Ok(name.bytes().map(write).collect())
}
