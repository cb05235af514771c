//! Test entries, with which an operator checks that an agent wakes up and takes entries.

use nightdesk_protocol::event;
use nightdesk_types::event::{ChatType, Content, Draft, Message, Source};
use nightdesk_types::{BotId, Event};

/// The chat of a test entry. The desk refuses a reply to it.
const CHAT: &str = "nightdesk-verify";

/// The text for the agent.
const TEXT: &str = "This is a test by the operator of the desk, to check that you can be woken. \
                    It needs no action and no reply.";

/// An entry that does not come from a platform.
#[derive(Clone, Debug)]
pub struct LocalEntry {
    /// The bot of the entry's source.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
    /// Its wire form.
    pub body: Vec<u8>,
}

impl LocalEntry {
    /// Creates the test entry of a platform and bot. `None`: no valid event exists for that platform.
    pub fn for_bot(bot: BotId, platform: &str, handle: &str) -> Option<Self> {
        let source = Source {
            platform: platform.to_owned(),
            chat_id: CHAT.to_owned(),
            chat_type: ChatType::Dm,
            user_id: Some(CHAT.to_owned()),
            user_name: Some("nightdesk verify".to_owned()),
            ..Source::default()
        };
        let message = Message { text: TEXT.to_owned(), ..Message::default() };
        let content = Content::Message(Box::new(message));
        let event = Event::normalise(Draft { key: CHAT.to_owned(), source, content }).ok()?;
        let body = event::encode(&event, handle).ok()?.as_bytes().to_vec();
        Some(Self { bot, chat_id: CHAT.to_owned(), body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_entry_can_be_sent_to_any_client() {
        for platform in ["discord", "telegram", "webchat"] {
            let entry = LocalEntry::for_bot(BotId::from_uuid(uuid::Uuid::nil()), platform, "bot");
            let entry = entry.expect(platform);
            assert!(nightdesk_protocol::EntryJson::from_stored(entry.body).is_ok(), "{platform}");
        }
    }
}
