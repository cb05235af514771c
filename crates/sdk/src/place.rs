//! The place of a message: a chat with its thread and scope.

use nightdesk_protocol::hello::RELAY_PLATFORM;
use nightdesk_types::event::Source;
use nightdesk_types::send::RUNNING;
use serde_json::{Map, Value};

/// A chat, and the fields that distinguish it from others of the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) platform: Option<String>,
    pub(crate) chat_id: String,
    pub(crate) bot: Option<String>,
    pub(crate) metadata: Map<String, Value>,
}

impl Place {
    /// Returns a chat of a platform.
    pub fn chat(platform: impl Into<String>, chat_id: impl Into<String>) -> Self {
        let platform = Some(platform.into()).filter(|platform| platform != RELAY_PLATFORM);
        Self { platform, chat_id: chat_id.into(), bot: None, metadata: Map::new() }
    }

    /// Returns the place of a message: its chat, thread, server and author.
    pub fn from_source(source: &Source) -> Self {
        let known = [
            ("scope_id", &source.scope_id),
            ("thread_id", &source.thread_id),
            ("user_id", &source.user_id),
            ("profile", &source.profile),
        ];
        let known = known.into_iter().filter_map(|(key, id)| Some((key, id.clone()?)));
        known.fold(Self::chat(&source.platform, &source.chat_id), |place, (key, id)| {
            place.with(key, id)
        })
    }

    /// Sets the platform's id of the bot that is to act. Needed only if several bots of the agent reach the chat.
    #[must_use]
    pub fn bot(self, bot: impl Into<String>) -> Self {
        Self { bot: Some(bot.into()), ..self }
    }

    /// Sets the thread of the chat.
    #[must_use]
    pub fn thread(self, thread_id: impl Into<String>) -> Self {
        self.with("thread_id", thread_id.into())
    }

    /// Sets the server, workspace or guild.
    #[must_use]
    pub fn scope(self, scope_id: impl Into<String>) -> Self {
        self.with("scope_id", scope_id.into())
    }

    /// Marks the text of a message or an edit as unfinished or finished. An unfinished one has a button with which people
    /// stop its turn, where the platform has buttons.
    #[must_use]
    pub fn running(mut self, is_running: bool) -> Self {
        self.metadata.insert(RUNNING.to_owned(), Value::Bool(is_running));
        self
    }

    fn with(mut self, key: &str, id: String) -> Self {
        self.metadata.insert(key.to_owned(), Value::String(id));
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_keeps_what_tells_chats_apart() {
        let source = Source {
            platform: "slack".to_owned(),
            chat_id: "C1".to_owned(),
            scope_id: Some("T1".to_owned()),
            user_id: Some("U1".to_owned()),
            ..Source::default()
        };
        let place = Place::from_source(&source).thread("7");

        assert_eq!(place.platform.as_deref(), Some("slack"));
        let metadata = Value::Object(place.metadata);
        assert_eq!(metadata, json!({"scope_id": "T1", "user_id": "U1", "thread_id": "7"}));
        assert_eq!(Place::chat("relay", "C1").platform, None, "it names no platform");
        let unfinished = Place::chat("discord", "C1").running(true);
        assert_eq!(Value::Object(unfinished.metadata), json!({"running": true}));
    }
}
