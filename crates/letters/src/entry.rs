//! The inbox entry of a letter: a message of a chat that the desk creates.

use nightdesk_protocol::delivery::{DeliveryOrigin, Meta, Millis, Payload, PayloadKind};
use nightdesk_protocol::event;
use nightdesk_types::event::{
    ChatType, Content, Draft, LetterEvent, LetterOrigin, Message, Source,
};
use nightdesk_types::{AgentId, BotId, Event, LetterId};
use serde_json::Value;
use uuid::Uuid;

use crate::letter::{LetterEntry, NewLetter};

/// The platform name of the desk itself.
pub(crate) const PLATFORM: &str = "desk";

/// Prefix of the chat id of a letter.
const CHAT: &str = "letter:";

/// Bot id of entries that came through no bot.
pub(crate) const NO_BOT: BotId = BotId::from_uuid(Uuid::nil());

/// Returns true if the chat is that of a letter.
pub fn is_letter_chat(chat_id: &str) -> bool {
    chat_id.starts_with(CHAT)
}

/// Returns the chat id of a letter.
pub(crate) fn chat_id(letter: LetterId) -> String {
    format!("{CHAT}{letter}")
}

/// Returns the letter of a chat.
pub(crate) fn letter_in_chat(chat_id: &str) -> Option<LetterId> {
    chat_id.strip_prefix(CHAT)?.parse().ok()
}

/// The contents of a letter for its agent.
#[derive(Clone, Copy, Debug)]
pub struct LetterText<'a> {
    /// The sender's name.
    pub from: &'a str,
    /// The text.
    pub words: &'a str,
    /// A label by which the recipient sorts.
    pub event_type: Option<&'a str>,
    /// The sending skill and its trigger.
    pub origin: Option<&'a DeliveryOrigin>,
}

/// Returns the source of a letter, from which its recipient's client names the session.
pub(crate) fn source_of_letter(letter: LetterId, from: AgentId) -> Source {
    Source {
        platform: PLATFORM.to_owned(),
        chat_id: chat_id(letter),
        chat_type: ChatType::Dm,
        user_id: Some(from.to_string()),
        ..Source::default()
    }
}

/// Returns the agent's inbox entry. `None`: no client could accept it.
pub fn build_entry(letter: &NewLetter, text: LetterText<'_>) -> Option<LetterEntry> {
    let LetterText { from, words, event_type, origin } = text;
    let chat_id = chat_id(letter.id);
    let source = Source {
        chat_name: Some(from.to_owned()),
        user_name: Some(from.to_owned()),
        ..source_of_letter(letter.id, letter.from.agent)
    };
    let header = LetterEvent {
        letter_id: letter.id.to_string(),
        from: from.to_owned(),
        dispatch_id: letter.dispatch_id.clone(),
        kind: letter.kind.slug().to_owned(),
        session_id: letter.session.clone(),
        event_type: event_type.map(str::to_owned),
        correlation_id: letter.correlation_id.clone(),
        origin: origin.and_then(skill_origin),
    };
    let (text, message_id) = (words.to_owned(), Some(letter.id.to_string()));
    let message = Message { text, message_id, letter: Some(header), ..Message::default() };
    let content = Content::Message(Box::new(message));
    let key = letter.id.to_string();
    let event = Event::normalise(Draft { key, source, content }).ok()?;
    let body = event::encode(&event, "").ok()?.into_bytes();
    Some(LetterEntry { bot: NO_BOT, chat_id, body })
}

/// Returns the origin that the sending runtime reports, if it names a skill. The proven sender is `from`.
fn skill_origin(origin: &DeliveryOrigin) -> Option<LetterOrigin> {
    let DeliveryOrigin { skill_name, entry_skill_name, trigger_kind, caller_agent_id } = origin;
    origin.is_of_skill().then(|| LetterOrigin {
        skill_name: skill_name.clone(),
        entry_skill_name: entry_skill_name.clone(),
        trigger_kind: trigger_kind.as_str().to_owned(),
        caller_agent_id: caller_agent_id.clone(),
    })
}

/// The session and the payload of a stored letter.
pub(crate) struct EntryPayload {
    pub(crate) session: Option<String>,
    pub(crate) payload: Payload,
}

/// Reads the letter back from its entry, which is sent at `now`. `None`: the entry is not that of a letter.
pub(crate) fn read_entry(entry: &LetterEntry, now: Millis) -> Option<EntryPayload> {
    let body: Value = serde_json::from_slice(&entry.body).ok()?;
    let (words, letter) = (body["event"]["text"].as_str()?, &body["event"]["letter"]);
    let text = |name: &str| letter[name].as_str().map(str::to_owned);
    let origin = DeliveryOrigin::anonymous(text("from"));
    let meta = Meta {
        dispatch_id: text("dispatch_id")?,
        sent_at: now,
        origin: serde_json::from_value(letter["origin"].clone()).unwrap_or(origin),
        sender: text("from"),
        event_type: text("event_type"),
        correlation_id: text("correlation_id"),
    };
    let kind = PayloadKind::from_slug(letter["kind"].as_str()?)?;
    Some(EntryPayload {
        session: text("session_id"),
        payload: kind.make_payload(words.to_owned(), meta),
    })
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::EntryJson;
    use nightdesk_types::limits::LETTER_BYTES_MAX;
    use nightdesk_types::{TenantId, TenantScope};
    use serde_json::json;

    use super::*;
    use crate::letter::{Party, Route};

    fn letter() -> NewLetter {
        let party = |number| Party {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1))),
            agent: AgentId::from_uuid(Uuid::from_u128(number)),
        };
        NewLetter {
            id: LetterId::from_uuid(Uuid::from_u128(3)),
            from: party(1),
            to: party(2),
            dispatch_id: "d1".to_owned(),
            route: Route::Deliver,
            kind: PayloadKind::Template,
            session: None,
            correlation_id: Some("c1".to_owned()),
            when: None,
            wait: None,
            by_outlet: false,
        }
    }

    fn text(words: &str) -> LetterText<'_> {
        LetterText { from: "ann", words, event_type: None, origin: None }
    }

    #[test]
    fn a_letter_reads_like_a_message_and_says_what_it_is() {
        let LetterEntry { body, chat_id, .. } = build_entry(&letter(), text("do it")).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let event = &body["event"];

        assert!(is_letter_chat(&chat_id));
        assert_eq!(event["text"], "do it");
        assert_eq!(event["source"]["platform"], "desk");
        assert_eq!(event["source"]["chat_id"], "letter:00000000-0000-0000-0000-000000000003");
        let want = json!({
            "letter_id": "00000000-0000-0000-0000-000000000003", "from": "ann",
            "dispatch_id": "d1", "kind": "template", "correlation_id": "c1",
        });
        assert_eq!(event["letter"], want);
    }

    #[test]
    fn the_sending_skill_and_its_first_caller_are_told_as_reported() {
        let mut origin = DeliveryOrigin::anonymous(Some("cc".to_owned()));
        let stored = |origin: &DeliveryOrigin| {
            let text = LetterText { origin: Some(origin), ..text("hi") };
            let LetterEntry { body, .. } = build_entry(&letter(), text).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            body["event"]["letter"]["origin"].clone()
        };

        assert_eq!(stored(&origin), Value::Null, "no skill is named");
        origin.skill_name = "brief".to_owned();
        let want =
            json!({ "skill_name": "brief", "trigger_kind": "agent", "caller_agent_id": "cc" });
        assert_eq!(stored(&origin), want);
        origin.caller_agent_id = None;
        assert_eq!(stored(&origin)["caller_agent_id"], Value::Null, "the sender is no fallback");
    }

    #[test]
    fn whatever_a_letter_may_say_can_be_put() {
        let words = ["", &"x".repeat(LETTER_BYTES_MAX), &"\u{1}\"\n".repeat(LETTER_BYTES_MAX / 3)];
        for words in words {
            let from = "ann \"{}\n";
            let text = LetterText { from, words, event_type: Some("label"), origin: None };
            let entry = build_entry(&letter(), text).expect("it fits");
            assert!(EntryJson::from_stored(entry.body).is_ok());
        }
    }
}
