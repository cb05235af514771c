//! Builds request bodies in Discord's format.

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_port::{Bot, DeliverError, File};
use nightdesk_types::send::{Op, PromptOption};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::refused;
use crate::api::UNNAMED;
use crate::capabilities::MESSAGE_CHARS_MAX;
use crate::id::Id;
use crate::words::button_word;

/// Type of a thread that every viewer of the channel can see.
pub(super) const PUBLIC_THREAD: u8 = 11;

/// Maximum buttons in one row.
const ROW_MAX: usize = 5;

/// Maximum buttons of one prompt.
const BUTTONS_MAX: usize = 25;

/// Maximum characters of a button's label.
const LABEL_CHARS_MAX: usize = 80;

/// Maximum characters of a thread's name.
const THREAD_NAME_CHARS_MAX: usize = 100;

/// Maximum bytes of an emoji, or of the name and id of a custom emoji.
const EMOJI_BYTES_MAX: usize = 64;

/// Characters of the nonce by which Discord detects a repeated message. Its maximum is 25.
const NONCE_CHARS: usize = 24;

/// Kinds of mentions that can notify people.
const CALLABLE: [&str; 3] = ["everyone", "roles", "users"];

/// The body of a message to create.
#[derive(Clone, Debug)]
pub(super) struct Asked(Map<String, Value>);

impl Asked {
    /// Creates a message with a text. It notifies no people, unless the bot's operator granted that.
    pub(super) fn saying(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        if content.replace('\0', "").trim().is_empty() {
            return Err(refused("empty"));
        }
        Self::showing(bot, content)
    }

    /// Creates a message whose text may be empty, because it shows something else, too.
    fn showing(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        let text = content.replace('\0', "");
        if u32::try_from(text.chars().count()).is_ok_and(|chars| chars <= MESSAGE_CHARS_MAX) {
            let mentions = json!({ "parse": granted(bot), "replied_user": false });
            return Ok(Self(Map::new()).with("content", text).with("allowed_mentions", mentions));
        }
        Err(refused("too_long"))
    }

    /// Returns the message that an op creates, or `None` if the op does something else.
    pub(super) fn message(bot: &Bot, op: &Op) -> Result<Option<Self>, DeliverError> {
        let (asked, reply_to) = match op {
            Op::Send { content, reply_to } => (Self::saying(bot, content)?, reply_to),
            Op::SendMedia { source_url, content, reply_to, .. } => {
                (Self::saying(bot, &media(content, source_url)?)?, reply_to)
            }
            Op::Prompt { content, prompt_id, options, reply_to, .. } => {
                let buttons = buttons(prompt_id, options)?;
                (Self::saying(bot, content)?.with("components", buttons), reply_to)
            }
            Op::Edit { .. }
            | Op::Typing { .. }
            | Op::Delete { .. }
            | Op::Draft { .. }
            | Op::TaskCard { .. }
            | Op::TaskCardStop { .. }
            | Op::React { .. }
            | Op::ThreadCreate { .. }
            | Op::ThreadRename { .. }
            | Op::GetChatInfo
            | Op::FollowUp { .. } => return Ok(None),
        };
        Ok(Some(asked.replying(reply_to.as_deref())))
    }

    /// Creates a message with an uploaded file and its caption.
    pub(super) fn giving(bot: &Bot, op: &Op, file: &File) -> Result<(Self, File), DeliverError> {
        let Op::SendMedia { content, reply_to, filename, .. } = op else {
            return Err(DeliverError::Unsupported);
        };
        let filename = filename.clone().or_else(|| file.filename.clone());
        let named = json!([{ "id": 0, "filename": filename.as_deref().unwrap_or(UNNAMED) }]);
        let asked = Self::showing(bot, content)?.with("attachments", named);
        Ok((asked.replying(reply_to.as_deref()), File { filename, ..file.clone() }))
    }

    /// Adds a field.
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // Serialization cannot fail: all values are numbers, texts and lists of them.
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// Makes the message a reply. If the original message is deleted, the message is sent all the same.
    fn replying(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(id) else { return self };
        let reply = json!({ "message_id": to.to_string(), "fail_if_not_exists": false });
        self.with("message_reference", reply)
    }

    /// Adds a nonce. Discord answers a repeated nonce with the message of the first call.
    pub(super) fn named(self, name: Option<&str>) -> Self {
        let Some(name) = name else { return self };
        let hash = hex::encode(digest(&SHA256, name.as_bytes()));
        self.with("nonce", &hash[..NONCE_CHARS]).with("enforce_nonce", true)
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}

fn granted(bot: &Bot) -> Vec<&'static str> {
    let granted = bot.settings["mentions"].as_array();
    let is_granted = |name: &&str| granted.is_some_and(|list| list.iter().any(|one| one == name));
    CALLABLE.into_iter().filter(is_granted).collect()
}

/// Parses an id in a client's format.
pub(super) fn id(text: &str) -> Option<Id> {
    Id::read(text)
}

/// Parses an id that may also be a JSON number.
pub(super) fn number(value: &Value) -> Option<Id> {
    value.as_u64().filter(|id| *id != 0).map(Id).or_else(|| id(value.as_str()?))
}

/// Builds the buttons of a prompt, in rows.
fn buttons(prompt_id: &str, options: &[PromptOption]) -> Result<Value, DeliverError> {
    if options.len() > BUTTONS_MAX {
        return Err(refused("too_many_options"));
    }
    let button = |option: &PromptOption| {
        let word = button_word(prompt_id, &option.id).ok_or_else(|| refused("option_not_taken"))?;
        let label: String = option.label.chars().take(LABEL_CHARS_MAX).collect();
        let label = if label.trim().is_empty() { option.id.clone() } else { label };
        let style = style(option.style.as_deref());
        Ok(json!({ "type": 2, "style": style, "label": label, "custom_id": word }))
    };
    let all: Result<Vec<Value>, DeliverError> = options.iter().map(button).collect();
    let rows = all?.chunks(ROW_MAX).map(|row| json!({ "type": 1, "components": row })).collect();
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

/// Appends a link to an external file. Discord shows a preview of the link.
fn media(caption: &str, url: &str) -> Result<String, DeliverError> {
    if !url.starts_with("https://") || url.contains(char::is_whitespace) {
        return Err(refused("file_not_taken"));
    }
    Ok(format!("{caption}\n{url}").trim().to_owned())
}

/// Returns a valid name for a thread.
pub(super) fn thread_name(name: &str) -> Result<String, DeliverError> {
    let name: String = name.trim().chars().take(THREAD_NAME_CHARS_MAX).collect();
    if name.is_empty() { Err(refused("empty")) } else { Ok(name) }
}

/// Encodes an emoji, of Unicode or of a guild, as a path segment.
pub(super) fn emoji(shown: &str) -> Result<String, DeliverError> {
    let own = shown.strip_prefix("<:").or_else(|| shown.strip_prefix("<a:"));
    let name = own.and_then(|own| own.strip_suffix('>')).unwrap_or(shown).trim();
    // A path segment of dots leads to another path in any encoding.
    let is_odd = name.len() > EMOJI_BYTES_MAX || name.contains(['.', '/', '\\']);
    if name.is_empty() || is_odd {
        return Err(refused("reaction_invalid"));
    }
    let write = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || b"_-".contains(&b) => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    Ok(name.bytes().map(write).collect())
}
