//! The parts of Telegram's objects that the adapter reads.
//!
//! The original author of a forward is not read: the author is the person who forwarded it.
#![expect(clippy::struct_field_names, reason = "the names are Telegram's")]

use serde::Deserialize;
use serde::de::IgnoredAny;

/// An update. Of unknown types only the number is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Update {
    pub(crate) update_id: i64,
    pub(crate) message: Option<Box<TelegramMessage>>,
    pub(crate) edited_message: Option<Box<TelegramMessage>>,
    pub(crate) channel_post: Option<Box<TelegramMessage>>,
    pub(crate) edited_channel_post: Option<Box<TelegramMessage>>,
    pub(crate) callback_query: Option<Box<CallbackQuery>>,
}

/// A message of any kind. An inaccessible message has a date of 0 and no content.
#[derive(Debug, Deserialize)]
pub(crate) struct TelegramMessage {
    pub(crate) message_id: i64,
    #[serde(default)]
    pub(crate) date: i64,
    #[serde(default)]
    pub(crate) edit_date: i64,
    pub(crate) chat: TelegramChat,
    pub(crate) from: Option<User>,
    /// The chat on whose behalf the message was sent, if it was not sent as a person.
    pub(crate) sender_chat: Option<TelegramChat>,
    pub(crate) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(crate) is_topic_message: bool,
    #[serde(default)]
    pub(crate) is_automatic_forward: bool,
    pub(crate) reply_to_message: Option<Box<Self>>,
    pub(crate) external_reply: Option<IgnoredAny>,
    pub(crate) quote: Option<Quote>,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) entities: Vec<Entity>,
    pub(crate) caption: Option<String>,
    #[serde(default)]
    pub(crate) caption_entities: Vec<Entity>,
    #[serde(default)]
    pub(crate) photo: Vec<TelegramFile>,
    pub(crate) animation: Option<TelegramFile>,
    pub(crate) audio: Option<TelegramFile>,
    pub(crate) document: Option<TelegramFile>,
    pub(crate) sticker: Option<TelegramFile>,
    pub(crate) video: Option<TelegramFile>,
    pub(crate) video_note: Option<TelegramFile>,
    pub(crate) voice: Option<TelegramFile>,
    pub(crate) location: Option<Location>,
    pub(crate) venue: Option<Venue>,
    pub(crate) contact: Option<Contact>,
    pub(crate) poll: Option<Poll>,
    pub(crate) dice: Option<Dice>,
    pub(crate) forum_topic_created: Option<IgnoredAny>,
    #[serde(default)]
    pub(crate) reply_markup: Markup,
}

/// A chat of any kind.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TelegramChat {
    pub(crate) id: i64,
    /// `private`, `group`, `supergroup` or `channel`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) title: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    #[serde(default)]
    pub(crate) is_forum: bool,
}

/// A person or a bot.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) id: i64,
    #[serde(default)]
    pub(crate) is_bot: bool,
    #[serde(default)]
    pub(crate) first_name: String,
    pub(crate) last_name: Option<String>,
    pub(crate) username: Option<String>,
}

/// A part of a text with a meaning. Its range is in UTF-16 code units.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Entity {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) offset: i64,
    pub(crate) length: i64,
    pub(crate) user: Option<User>,
}

/// The quoted part of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct Quote {
    pub(crate) text: String,
}

/// A file, one size of a photo, or a sticker.
#[derive(Debug, Deserialize)]
pub(crate) struct TelegramFile {
    pub(crate) file_id: String,
    pub(crate) file_size: Option<u64>,
    pub(crate) file_name: Option<String>,
    pub(crate) mime_type: Option<String>,
    #[serde(default)]
    pub(crate) width: u32,
    #[serde(default)]
    pub(crate) height: u32,
    pub(crate) emoji: Option<String>,
    #[serde(default)]
    pub(crate) is_animated: bool,
    #[serde(default)]
    pub(crate) is_video: bool,
}

/// A geographic position.
#[derive(Debug, Deserialize)]
pub(crate) struct Location {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

/// A position with a name.
#[derive(Debug, Deserialize)]
pub(crate) struct Venue {
    pub(crate) title: String,
    pub(crate) address: String,
}

/// A person's contact card.
#[derive(Debug, Deserialize)]
pub(crate) struct Contact {
    pub(crate) phone_number: String,
    pub(crate) first_name: String,
    pub(crate) last_name: Option<String>,
}

/// A poll.
#[derive(Debug, Deserialize)]
pub(crate) struct Poll {
    pub(crate) question: String,
    #[serde(default)]
    pub(crate) options: Vec<PollOption>,
}

/// A choice of a poll.
#[derive(Debug, Deserialize)]
pub(crate) struct PollOption {
    pub(crate) text: String,
}

/// A throw of dice, or of a similar emoji.
#[derive(Debug, Deserialize)]
pub(crate) struct Dice {
    pub(crate) emoji: String,
    pub(crate) value: i64,
}

/// The buttons below a message.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Markup {
    #[serde(default)]
    pub(crate) inline_keyboard: Vec<Vec<InlineButton>>,
}

/// A button.
#[derive(Debug, Deserialize)]
pub(crate) struct InlineButton {
    pub(crate) text: String,
    pub(crate) callback_data: Option<String>,
}

/// A pressed button.
#[derive(Debug, Deserialize)]
pub(crate) struct CallbackQuery {
    pub(crate) id: String,
    pub(crate) from: User,
    /// The message with the button. An inline message has none.
    pub(crate) message: Option<TelegramMessage>,
    pub(crate) data: Option<String>,
}
