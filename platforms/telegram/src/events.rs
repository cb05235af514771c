//! Converts Telegram's updates to events.

mod press;
mod extras;
mod source;
mod text;
mod update;

use nightdesk_kit::content::message_draft;
use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, ReceiveError};
use nightdesk_types::event::{self, Draft, MessageKind, ReplyTo, Source};

pub(crate) use extras::FILE_SCHEME;
pub(crate) use press::{BUTTONS, query_id};
pub(crate) use source::{chat_name, chat_type};
pub(crate) use update::TelegramChat;

use extras::extras;
use text::ParsedText;
use update::{TelegramMessage, Update};

/// The bot's own identity at Telegram.
#[derive(Clone, Copy, Debug)]
struct OwnAccount<'b> {
    id: Option<i64>,
    handle: &'b str,
}

/// Converts an update. `None` if it carries no content, or if its type is not handled.
pub(crate) fn convert_update(bot: &Bot, update: &[u8]) -> Result<Option<Draft>, ReceiveError> {
    let update: Update = read_json(update)?;
    let (me, platform) = (OwnAccount::from_bot(bot), bot.platform.as_str());
    if let Some(query) = &update.callback_query {
        return press::convert_press(&me, platform, query);
    }
    if let Some(message) = update.message.as_ref().or(update.channel_post.as_ref()) {
        let said = convert_message(&me, platform, message);
        return Ok(said.map(|(source, said)| message_draft(message_key(message), source, said)));
    }
    let edited = update.edited_message.as_ref().or(update.edited_channel_post.as_ref());
    Ok(edited.and_then(|message| {
        let (source, said) = convert_message(&me, platform, message)?;
        let said = event::Message { is_edit: true, ..said };
        Some(message_draft(edit_key(message, update.update_id), source, said))
    }))
}

/// Returns the key that identifies a message among all messages of its bot: its place in its chat, and its time.
///
/// The update number does not identify it. After a week without updates, or when a bot moves to another server,
/// Telegram begins at any number: a new message with an old number would be dropped as a duplicate. A message that
/// arrives again with another number would become two events.
fn message_key(message: &TelegramMessage) -> String {
    format!("m:{}:{}:{}", message.chat.id, message.message_id, message.date)
}

/// Returns the key of an edit. Times are in seconds, and two edits fit into one second, so the update number
/// distinguishes them. The other parts prevent a clash with an old number.
fn edit_key(message: &TelegramMessage, update_id: i64) -> String {
    format!("e:{}:{}:{}:{update_id}", message.chat.id, message.message_id, message.edit_date)
}

/// Converts a message, unless it has no content or the bot wrote it.
fn convert_message(
    me: &OwnAccount<'_>,
    platform: &str,
    message: &TelegramMessage,
) -> Option<(Source, event::Message)> {
    if message.from.as_ref().is_some_and(|from| me.is_own_id(from.id)) {
        return None;
    }
    let written = ParsedText::from_message(me, message);
    let said = extras(message).into_message(written.text)?;
    let said = event::Message {
        kind: if written.is_command { MessageKind::Command } else { said.kind },
        message_id: Some(message.message_id.to_string()),
        reply_to: reply_to(me, message),
        mentions_bot: written.mentions_bot,
        ..said
    };
    Some((source::message_source(platform, message), said))
}

/// Returns the message that a reply answers, as far as the update contains it.
fn reply_to(me: &OwnAccount<'_>, message: &TelegramMessage) -> Option<ReplyTo> {
    let quote = message.quote.as_ref().map(|quote| quote.text.clone());
    let Some(answered) = message.reply_to_message.as_ref().filter(|one| has_author(message, one))
    else {
        // The reply is to a message of another chat.
        let elsewhere = message.external_reply.is_some() || quote.is_some();
        return elsewhere.then(|| ReplyTo { text: quote, ..ReplyTo::default() });
    };
    let source = source::message_source("", answered);
    Some(ReplyTo {
        message_id: source.message_id,
        text: quote.or_else(|| answered.text.clone()).or_else(|| answered.caption.clone()),
        author: source.user_name,
        is_own: answered.from.as_ref().is_some_and(|from| me.is_own_id(from.id)),
    })
}

/// Returns true if an author wrote the answered message. In a topic, every message that is no reply answers the topic's
/// creation, which may be the bot's.
fn has_author(message: &TelegramMessage, answered: &TelegramMessage) -> bool {
    answered.forum_topic_created.is_none() && source::topic(message) != Some(answered.message_id)
}

#[cfg(test)]
mod tests;
