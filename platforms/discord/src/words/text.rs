//! Text: what was written, and whether it was said to the bot.

use super::message::Message;
use crate::me::Me;

/// What was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// The text, without the name of the bot: it is a number that says nothing to anybody.
    pub(super) text: String,
    /// Whether it names the bot.
    pub(super) mentions_bot: bool,
}

impl Written {
    /// What is written in a message. Whom it names, Discord says: a name in a quoted piece of code is none.
    pub(super) fn of(me: Me, message: &Message) -> Self {
        let mentions_bot = message.mentions.iter().any(|user| me.is(user.id));
        let text = message.content.trim();
        let Some(user) = me.user.filter(|_| mentions_bot) else {
            return Self { text: text.to_owned(), mentions_bot };
        };
        let plain = text.replace(&format!("<@{user}>"), "").replace(&format!("<@!{user}>"), "");
        // Who says nothing but the name says the name.
        let plain = if plain.trim().is_empty() { text } else { plain.trim() };
        Self { text: plain.to_owned(), mentions_bot }
    }
}
