//! Converts Telegram's updates to events.

mod press;
mod shown;
mod source;
mod text;
mod update;

use nightdesk_kit::content::message_draft;
use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, ReceiveError};
use nightdesk_types::event::{self, Draft, MessageKind, ReplyTo, Source};

pub(crate) use press::{BUTTONS, query_id};
pub(crate) use shown::FILE_SCHEME;
pub(crate) use source::{chat_name, chat_type};
pub(crate) use update::Chat;

use shown::extras;
use text::Written;
use update::{Message, Update};

/// The bot's own identity at Telegram.
#[derive(Clone, Copy, Debug)]
struct Me<'b> {
    id: Option<i64>,
    handle: &'b str,
}

/// Converts an update. `None` if it carries no content, or if its type is not handled.
pub(crate) fn event(bot: &Bot, update: &[u8]) -> Result<Option<Draft>, ReceiveError> {
    let update: Update = read_json(update)?;
    let (me, platform) = (Me::of(bot), bot.platform.as_str());
    if let Some(query) = &update.callback_query {
        return press::event(&me, platform, query);
    }
    if let Some(message) = update.message.as_ref().or(update.channel_post.as_ref()) {
        let said = said(&me, platform, message);
        return Ok(said.map(|(source, said)| message_draft(key(message), source, said)));
    }
    let edited = update.edited_message.as_ref().or(update.edited_channel_post.as_ref());
    Ok(edited.and_then(|message| {
        let (source, said) = said(&me, platform, message)?;
        let said = event::Message { is_edit: true, ..said };
        Some(message_draft(edit_key(message, update.update_id), source, said))
    }))
}

/// Returns the key that identifies a message among all messages of its bot: its place in its chat, and its time.
///
/// The update number does not identify it. After a week without updates, or when a bot moves to another server,
/// Telegram begins at any number: a new message with an old number would be dropped as a duplicate. A message that
/// arrives again with another number would become two events.
fn key(message: &Message) -> String {
    format!("m:{}:{}:{}", message.chat.id, message.message_id, message.date)
}

/// Returns the key of an edit. Times are in seconds, and two edits fit into one second, so the update number
/// distinguishes them. The other parts prevent a clash with an old number.
fn edit_key(message: &Message, update_id: i64) -> String {
    format!("e:{}:{}:{}:{update_id}", message.chat.id, message.message_id, message.edit_date)
}

/// Converts a message, unless it has no content or the bot wrote it.
fn said(me: &Me<'_>, platform: &str, message: &Message) -> Option<(Source, event::Message)> {
    if message.from.as_ref().is_some_and(|from| me.is(from.id)) {
        return None;
    }
    let written = Written::of(me, message);
    let said = extras(message).into_message(written.text)?;
    let said = event::Message {
        kind: if written.is_command { MessageKind::Command } else { said.kind },
        message_id: Some(message.message_id.to_string()),
        reply_to: reply_to(me, message),
        mentions_bot: written.mentions_bot,
        ..said
    };
    Some((source::of_message(platform, message), said))
}

/// Returns the message that a reply answers, as far as the update contains it.
fn reply_to(me: &Me<'_>, message: &Message) -> Option<ReplyTo> {
    let quote = message.quote.as_ref().map(|quote| quote.text.clone());
    let Some(answered) = message.reply_to_message.as_ref().filter(|one| is_said(message, one))
    else {
        // The reply is to a message of another chat.
        let elsewhere = message.external_reply.is_some() || quote.is_some();
        return elsewhere.then(|| ReplyTo { text: quote, ..ReplyTo::default() });
    };
    let source = source::of_message("", answered);
    Some(ReplyTo {
        message_id: source.message_id,
        text: quote.or_else(|| answered.text.clone()).or_else(|| answered.caption.clone()),
        author: source.user_name,
        is_own: answered.from.as_ref().is_some_and(|from| me.is(from.id)),
    })
}

/// Returns true if an author wrote the answered message. In a topic, every message that is no reply answers the topic's
/// creation, which may be the bot's.
fn is_said(message: &Message, answered: &Message) -> bool {
    answered.forum_topic_created.is_none() && source::topic(message) != Some(answered.message_id)
}

#[cfg(test)]
mod tests;
