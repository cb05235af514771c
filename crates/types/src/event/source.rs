//! The source of an event, with every key that a client reads.

use serde::{Deserialize, Serialize};

use super::clean::cut;
use super::{Unreadable, is_plain_id};
use crate::limits::SHORT_TEXT_BYTES_MAX;

/// The chat, author and place of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// The platform's name: `discord`, `telegram`, `webchat`.
    pub platform: String,
    /// The chat or channel, to which replies go.
    pub chat_id: String,
    /// The kind of chat.
    pub chat_type: ChatType,
    /// The display name of the chat.
    pub chat_name: Option<String>,
    /// The platform's id of the author.
    pub user_id: Option<String>,
    /// The name of the author.
    pub user_name: Option<String>,
    /// The author's display name, if it differs.
    pub user_display_name: Option<String>,
    /// The author's handle, if it differs.
    pub user_handle: Option<String>,
    /// The thread or topic in the chat.
    pub thread_id: Option<String>,
    /// The topic of the chat.
    pub chat_topic: Option<String>,
    /// A second, more stable id of the author.
    pub user_id_alt: Option<String>,
    /// A second id of the chat.
    pub chat_id_alt: Option<String>,
    /// The guild, workspace or server the chat belongs to.
    pub scope_id: Option<String>,
    /// The channel a thread belongs to.
    pub parent_chat_id: Option<String>,
    /// The message that caused the event.
    pub message_id: Option<String>,
    /// The agent's profile that the event is for.
    pub profile: Option<String>,
    /// The thread a reply would open.
    pub prospective_thread_id: Option<String>,
    /// True if the author is a program.
    pub is_bot: bool,
}

/// The kinds of chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChatType {
    /// One person and the bot.
    #[default]
    Dm,
    /// Several people.
    Group,
    /// A channel of a server.
    Channel,
    /// A thread that is a chat of its own.
    Thread,
    /// A group with topics.
    Forum,
}

impl ChatType {
    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Dm, Self::Group, Self::Channel, Self::Thread, Self::Forum];
        all.into_iter().find(|one| one.as_str() == name)
    }

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dm => "dm",
            Self::Group => "group",
            Self::Channel => "channel",
            Self::Thread => "thread",
            Self::Forum => "forum",
        }
    }
}

/// Platforms whose rooms belong to a server, so that a room id alone may be ambiguous.
const SCOPED_PLATFORMS: [&str; 3] = ["discord", "slack", "matrix"];

impl Source {
    pub(super) fn normalise(&mut self) -> Result<(), Unreadable> {
        self.platform = self.platform.trim().to_ascii_lowercase();
        if !is_plain_platform(&self.platform) {
            return Err(Unreadable::OddPlatform);
        }
        self.drop_empty();
        self.check_ids()?;
        let shared = self.chat_type != ChatType::Dm;
        if shared && self.scope_id.is_none() && SCOPED_PLATFORMS.contains(&self.platform.as_str()) {
            return Err(Unreadable::NoScope);
        }
        if self.platform.starts_with("whatsapp") && !shared && !is_whatsapp_chat(&self.chat_id) {
            return Err(Unreadable::OddWhatsappChat);
        }
        Ok(())
    }

    fn drop_empty(&mut self) {
        for id in self.optional_ids_mut() {
            id.take_if(|id| id.is_empty());
        }
        for name in [
            &mut self.chat_name,
            &mut self.user_name,
            &mut self.user_display_name,
            &mut self.user_handle,
            &mut self.chat_topic,
        ] {
            cut(name, SHORT_TEXT_BYTES_MAX);
        }
    }

    fn check_ids(&mut self) -> Result<(), Unreadable> {
        if self.chat_id.is_empty() {
            return Err(Unreadable::NoChat);
        }
        let plain = is_plain_id(&self.chat_id)
            && self.optional_ids_mut().into_iter().flatten().all(|id| is_plain_id(id));
        if plain { Ok(()) } else { Err(Unreadable::OddId) }
    }

    fn optional_ids_mut(&mut self) -> [&mut Option<String>; 9] {
        [
            &mut self.user_id,
            &mut self.thread_id,
            &mut self.user_id_alt,
            &mut self.chat_id_alt,
            &mut self.scope_id,
            &mut self.parent_chat_id,
            &mut self.message_id,
            &mut self.profile,
            &mut self.prospective_thread_id,
        ]
    }
}

/// Returns true if a platform's name may be part of session keys, so it contains no separator.
fn is_plain_platform(name: &str) -> bool {
    const PLATFORM_NAME_BYTES_MAX: usize = 32;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    !name.is_empty() && name.len() <= PLATFORM_NAME_BYTES_MAX && name.bytes().all(plain)
}

/// Returns true if a WhatsApp address has only characters that the stock client accepts. Any other character kills its
/// reader. The client checks after a first cut at `:`; this function checks the whole address and permits the colon.
fn is_whatsapp_chat(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_alphanumeric() || b"@.+-:".contains(&b))
}
