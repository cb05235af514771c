//! Asked: what is asked of Discord, as it wants to be asked.

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_port::{Bot, DeliverError, File};
use nightdesk_types::send::{Op, PromptOption};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::refused;
use crate::api::UNNAMED;
use crate::capabilities::MESSAGE_CHARS_MAX;
use crate::words::{Id, button_word};

/// The kind of thread that all can see who see the channel.
pub(super) const PUBLIC_THREAD: u8 = 11;

/// Buttons in one row, ...
const ROW_MAX: usize = 5;

/// ... and under one question.
const BUTTONS_MAX: usize = 25;

/// Characters a button shows.
const LABEL_CHARS_MAX: usize = 80;

/// Characters a thread's name may have.
const THREAD_NAME_CHARS_MAX: usize = 100;

/// Bytes of an emoji, or of the name and number of one of a guild's own.
const EMOJI_BYTES_MAX: usize = 64;

/// Characters of the name by which Discord tells a repeat. It takes 25.
const NONCE_CHARS: usize = 24;

/// The names of those who can be called by being named.
const CALLABLE: [&str; 3] = ["everyone", "roles", "users"];

/// A message to be made.
#[derive(Clone, Debug)]
pub(super) struct Asked(Map<String, Value>);

impl Asked {
    /// Says something. It calls nobody, unless the bot's operator granted that.
    pub(super) fn saying(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        if content.replace('\0', "").trim().is_empty() {
            return Err(refused("empty"));
        }
        Self::showing(bot, content)
    }

    /// The same, where something besides a text is shown.
    fn showing(bot: &Bot, content: &str) -> Result<Self, DeliverError> {
        let text = content.replace('\0', "");
        if u32::try_from(text.chars().count()).is_ok_and(|chars| chars <= MESSAGE_CHARS_MAX) {
            let mentions = json!({ "parse": granted(bot), "replied_user": false });
            return Ok(Self(Map::new()).with("content", text).with("allowed_mentions", mentions));
        }
        Err(refused("too_long"))
    }

    /// The message that an op makes; none, if it does something else.
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

    /// A file, with what is said of it.
    pub(super) fn giving(bot: &Bot, op: &Op, file: &File) -> Result<(Self, File), DeliverError> {
        let Op::SendMedia { content, reply_to, filename, .. } = op else {
            return Err(DeliverError::Unsupported);
        };
        let filename = filename.clone().or_else(|| file.filename.clone());
        let named = json!([{ "id": 0, "filename": filename.as_deref().unwrap_or(UNNAMED) }]);
        let asked = Self::showing(bot, content)?.with("attachments", named);
        Ok((asked.replying(reply_to.as_deref()), File { filename, ..file.clone() }))
    }

    /// The same, with one more.
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // What cannot be written is none: all that is given is numbers, texts and lists of them.
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// An answer to a message. If that is gone, it is said all the same.
    fn replying(self, to: Option<&str>) -> Self {
        let Some(to) = to.and_then(id) else { return self };
        let reply = json!({ "message_id": to.to_string(), "fail_if_not_exists": false });
        self.with("message_reference", reply)
    }

    /// By a name. Discord answers a repeat with the message that it made the first time.
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

/// An id as clients write it.
pub(super) fn id(text: &str) -> Option<Id> {
    Id::read(text)
}

/// One that they may write as a number, too.
pub(super) fn number(value: &Value) -> Option<Id> {
    value.as_u64().filter(|id| *id != 0).map(Id).or_else(|| id(value.as_str()?))
}

/// The buttons of a question, in rows.
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

/// A file that lies elsewhere: Discord shows what an address leads to.
fn media(caption: &str, url: &str) -> Result<String, DeliverError> {
    if !url.starts_with("https://") || url.contains(char::is_whitespace) {
        return Err(refused("file_not_taken"));
    }
    Ok(format!("{caption}\n{url}").trim().to_owned())
}

/// A name for a thread.
pub(super) fn thread_name(name: &str) -> Result<String, DeliverError> {
    let name: String = name.trim().chars().take(THREAD_NAME_CHARS_MAX).collect();
    if name.is_empty() { Err(refused("empty")) } else { Ok(name) }
}

/// An emoji as a part of an address: one of Unicode's, or one of a guild's own.
pub(super) fn emoji(shown: &str) -> Result<String, DeliverError> {
    let own = shown.strip_prefix("<:").or_else(|| shown.strip_prefix("<a:"));
    let name = own.and_then(|own| own.strip_suffix('>')).unwrap_or(shown).trim();
    // A part of an address that is dots leads elsewhere, however it is written.
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
