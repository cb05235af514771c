//! Extracts a message's text, and detects mentions of the bot.

use super::message::DiscordMessage;
use crate::own_ids::OwnIds;

/// The text of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MessageText {
    /// The text without the bot's mention, which is an id and means nothing to a reader.
    pub(super) text: String,
    /// True if the message mentions the bot.
    pub(super) mentions_bot: bool,
}

impl MessageText {
    /// Returns the text of a message. Discord reports the mentions: one in a code block does not count.
    pub(super) fn from_message(me: OwnIds, message: &DiscordMessage) -> Self {
        let mentions_bot = message.mentions.iter().any(|user| me.is_own_account(user.id));
        let text = message.content.trim();
        let Some(user) = me.user.filter(|_| mentions_bot) else {
            return Self { text: text.to_owned(), mentions_bot };
        };
        let plain = text.replace(&format!("<@{user}>"), "").replace(&format!("<@!{user}>"), "");
        // If the message is only the mention, the text keeps it.
        let plain = if plain.trim().is_empty() { text } else { plain.trim() };
        Self { text: plain.to_owned(), mentions_bot }
    }
}
