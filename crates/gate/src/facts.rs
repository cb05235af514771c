//! The facts of an event that decide on its recipients.

use nightdesk_types::Event;
use nightdesk_types::event::{ChatType, Content, Message, MessageKind, Source};

/// The facts of an event that decide on its recipients. Names and texts are excluded, because people choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFacts<'a> {
    /// The author's id, which the platform vouches for.
    pub author: &'a str,
    /// True if the author is a program.
    pub is_program: bool,
    /// True if it addresses the bot: by a mention, as a reply, or with one of its buttons.
    pub is_addressed: bool,
    /// True if the agent of the place has received an entry in this thread. Only the store knows.
    pub takes_part: bool,
    /// The place where it was written.
    pub place: EventPlace<'a>,
}

/// The place where an event was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace<'a> {
    /// The guild, workspace or server.
    pub scope: Option<&'a str>,
    /// The chat.
    pub chat: &'a str,
    /// The channel that the chat is a thread of.
    pub parent: Option<&'a str>,
    /// True if only the author and the bot are there.
    pub is_direct: bool,
}

impl<'a> EventFacts<'a> {
    /// Returns the facts of an event, if it has an author.
    pub fn from_event(event: &'a Event) -> Option<Self> {
        let source = event.source();
        Some(Self {
            author: source.user_id.as_deref()?,
            is_program: source.is_bot,
            is_addressed: match event.content() {
                Content::Message(message) => is_addressed(message),
                Content::Passthrough(_) => true,
            },
            takes_part: false,
            place: EventPlace::from_source(source),
        })
    }
}

impl<'a> EventPlace<'a> {
    fn from_source(source: &'a Source) -> Self {
        Self {
            scope: source.scope_id.as_deref(),
            chat: &source.chat_id,
            parent: source.parent_chat_id.as_deref(),
            is_direct: source.chat_type == ChatType::Dm,
        }
    }
}

fn is_addressed(message: &Message) -> bool {
    message.mentions_bot
        || message.kind == MessageKind::Command
        || message.prompt_response.is_some()
        || message.reply_to.as_ref().is_some_and(|reply| reply.is_own)
}
