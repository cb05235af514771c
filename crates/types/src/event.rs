//! A platform's event in the desk's own form.
//!
//! A platform's adapter fills a [`Draft`]. [`Event::normalise`] cleans it and refuses an event that no client could
//! take. Only an [`Event`] can be put on the wire, so an adapter cannot send an event that breaks a client.

use serde::{Deserialize, Serialize};

use crate::limits::{PLATFORM_ID_BYTES_MAX, SHORT_TEXT_BYTES_MAX};

mod clean;
mod source;

pub use source::{ChatType, Source};

use clean::{cut, without_nul};

/// An event from an adapter, before cleaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The key that distinguishes this event from every other of its bot. An edit has its own key.
    pub key: String,
    /// The chat and author of the event.
    pub source: Source,
    /// The content.
    pub content: Content,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A message of a person, or an event in the form of a message.
    Message(Box<Message>),
    /// A platform's request, forwarded without its credentials.
    Passthrough(Passthrough),
}

/// A message of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// The text.
    pub text: String,
    /// The kind of message.
    pub kind: MessageKind,
    /// The platform's id of the message.
    pub message_id: Option<String>,
    /// The message that this one answers.
    pub reply_to: Option<ReplyTo>,
    /// The attachments.
    pub media: Vec<Media>,
    /// Earlier messages of the channel, oldest first.
    pub context: Vec<ContextLine>,
    /// True if the earlier messages could not be read.
    pub context_failed: bool,
    /// The button that a person pressed.
    pub prompt_response: Option<PromptResponse>,
    /// The agent's own job that is due.
    pub fire: Option<FireEvent>,
    /// The letter from another agent.
    pub letter: Option<LetterEvent>,
    /// True if it changes an earlier message.
    pub is_edit: bool,
    /// True if it mentions the bot.
    pub mentions_bot: bool,
}

/// The message kinds that clients know. A client treats any other kind as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MessageKind {
    #[default]
    Text,
    Location,
    Photo,
    Video,
    Audio,
    Voice,
    Document,
    Sticker,
    Command,
}

/// The message that another one answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyTo {
    /// The platform's id of the message.
    pub message_id: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// The name of its author.
    pub author: Option<String>,
    /// True if the bot wrote it.
    pub is_own: bool,
}

/// An attachment of a message, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Media {
    /// The URL of the file.
    pub url: String,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// `image`, `voice`, `audio`, `video` or `document`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The caption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
}

/// An earlier message of the channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextLine {
    /// The text.
    pub text: String,
    /// The name of the author.
    pub user_name: Option<String>,
    /// The id of the author.
    pub user_id: Option<String>,
}

/// A button pressed on a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PromptResponse {
    /// The id of the prompt.
    pub prompt_id: String,
    /// The id of the button.
    pub option_id: String,
    /// The label of the button.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The message that showed the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_message_id: Option<String>,
}

/// A job that is due. The desk makes this event, not a platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FireEvent {
    /// The agent's id of the job.
    pub job_id: String,
    /// The due instant as the agent wrote it.
    pub fire_at: String,
    /// The fire's id. The agent reports the end of its run with it.
    pub fire_id: String,
}

/// A letter from another agent. The desk makes this event, not a platform, and has verified its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LetterEvent {
    /// The letter's id. A send to its chat is the reply to it.
    pub letter_id: String,
    /// The sender's address, to which a further letter goes.
    pub from: String,
    /// The id of the emit, the same for all recipients.
    pub dispatch_id: String,
    /// `augment` if the letter informs, `template` if it is a task.
    pub kind: String,
    /// The recipient's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A label by which recipients sort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The sender's id of the exchange. If it is set, the sender waits for a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The skill that sent it, if the sender named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<LetterOrigin>,
}

/// The skill that sent a letter, as claimed by the sender. Only the calling agent is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LetterOrigin {
    /// The skill that emitted it.
    pub skill_name: String,
    /// The skill that started the chain, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_skill_name: Option<String>,
    /// The trigger of that skill.
    pub trigger_kind: String,
    /// The agent that triggered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_agent_id: Option<String>,
}

/// A platform's request as the agent sees it: verified, and without credentials that act on the shared bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passthrough {
    /// The HTTP method.
    pub method: String,
    /// The request path.
    pub path: String,
    /// The headers that the agent may see.
    pub headers: Vec<(String, String)>,
    /// The sanitised body.
    pub body: Vec<u8>,
}

/// The reason why an authentic event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The event has no key, so a repeat could not be distinguished from a new event.
    #[error("event has no key")]
    NoKey,
    /// The event has no chat, so a reply has no destination.
    #[error("event names no chat")]
    NoChat,
    /// The platform's name contains characters that session keys cannot hold.
    #[error("platform name has unsupported characters")]
    OddPlatform,
    /// An id is longer than any platform's, or contains control characters.
    #[error("an id of the event is too long or has control characters")]
    OddId,
    /// The event has no scope, so rooms of two servers could be confused.
    #[error("event of a shared chat names no scope")]
    NoScope,
    /// The chat id contains a character that kills the stock client.
    #[error("chat id is not a WhatsApp address")]
    OddWhatsappChat,
}

/// A cleaned event that every client can take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Event(Draft);

impl Event {
    /// Cleans a draft, or returns the reason for refusing it.
    ///
    /// Cleaning a cleaned event changes nothing.
    pub fn normalise(mut draft: Draft) -> Result<Self, Unreadable> {
        if draft.key.is_empty() {
            return Err(Unreadable::NoKey);
        }
        if !is_plain_id(&draft.key) {
            return Err(Unreadable::OddId);
        }
        draft.source.normalise()?;
        match &mut draft.content {
            Content::Message(message) => message.normalise()?,
            Content::Passthrough(_) => {}
        }
        Ok(Self(draft))
    }

    /// Returns the key that distinguishes this event from every other of its bot.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Returns the chat and author of the event.
    pub const fn source(&self) -> &Source {
        &self.0.source
    }

    /// Returns the content.
    pub const fn content(&self) -> &Content {
        &self.0.content
    }

    /// Returns the button press, if the event is one.
    pub const fn press(&self) -> Option<&PromptResponse> {
        match &self.0.content {
            Content::Message(message) => message.prompt_response.as_ref(),
            Content::Passthrough(_) => None,
        }
    }

    /// Returns a copy in which the attachments have these URLs, in order. Attachments without a URL are removed.
    #[must_use]
    pub fn with_media_urls(&self, urls: Vec<String>) -> Self {
        let mut draft = self.0.clone();
        if let Content::Message(message) = &mut draft.content {
            message.media.truncate(urls.len());
            for (media, url) in message.media.iter_mut().zip(urls) {
                media.url = url;
            }
        }
        Self(draft)
    }

    /// Returns a copy with these context messages and the flag that reading them failed.
    #[must_use]
    pub fn with_context(&self, context: Vec<ContextLine>, failed: bool) -> Self {
        let mut draft = self.0.clone();
        if let Content::Message(message) = &mut draft.content {
            message.context = context;
            message.context_failed = failed;
        }
        Self(draft)
    }

    /// Returns the event as JSON, the form in which an event that no client could take is stored.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the draft, so that the caller can change and normalise it again.
    pub fn into_draft(self) -> Draft {
        self.0
    }
}

impl Message {
    fn normalise(&mut self) -> Result<(), Unreadable> {
        without_nul(&mut self.text);
        let reply = self.reply_to.as_mut();
        let replied = reply.as_ref().and_then(|reply| reply.message_id.as_deref());
        if !self.message_id.as_deref().into_iter().chain(replied).all(is_plain_id) {
            return Err(Unreadable::OddId);
        }
        if let Some(reply) = reply {
            cut(&mut reply.text, SHORT_TEXT_BYTES_MAX);
            cut(&mut reply.author, SHORT_TEXT_BYTES_MAX);
        }
        for line in &mut self.context {
            without_nul(&mut line.text);
            cut(&mut line.user_name, SHORT_TEXT_BYTES_MAX);
            cut(&mut line.user_id, PLATFORM_ID_BYTES_MAX);
        }
        for media in &mut self.media {
            without_nul(&mut media.url);
            for text in [&mut media.mime, &mut media.kind, &mut media.filename, &mut media.caption]
            {
                cut(text, SHORT_TEXT_BYTES_MAX);
            }
        }
        if let Some(fire) = &mut self.fire {
            for text in [&mut fire.job_id, &mut fire.fire_at, &mut fire.fire_id] {
                without_nul(text);
            }
        }
        if let Some(letter) = &mut self.letter {
            letter.clean();
        }
        self.media.retain(|media| !media.url.is_empty());
        Ok(())
    }
}

impl LetterEvent {
    fn clean(&mut self) {
        let Self { letter_id, from, dispatch_id, kind, session_id, event_type, .. } = self;
        for text in [letter_id, from, dispatch_id, kind] {
            without_nul(text);
        }
        for text in [session_id, event_type, &mut self.correlation_id] {
            cut(text, SHORT_TEXT_BYTES_MAX);
        }
        if let Some(origin) = &mut self.origin {
            origin.clean();
        }
    }
}

impl LetterOrigin {
    fn clean(&mut self) {
        let Self { skill_name, entry_skill_name, trigger_kind, caller_agent_id } = self;
        for text in [skill_name, trigger_kind] {
            without_nul(text);
        }
        for text in [entry_skill_name, caller_agent_id] {
            cut(text, SHORT_TEXT_BYTES_MAX);
        }
    }
}

/// Returns true if a platform's id may go into keys and columns.
fn is_plain_id(id: &str) -> bool {
    id.len() <= PLATFORM_ID_BYTES_MAX && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
