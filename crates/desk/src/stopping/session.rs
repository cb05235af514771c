//! The session whose turn is stopped.

use nightdesk_inbox::LocalEntry;
use nightdesk_protocol::event;
use nightdesk_protocol::session_key::{SessionKey, key_of_sdk, keys_of_source};
use nightdesk_types::event::{Content, Draft, Message, MessageKind, Source};
use nightdesk_types::limits::STOP_NAMES_MAX;
use nightdesk_types::{BotId, Event};

/// The text that stops a turn of a client that ignores frames.
const TEXT: &str = "/stop";

/// A session: a chat of an agent, and in shared chats a person in it.
#[derive(Clone, Debug)]
pub struct StopSession {
    /// The place and the person.
    pub source: Source,
    /// The client's own name of the session. `None`: it follows from the source.
    pub key: Option<SessionKey>,
    /// The bot of the chat, if it is known.
    pub bot: Option<BotId>,
}

impl StopSession {
    /// Returns the session of a source on a bot.
    pub const fn of_source(source: Source, bot: Option<BotId>) -> Self {
        Self { source, key: None, bot }
    }

    /// Returns the name of the session for a client that answers stops.
    pub(super) fn sdk_key(&self) -> Option<SessionKey> {
        self.key.clone().or_else(|| key_of_sdk(&self.source))
    }

    /// Returns all names that a stock client may have for the session.
    pub(super) fn stock_keys(&self) -> Vec<SessionKey> {
        let mut keys =
            self.key.clone().map_or_else(|| keys_of_source(&self.source), |key| vec![key]);
        keys.truncate(STOP_NAMES_MAX);
        keys
    }

    /// Returns the entry with the text that stops the session. `None`: no client could take it.
    pub(super) fn text_entry(&self, bot: BotId) -> Option<LocalEntry> {
        let message =
            Message { text: TEXT.to_owned(), kind: MessageKind::Command, ..Message::default() };
        let content = Content::Message(Box::new(message));
        let draft = Draft { key: TEXT.to_owned(), source: self.source.clone(), content };
        let event = Event::normalise(draft).ok()?;
        let body = event::encode(&event, "").ok()?.as_bytes().to_vec();
        Some(LocalEntry { bot, chat_id: event.source().chat_id.clone(), body })
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::event::ChatType;
    use uuid::Uuid;

    use super::*;

    fn group() -> StopSession {
        let source = Source {
            platform: "discord".to_owned(),
            chat_id: "c1".to_owned(),
            chat_type: ChatType::Group,
            user_id: Some("u1".to_owned()),
            scope_id: Some("g1".to_owned()),
            ..Source::default()
        };
        StopSession::of_source(source, None)
    }

    #[test]
    fn a_session_of_a_group_is_that_of_the_person() {
        let expected = "agent:main:discord:group:c1:u1";
        assert_eq!(group().sdk_key().unwrap().as_str(), expected);
        let names: Vec<String> =
            group().stock_keys().iter().map(|key| key.as_str().to_owned()).collect();
        assert!(names.contains(&expected.to_owned()), "{names:?}");
        assert!(names.iter().all(|name| name.contains(":c1")), "no other chat: {names:?}");
    }

    #[test]
    fn a_named_session_is_stopped_under_its_name_alone() {
        let key = SessionKey::new("mine").unwrap();
        let session = StopSession { key: Some(key.clone()), ..group() };

        assert_eq!(session.sdk_key(), Some(key.clone()));
        assert_eq!(session.stock_keys(), [key]);
    }

    #[test]
    fn the_text_is_an_entry_of_the_chat() {
        let entry = group().text_entry(BotId::from_uuid(Uuid::nil())).unwrap();

        assert_eq!(entry.chat_id, "c1");
        let body = String::from_utf8(entry.body).unwrap();
        assert!(body.contains(r#""text":"/stop""#) && body.contains(r#""user_id":"u1""#), "{body}");
    }
}
