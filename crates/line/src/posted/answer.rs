//! The answer of an agent in its response to a post, as actions of its line.

use nightdesk_protocol::frame::{Outbound, OutboundFields, ToGateway};
use nightdesk_types::event::Source;
use nightdesk_types::limits::SENDS_PER_ANSWER_MAX;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The answer in a response.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct PostAnswer {
    /// A text, sent as a reply to the entry.
    #[serde(default)]
    pub text: Option<String>,
    /// Actions, as in `outbound` frames. Those without a chat are for the entry's.
    #[serde(default)]
    pub actions: Vec<Map<String, Value>>,
    /// The answer to a stop: true if a turn of the session ran and stops.
    #[serde(default)]
    pub stopped: Option<bool>,
}

/// The chat of an entry, and what an answer needs to reach it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnswerPlace {
    pub(super) chat_id: String,
    platform: Option<String>,
    bot_handle: Option<String>,
    message_id: Option<String>,
    metadata: Map<String, Value>,
}

impl AnswerPlace {
    /// Reads the place from an entry's frame.
    pub(super) fn of_frame(frame: &str) -> Self {
        match ToGateway::decode(frame.trim_end().as_bytes()) {
            ToGateway::Inbound { event, .. } => {
                let place = Self::of_source(&event.source);
                let message_id = event.message.message_id.clone();
                Self { message_id, bot_handle: event.bot_handle.clone(), ..place }
            }
            ToGateway::Descriptor(_)
            | ToGateway::OutboundResult { .. }
            | ToGateway::InterruptInbound { .. }
            | ToGateway::PassthroughForward { .. }
            | ToGateway::GoingIdleAck
            | ToGateway::Unknown { .. }
            | ToGateway::Malformed(_) => Self::default(),
        }
    }

    fn of_source(source: &Source) -> Self {
        let known = [
            ("scope_id", &source.scope_id),
            ("thread_id", &source.thread_id),
            ("user_id", &source.user_id),
            ("profile", &source.profile),
        ];
        let known = known.into_iter().filter_map(|(key, id)| Some((key, id.clone()?)));
        Self {
            chat_id: source.chat_id.clone(),
            platform: Some(source.platform.clone()),
            bot_handle: None,
            message_id: None,
            metadata: known.map(|(key, id)| (key.to_owned(), Value::String(id))).collect(),
        }
    }

    /// Returns the sends of an answer, in order. A repeated answer to the same entry has the same request ids, so the
    /// desk executes each of them once.
    pub(super) fn sends(&self, entry: &str, answer: PostAnswer) -> Vec<Outbound> {
        let PostAnswer { text, actions, stopped: _ } = answer;
        let text = text.filter(|text| !text.is_empty()).map(|text| self.reply(&text));
        let all = text.into_iter().chain(actions).take(SENDS_PER_ANSWER_MAX).enumerate();
        all.filter_map(|(number, action)| self.outbound(&format!("{entry}.{number}"), action))
            .collect()
    }

    fn reply(&self, text: &str) -> Map<String, Value> {
        let mut action =
            Map::from_iter([("op".to_owned(), json!("send")), ("content".to_owned(), json!(text))]);
        if let Some(message_id) = &self.message_id {
            action.insert("reply_to".to_owned(), json!(message_id));
        }
        action
    }

    fn outbound(&self, request_id: &str, mut action: Map<String, Value>) -> Option<Outbound> {
        let (mut platform, mut bot_handle) = (None, None);
        if !action.contains_key("chat_id") {
            platform = self.platform.as_deref();
            bot_handle = self.bot_handle.as_deref();
            action.insert("chat_id".to_owned(), json!(self.chat_id));
            let metadata = action.entry("metadata").or_insert(Value::Null);
            if metadata.as_object().is_none_or(Map::is_empty) {
                *metadata = Value::Object(self.metadata.clone());
            }
        }
        Outbound::from_fields(&OutboundFields {
            request_id,
            action: Value::Object(action),
            platform,
            bot_handle,
        })
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::action::Action;

    use super::*;

    const ENTRY: &str = r#"{"type":"inbound","event":{"text":"hi","message_type":"text","message_id":"m3","source":{"platform":"discord","chat_id":"c1","chat_type":"thread","chat_name":null,"user_id":"u1","user_name":"Ann","thread_id":"t1","chat_topic":null,"botId":"b1"}},"bufferId":"b"}"#;

    fn actions(answer: Value) -> Vec<Outbound> {
        let answer = serde_json::from_value(answer).expect("an answer");
        AnswerPlace::of_frame(ENTRY).sends("b", answer)
    }

    #[test]
    fn a_text_is_a_reply_in_the_chat_of_the_entry() {
        let sends = actions(json!({ "text": "hello" }));

        assert_eq!(sends.len(), 1);
        let Action::Send(send) = &sends[0].action else { panic!("{:?}", sends[0]) };
        assert_eq!(send.chat_id, "c1");
        assert_eq!(send.metadata.get("thread_id"), Some(&json!("t1")));
        assert_eq!(
            (sends[0].request_id.as_str(), sends[0].platform.as_deref()),
            ("b.0", Some("discord"))
        );
        assert_eq!(
            sends[0].bot_handle.as_deref(),
            Some("b1"),
            "the bot that was addressed answers"
        );
    }

    #[test]
    fn actions_follow_the_text_and_may_go_to_another_chat() {
        let sends = actions(json!({
            "text": "one",
            "actions": [
                { "op": "typing", "metadata": {} },
                { "op": "send", "chat_id": "c2", "content": "two" },
            ],
        }));

        let chats: Vec<&str> = sends
            .iter()
            .filter_map(|send| match &send.action {
                Action::Send(send) => Some(send.chat_id.as_str()),
                Action::FollowUp(_) | Action::Unknown { .. } | Action::Malformed { .. } => None,
            })
            .collect();
        assert_eq!(chats, ["c1", "c1", "c2"]);
        let Action::Send(typing) = &sends[1].action else { panic!("{:?}", sends[1]) };
        assert_eq!(typing.metadata.get("thread_id"), Some(&json!("t1")));
        assert_eq!(sends[2].request_id.as_str(), "b.2");
        let route = (&sends[2].platform, &sends[2].bot_handle);
        assert_eq!(route, (&None, &None), "the agent chose the chat");
    }

    #[test]
    fn an_empty_answer_sends_nothing() {
        assert_eq!(actions(json!({})), []);
        assert_eq!(actions(json!({ "text": "" })), []);
    }
}
