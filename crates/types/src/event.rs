//! Event: what a platform said, in our words.
//!
//! A platform's adapter fills a [`Draft`]; [`Event::normalise`] cleans it and refuses what no
//! client could take. Only an [`Event`] can be put on the wire, so nothing that poisons a
//! client can be made by mistake.

use serde::{Deserialize, Serialize};

use crate::limits::{PLATFORM_ID_BYTES_MAX, SHORT_TEXT_BYTES_MAX};

mod clean;
mod source;

pub use source::{ChatType, Source};

use clean::{cut, without_nul};

/// An event as an adapter makes it, not yet cleaned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// What tells this event from every other of its bot. An edit has a key of its own.
    pub key: String,
    /// Where it comes from.
    pub source: Source,
    /// What it says.
    pub content: Content,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Something a person wrote, or a thing that reads like it.
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
    /// What kind of message it is.
    pub kind: MessageKind,
    /// The platform's id for it.
    pub message_id: Option<String>,
    /// What it answers.
    pub reply_to: Option<ReplyTo>,
    /// What is attached.
    pub media: Vec<Media>,
    /// What was said in the channel before, oldest first.
    pub context: Vec<ContextLine>,
    /// Whether it could not be found out what was said before.
    pub context_failed: bool,
    /// The button that was pressed.
    pub prompt_response: Option<PromptResponse>,
    /// The job of the agent's own that is due.
    pub fire: Option<Fire>,
    /// The letter of another agent that it is.
    pub letter: Option<Letter>,
    /// Whether it changes an earlier message.
    pub is_edit: bool,
    /// Whether it names the bot.
    pub mentions_bot: bool,
}

/// The kinds of message a client knows. Another kind would be taken for text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The platform's id for it.
    pub message_id: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Whether the bot wrote it.
    pub is_own: bool,
}

/// Something attached to a message, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Media {
    /// Where it is.
    pub url: String,
    /// What it is.
    pub mime: Option<String>,
    /// `image`, `voice`, `audio`, `video` or `document`.
    pub kind: Option<String>,
    /// How large it is.
    pub size: Option<u64>,
    /// What it is called.
    pub filename: Option<String>,
    /// What is written under it.
    pub caption: Option<String>,
}

/// A line of what was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextLine {
    /// The text.
    pub text: String,
    /// Who wrote it, by name.
    pub user_name: Option<String>,
    /// Who wrote it, by id.
    pub user_id: Option<String>,
}

/// A button pressed on a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptResponse {
    /// Which prompt.
    pub prompt_id: String,
    /// Which button.
    pub option_id: String,
    /// What the button said.
    pub label: Option<String>,
    /// The message that showed the prompt.
    pub prompt_message_id: Option<String>,
}

/// A job that is due. Platforms do not say it: the desk does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fire {
    /// What the agent calls the job.
    pub job_id: String,
    /// When it was due, as the agent wrote it.
    pub fire_at: String,
    /// The fire's id: by it the agent reports the end of its run.
    pub fire_id: String,
}

/// A letter of another agent. Platforms do not say it: the desk does, and what is in here was proven to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Letter {
    /// Its id. A send to its chat is the reply to it.
    pub letter_id: String,
    /// Who sent it: the address to which another letter goes.
    pub from: String,
    /// The emit that it is of, the same for all who got it.
    pub dispatch_id: String,
    /// Whether it is to be known (`augment`) or to be done (`template`).
    pub kind: String,
    /// The session that it is for.
    pub session_id: Option<String>,
    /// A label by which receivers sort.
    pub event_type: Option<String>,
    /// By what its sender knows the reply. If it is there, somebody waits.
    pub correlation_id: Option<String>,
    /// Which skill sent it, if that was said.
    pub origin: Option<LetterOrigin>,
}

/// Which skill sent a letter, by its own word; who called is what was proven.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LetterOrigin {
    /// The skill that emitted it.
    pub skill_name: String,
    /// The skill with which it all began, if that is another.
    pub entry_skill_name: Option<String>,
    /// How that one came to run.
    pub trigger_kind: String,
    /// Who had it run.
    pub caller_agent_id: Option<String>,
}

/// A platform's request as the agent gets to see it: verified, and without what acts on the
/// shared bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passthrough {
    /// The HTTP method.
    pub method: String,
    /// The path it came to.
    pub path: String,
    /// The headers that may be shown.
    pub headers: Vec<(String, String)>,
    /// The sanitised body.
    pub body: Vec<u8>,
}

/// Why an authentic event cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Without a key a repeat could not be told from a new event.
    #[error("event has no key")]
    NoKey,
    /// Every reply needs somewhere to go.
    #[error("event names no chat")]
    NoChat,
    /// The platform's name goes into session keys.
    #[error("platform name is not plain")]
    OddPlatform,
    /// An id is longer than any platform's, or holds control characters.
    #[error("an id of the event is too long or not plain text")]
    OddId,
    /// Without it, rooms of two servers could be taken for one.
    #[error("event of a shared room names no scope")]
    NoScope,
    /// The stock client dies of it.
    #[error("chat id is not a WhatsApp address")]
    OddWhatsappChat,
}

/// A cleaned event that every client can take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Event(Draft);

impl Event {
    /// Cleans a draft, or says why it cannot be taken.
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

    /// What tells this event from every other of its bot.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Where it comes from.
    pub const fn source(&self) -> &Source {
        &self.0.source
    }

    /// What it says.
    pub const fn content(&self) -> &Content {
        &self.0.content
    }

    /// The button that was pressed, if it is a press.
    pub const fn press(&self) -> Option<&PromptResponse> {
        match &self.0.content {
            Content::Message(message) => message.prompt_response.as_ref(),
            Content::Passthrough(_) => None,
        }
    }

    /// The same, with what is attached to be had there instead, in its order. What has no such place
    /// is left out.
    #[must_use]
    pub fn referring_to(&self, urls: Vec<String>) -> Self {
        let mut draft = self.0.clone();
        if let Content::Message(message) = &mut draft.content {
            message.media.truncate(urls.len());
            for (media, url) in message.media.iter_mut().zip(urls) {
                media.url = url;
            }
        }
        Self(draft)
    }

    /// The same, with what was said before it, and whether that could not be found out.
    #[must_use]
    pub fn amid(&self, context: Vec<ContextLine>, failed: bool) -> Self {
        let mut draft = self.0.clone();
        if let Content::Message(message) = &mut draft.content {
            message.context = context;
            message.context_failed = failed;
        }
        Self(draft)
    }

    /// Everything it says, as JSON: what is kept of an event that no client could take.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The draft again, for who wants to change it and normalise anew.
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

impl Letter {
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

/// Whether a platform's id may go into keys and columns.
fn is_plain_id(id: &str) -> bool {
    id.len() <= PLATFORM_ID_BYTES_MAX && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
