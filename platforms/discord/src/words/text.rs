//! Extracts a message's text, and detects mentions of the bot.

use super::message::Message;
use crate::me::Me;

/// The text of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// The text without the bot's mention, which is an id and means nothing to a reader.
    pub(super) text: String,
    /// True if the message mentions the bot.
    pub(super) mentions_bot: bool,
}

impl Written {
    /// Returns the text of a message. Discord reports the mentions: one in a code block does not count.
    pub(super) fn of(me: Me, message: &Message) -> Self {
        let mentions_bot = message.mentions.iter().any(|user| me.is(user.id));
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
