//! Facts: what about an event matters to who may see it.

use nightdesk_types::Event;
use nightdesk_types::event::{ChatType, Content, Message, MessageKind, Source};

/// What about an event matters to who may see it. Names and texts do not: people choose those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Who wrote it, by the id that the platform vouches for.
    pub author: &'a str,
    /// Whether the author is a program.
    pub is_program: bool,
    /// Whether it is said to the bot: by name, as an answer, or with a button of its own.
    pub is_addressed: bool,
    /// Whether the agent of the place has received something in this very thread. Only the store knows.
    pub takes_part: bool,
    /// Where it was written.
    pub place: Place<'a>,
}

/// Where an event was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The guild, workspace or server.
    pub scope: Option<&'a str>,
    /// The chat.
    pub chat: &'a str,
    /// The channel that the chat is a thread of.
    pub parent: Option<&'a str>,
    /// Whether nobody is there but the author and the bot.
    pub is_direct: bool,
}

impl<'a> Facts<'a> {
    /// The facts of an event, if it names an author.
    pub fn of(event: &'a Event) -> Option<Self> {
        let source = event.source();
        Some(Self {
            author: source.user_id.as_deref()?,
            is_program: source.is_bot,
            is_addressed: match event.content() {
                Content::Message(message) => is_addressed(message),
                Content::Passthrough(_) => true,
            },
            takes_part: false,
            place: Place::of(source),
        })
    }
}

impl<'a> Place<'a> {
    fn of(source: &'a Source) -> Self {
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
