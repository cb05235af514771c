//! Builds messages of people from their parts.

use nightdesk_types::event::{Content, Draft, Media, Message, MessageKind, Source};

/// Content of a message besides its text.
#[derive(Debug, Default, PartialEq)]
pub struct MessageExtras {
    /// The kind of the message, if it is not a command.
    pub kind: MessageKind,
    /// The files.
    pub media: Vec<Media>,
    /// Text for a message without its own text.
    pub words: String,
}

impl MessageExtras {
    /// Returns the message with this text, or `None` if it has no content.
    pub fn into_message(self, text: String) -> Option<Message> {
        let Self { kind, media, words } = self;
        let text = if text.is_empty() { words } else { text };
        let is_empty = text.is_empty() && media.is_empty();
        (!is_empty).then(|| Message { text, kind, media, ..Message::default() })
    }
}

/// Returns the text of a poll.
pub fn poll_text<'p>(question: &str, options: impl Iterator<Item = &'p str>) -> String {
    let options = options.map(|option| format!("\n- {option}"));
    format!("{question}{}", options.collect::<String>())
}

/// Returns the event of a message.
pub fn message_draft(key: String, source: Source, message: Message) -> Draft {
    Draft { key, source, content: Content::Message(Box::new(message)) }
}
