//! Extracts a message's text, and detects commands and mentions of the bot.

use nightdesk_port::Bot;

use super::OwnAccount;
use super::update::{Entity, TelegramMessage};

/// Maximum entities of one text, as at Telegram.
const ENTITIES_MAX: usize = 100;

/// The text of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedText {
    /// The text. A command lacks the bot's name.
    pub(super) text: String,
    /// True if it is a command to this bot.
    pub(super) is_command: bool,
    /// True if it mentions the bot.
    pub(super) mentions_bot: bool,
}

impl ParsedText {
    /// Returns the text or the caption of a message.
    pub(super) fn from_message(me: &OwnAccount<'_>, message: &TelegramMessage) -> Self {
        let (text, entities) = match (&message.text, &message.caption) {
            (Some(text), _) => (text, &message.entities),
            (None, Some(caption)) => (caption, &message.caption_entities),
            (None, None) => return Self::default(),
        };
        let entities = &entities[..entities.len().min(ENTITIES_MAX)];
        let mentions_bot = entities.iter().any(|entity| is_mention(me, text, entity));
        let (text, is_command) = strip_command(me, text, entities).unwrap_or((text.clone(), false));
        Self { text, is_command, mentions_bot }
    }
}

fn is_mention(me: &OwnAccount<'_>, text: &str, entity: &Entity) -> bool {
    match entity.kind.as_str() {
        "mention" => entity_text(text, entity)
            .and_then(|name| name.strip_prefix('@'))
            .is_some_and(|name| me.is_called(name)),
        // A person without a username is mentioned by id.
        "text_mention" => entity.user.as_ref().is_some_and(|user| me.is_own_id(user.id)),
        _ => false,
    }
}

/// Returns a text that begins with a command, and true if it is for this bot: in a group, `/do@other_bot` is not.
fn strip_command(me: &OwnAccount<'_>, text: &str, entities: &[Entity]) -> Option<(String, bool)> {
    let first =
        entities.iter().find(|entity| entity.kind == "bot_command" && entity.offset == 0)?;
    let said = entity_text(text, first)?;
    let Some((command, name)) = said.split_once('@') else { return Some((text.to_owned(), true)) };
    if !me.is_called(name) {
        return Some((text.to_owned(), false));
    }
    Some((format!("{command}{}", &text[said.len()..]), true))
}

/// Returns the part of a text that an entity covers, if its range is valid.
fn entity_text<'t>(text: &'t str, entity: &Entity) -> Option<&'t str> {
    let begin = usize::try_from(entity.offset).ok()?;
    let end = begin.checked_add(usize::try_from(entity.length).ok()?)?;
    text.get(at_utf16(text, begin)?..at_utf16(text, end)?)
}

/// Returns the byte offset after so many UTF-16 code units. `None` if the text is shorter or it splits a character.
fn at_utf16(text: &str, units: usize) -> Option<usize> {
    let mut passed = 0;
    for (at, c) in text.char_indices() {
        if passed >= units {
            return (passed == units).then_some(at);
        }
        passed += c.len_utf16();
    }
    (passed == units).then_some(text.len())
}

impl<'b> OwnAccount<'b> {
    /// Returns the identity of a bot. Its id is before the colon of its key.
    pub(super) fn from_bot(bot: &'b Bot) -> Self {
        let id = |key: &str| key.split_once(':').and_then(|(id, _)| id.parse().ok());
        let handle = bot.handle.strip_prefix('@').unwrap_or(&bot.handle);
        Self { id: bot.key.as_ref().and_then(|key| key.with(id)), handle }
    }

    /// Returns true if this is the bot's id.
    pub(super) fn is_own_id(&self, id: i64) -> bool {
        self.id == Some(id)
    }

    fn is_called(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.handle)
    }
}

#[cfg(test)]
mod tests;
