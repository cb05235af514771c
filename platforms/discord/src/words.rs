//! Converts Discord's data to events.

mod command;
mod file;
mod message;
mod press;
mod room;
mod shown;
mod source;
mod text;

use nightdesk_kit::content::message_draft;
use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, Capability, ReceiveError};
use nightdesk_types::event::{self, Draft, MessageKind, ReplyTo, Source};

pub(crate) use command::is_token;
pub(crate) use file::FileRef;
pub(crate) use message::{BUTTON, COMMAND, Interaction, Message};
pub(crate) use press::BUTTONS;
pub(crate) use room::{NoRooms, Room, Rooms};

use crate::me::Me;
use message::User;
use shown::extras;
use text::Written;

/// An event, and the capability to answer it.
pub(crate) type Said = (Draft, Option<Capability>);

/// Converts a message, an edited message or an interaction. `None` if it carries no content, or if its type is not
/// handled.
pub(crate) fn event(
    bot: &Bot,
    rooms: &dyn Rooms,
    kind: &str,
    told: &[u8],
) -> Result<Option<Said>, ReceiveError> {
    let speaker = Speaker { me: Me::of(bot), platform: &bot.platform, rooms };
    match kind {
        "MESSAGE_CREATE" => speaker.created(&read_json(told)?),
        "MESSAGE_UPDATE" => Ok(speaker.edited(&read_json(told)?)),
        "INTERACTION_CREATE" => speaker.interacted(&read_json(told)?),
        _ => Ok(None),
    }
}

/// Context of the conversion: the bot, its platform and its channels.
struct Speaker<'b> {
    me: Me,
    platform: &'b str,
    rooms: &'b dyn Rooms,
}

impl Speaker<'_> {
    fn created(&self, message: &Message) -> Result<Option<Said>, ReceiveError> {
        let author = message.author.as_ref().ok_or(ReceiveError::Unreadable)?;
        let said = self.said(message, author);
        Ok(said
            .map(|(source, said)| (message_draft(format!("m:{}", message.id), source, said), None)))
    }

    /// Converts an edited message. Discord sends the same event after it has loaded a link preview; then the message
    /// has no edit time.
    fn edited(&self, message: &Message) -> Option<Said> {
        let at = message.edited_timestamp.as_ref()?;
        let (source, said) = self.said(message, message.author.as_ref()?)?;
        let said = event::Message { is_edit: true, ..said };
        Some((message_draft(format!("e:{}:{at}", message.id), source, said), None))
    }

    /// Converts a message, unless it has no content or the bot wrote it.
    fn said(&self, message: &Message, author: &User) -> Option<(Source, event::Message)> {
        if self.me.is(author.id) || !message.is_said() {
            return None;
        }
        let written = Written::of(self.me, message);
        let said = extras(message).into_message(written.text)?;
        let is_command = said.text.starts_with('/');
        let said = event::Message {
            kind: if is_command { MessageKind::Command } else { said.kind },
            message_id: Some(message.id.to_string()),
            reply_to: self.reply_to(message),
            mentions_bot: written.mentions_bot,
            ..said
        };
        Some((source::of_message(self.platform, self.rooms, message, author), said))
    }

    /// Returns the message that a reply answers. If that message is deleted, only its id is known.
    fn reply_to(&self, message: &Message) -> Option<ReplyTo> {
        let reference = message.message_reference.as_ref().filter(|_| message.is_reply())?;
        let answered = message.referenced_message.as_deref();
        let author = answered.and_then(|answered| answered.author.as_ref());
        Some(ReplyTo {
            message_id: reference.message_id.map(|id| id.to_string()),
            text: answered.map(|answered| answered.content.clone()).filter(|text| !text.is_empty()),
            author: author.map(|author| source::user_name(author, None)),
            is_own: author.is_some_and(|author| self.me.is(author.id)),
        })
    }

    fn interacted(&self, interaction: &Interaction) -> Result<Option<Said>, ReceiveError> {
        let said = match interaction.kind {
            COMMAND => command::said(interaction),
            BUTTON => press::said(self.me, interaction),
            // The desk never opens a modal, and an autocomplete request is not a message.
            _ => return Ok(None),
        };
        let said = said.ok_or(ReceiveError::Unreadable)?;
        let source = source::of_interaction(self.platform, self.rooms, interaction);
        let source = source.ok_or(ReceiveError::Unreadable)?;
        let draft = message_draft(format!("i:{}", interaction.id), source, said);
        Ok(Some((draft, command::capability(interaction))))
    }
}

#[cfg(test)]
pub(crate) mod tests;
