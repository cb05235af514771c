//! Converts Discord's data to events.

mod command;
mod file;
mod message;
mod press;
mod channel;
mod extras;
mod source;
mod text;

use nightdesk_kit::content::message_draft;
use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, Capability, ReceiveError};
use nightdesk_types::event::{self, Draft, MessageKind, ReplyTo, Source};

pub(crate) use channel::{ChannelLookup, DiscordChannel, NoChannels};
pub(crate) use command::is_token;
pub(crate) use file::FileRef;
pub(crate) use message::{BUTTON, COMMAND, DiscordMessage, Interaction};
pub(crate) use press::BUTTONS;

use crate::own_ids::OwnIds;
use extras::extras;
use message::User;
use text::MessageText;

/// An event, and the capability to answer it.
pub(crate) type ConvertedEvent = (Draft, Option<Capability>);

/// Converts a message, an edited message or an interaction. `None` if it carries no content, or if its type is not
/// handled.
pub(crate) fn convert_event(
    bot: &Bot,
    rooms: &dyn ChannelLookup,
    kind: &str,
    told: &[u8],
) -> Result<Option<ConvertedEvent>, ReceiveError> {
    let speaker = EventConverter { me: OwnIds::from_bot(bot), platform: &bot.platform, rooms };
    match kind {
        "MESSAGE_CREATE" => speaker.convert_created(&read_json(told)?),
        "MESSAGE_UPDATE" => Ok(speaker.convert_edited(&read_json(told)?)),
        "INTERACTION_CREATE" => speaker.convert_interaction(&read_json(told)?),
        _ => Ok(None),
    }
}

/// Context of the conversion: the bot, its platform and its channels.
struct EventConverter<'b> {
    me: OwnIds,
    platform: &'b str,
    rooms: &'b dyn ChannelLookup,
}

impl EventConverter<'_> {
    fn convert_created(
        &self,
        message: &DiscordMessage,
    ) -> Result<Option<ConvertedEvent>, ReceiveError> {
        let author = message.author.as_ref().ok_or(ReceiveError::Unreadable)?;
        let said = self.convert_message(message, author);
        Ok(said
            .map(|(source, said)| (message_draft(format!("m:{}", message.id), source, said), None)))
    }

    /// Converts an edited message. Discord sends the same event after it has loaded a link preview; then the message
    /// has no edit time.
    fn convert_edited(&self, message: &DiscordMessage) -> Option<ConvertedEvent> {
        let at = message.edited_timestamp.as_ref()?;
        let (source, said) = self.convert_message(message, message.author.as_ref()?)?;
        let said = event::Message { is_edit: true, ..said };
        Some((message_draft(format!("e:{}:{at}", message.id), source, said), None))
    }

    /// Converts a message, unless it has no content or the bot wrote it.
    fn convert_message(
        &self,
        message: &DiscordMessage,
        author: &User,
    ) -> Option<(Source, event::Message)> {
        if self.me.is_own_account(author.id) || !message.has_author_text() {
            return None;
        }
        let written = MessageText::from_message(self.me, message);
        let said = extras(message).into_message(written.text)?;
        let is_command = said.text.starts_with('/');
        let said = event::Message {
            kind: if is_command { MessageKind::Command } else { said.kind },
            message_id: Some(message.id.to_string()),
            reply_to: self.reply_to(message),
            mentions_bot: written.mentions_bot,
            ..said
        };
        Some((source::message_source(self.platform, self.rooms, message, author), said))
    }

    /// Returns the message that a reply answers. If that message is deleted, only its id is known.
    fn reply_to(&self, message: &DiscordMessage) -> Option<ReplyTo> {
        let reference = message.message_reference.as_ref().filter(|_| message.is_reply())?;
        let answered = message.referenced_message.as_deref();
        let author = answered.and_then(|answered| answered.author.as_ref());
        Some(ReplyTo {
            message_id: reference.message_id.map(|id| id.to_string()),
            text: answered.map(|answered| answered.content.clone()).filter(|text| !text.is_empty()),
            author: author.map(|author| source::user_name(author, None)),
            is_own: author.is_some_and(|author| self.me.is_own_account(author.id)),
        })
    }

    fn convert_interaction(
        &self,
        interaction: &Interaction,
    ) -> Result<Option<ConvertedEvent>, ReceiveError> {
        let said = match interaction.kind {
            COMMAND => command::command_message(interaction),
            BUTTON => press::press_message(self.me, interaction),
            // The desk never opens a modal, and an autocomplete request is not a message.
            _ => return Ok(None),
        };
        let said = said.ok_or(ReceiveError::Unreadable)?;
        let source = source::interaction_source(self.platform, self.rooms, interaction);
        let source = source.ok_or(ReceiveError::Unreadable)?;
        let draft = message_draft(format!("i:{}", interaction.id), source, said);
        Ok(Some((draft, command::interaction_capability(interaction))))
    }
}

#[cfg(test)]
pub(crate) mod tests;
