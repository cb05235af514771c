//! The parts of Discord's objects that the adapter reads.
//!
//! The adapter defines its own types, because a library that knows all fields rejects a message in which one field is
//! new or missing.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::DiscordChannel;
use crate::id::Id;

/// Interaction type of a command.
pub(crate) const COMMAND: u8 = 2;

/// Interaction type of a pressed button.
pub(crate) const BUTTON: u8 = 3;

/// Message types that have an author's text: plain, a reply, and answers to a command.
const SAID: [u8; 4] = [0, 19, 20, 23];

const REPLY: u8 = 19;

/// A message of any type.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DiscordMessage {
    pub(crate) id: Id,
    pub(crate) channel_id: Id,
    pub(crate) guild_id: Option<Id>,
    pub(crate) author: Option<User>,
    pub(crate) member: Option<MemberProfile>,
    /// Set if a webhook wrote the message.
    pub(crate) webhook_id: Option<Id>,
    #[serde(rename = "type", default)]
    kind: u8,
    #[serde(default)]
    pub(crate) flags: u64,
    pub(crate) edited_timestamp: Option<String>,
    #[serde(default)]
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) mentions: Vec<User>,
    #[serde(default)]
    pub(crate) attachments: Vec<Attachment>,
    #[serde(default)]
    pub(crate) sticker_items: Vec<Sticker>,
    pub(crate) poll: Option<Poll>,
    pub(crate) message_reference: Option<Reference>,
    pub(crate) referenced_message: Option<Box<Self>>,
    /// Forwarded messages. Discord does not report their authors.
    #[serde(default)]
    pub(crate) message_snapshots: Vec<Snapshot>,
    #[serde(default)]
    pub(crate) components: Vec<Component>,
}

impl DiscordMessage {
    /// Returns true if an author wrote it. Joins, pins and new threads are system messages.
    pub(super) fn has_author_text(&self) -> bool {
        SAID.contains(&self.kind)
    }

    /// Returns the files of the message and of the message that it forwards.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Attachment> {
        let passed = self.message_snapshots.first().map(|snapshot| &snapshot.message);
        self.attachments.iter().chain(passed.into_iter().flat_map(|passed| &passed.attachments))
    }

    pub(super) const fn is_reply(&self) -> bool {
        self.kind == REPLY
    }
}

/// A person or a bot.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) id: Id,
    #[serde(default)]
    pub(crate) username: String,
    pub(crate) global_name: Option<String>,
    #[serde(default)]
    pub(crate) bot: bool,
}

/// A person's data in a guild.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MemberProfile {
    pub(crate) nick: Option<String>,
    pub(crate) user: Option<User>,
}

/// A file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Attachment {
    /// Without an id the file cannot be fetched.
    #[serde(default)]
    pub(crate) id: Id,
    pub(crate) url: String,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) size: Option<u64>,
}

/// A sticker.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sticker {
    pub(crate) id: Id,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) format_type: u8,
}

/// A poll.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Poll {
    pub(crate) question: PollText,
    #[serde(default)]
    pub(crate) answers: Vec<PollAnswer>,
}

/// A choice of a poll.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PollAnswer {
    pub(crate) poll_media: PollText,
}

/// The text of a question or a choice.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PollText {
    #[serde(default)]
    pub(crate) text: String,
}

/// A reference to another message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Reference {
    pub(crate) message_id: Option<Id>,
}

/// A forwarded message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) message: ForwardedMessage,
}

/// The content of a forwarded message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ForwardedMessage {
    #[serde(default)]
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) attachments: Vec<Attachment>,
}

/// A row of buttons, or a button.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Component {
    pub(crate) custom_id: Option<String>,
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) components: Vec<Self>,
}

/// A command or a pressed button.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Interaction {
    pub(crate) id: Id,
    #[serde(rename = "type")]
    pub(crate) kind: u8,
    /// The token to answer with. It acts as the shared bot.
    #[serde(default)]
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) data: InteractionInput,
    pub(crate) guild_id: Option<Id>,
    pub(crate) channel_id: Option<Id>,
    pub(crate) channel: Option<DiscordChannel>,
    pub(crate) member: Option<MemberProfile>,
    /// The person, outside a guild.
    pub(crate) user: Option<User>,
    /// The message with the button.
    pub(crate) message: Option<Box<DiscordMessage>>,
}

/// The command or the button.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InteractionInput {
    pub(crate) name: String,
    pub(crate) custom_id: String,
    #[serde(deserialize_with = "or_none")]
    pub(crate) options: Vec<CommandOption>,
}

/// A part of a command: an option's value or a subcommand.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CommandOption {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) value: Value,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) options: Vec<Self>,
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CommandOption>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
