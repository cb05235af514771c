//! The chat of a letter: the agent's inbox entry, and the agent's messages in it.

use nightdesk_bus::Ring;
use nightdesk_courier::{LetterEntry, NewLetter, Party, Replied};
use nightdesk_line::Caller;
use nightdesk_protocol::delivery::Origin;
use nightdesk_protocol::event;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::event::{ChatType, Content, Draft, Letter, LetterOrigin, Message, Source};
use nightdesk_types::limits::LETTER_BYTES_MAX;
use nightdesk_types::send::Op;
use nightdesk_types::{BotId, Event, LetterId, Send};
use uuid::Uuid;

use super::LetterContext;

/// The platform name of the desk itself.
const PLATFORM: &str = "desk";

/// Prefix of the chat id of a letter.
const CHAT: &str = "letter:";

/// Bot id of entries that came through no bot.
pub(super) const NO_BOT: BotId = BotId::from_uuid(Uuid::nil());

/// Returns true if the chat is that of a letter.
pub(crate) fn is_ours(chat_id: &str) -> bool {
    chat_id.starts_with(CHAT)
}

/// Returns the chat id of a letter.
pub(super) fn chat_of(letter: LetterId) -> String {
    format!("{CHAT}{letter}")
}

/// Stores an agent's message in the chat of a letter as the reply. Every other operation there has no effect.
pub(crate) async fn said(desk: &LetterContext, caller: Caller, send: &Send) -> Outcome {
    let Op::Send { content, reply_to } = &send.op else { return Outcome::delivered(None) };
    let letter = send.chat_id.strip_prefix(CHAT).and_then(|id| id.parse::<LetterId>().ok());
    let Some(letter) = letter else {
        return Outcome::refused(PLATFORM, "no such letter came to this agent");
    };
    if content.is_empty() || !is_answer(send, reply_to.as_deref(), letter) {
        return Outcome::delivered(None);
    }
    if content.len() > LETTER_BYTES_MAX {
        return Outcome::failed(format!("a reply has at most {LETTER_BYTES_MAX} bytes"));
    }
    let by = Party { scope: caller.scope, agent: caller.agent };
    match desk.courier.store.reply(by, letter, &content.replace('\0', "")).await {
        Ok(Replied::Taken) => {
            desk.bell.ring(Ring::Chat { bot: NO_BOT, chat: chat_of(letter) }).await;
            Outcome::delivered(Some(letter.to_string()))
        }
        Ok(Replied::Again) => Outcome::delivered(None),
        Ok(Replied::Late) => Outcome::failed("nobody waits for this reply any more"),
        Ok(Replied::Unknown) => Outcome::refused(PLATFORM, "no such letter came to this agent"),
        // Nothing was written: this text makes the client retry.
        Err(_) => Outcome::failed("network error behind the desk"),
    }
}

/// Returns true if a message is the answer to the letter. The stock client also posts missing settings and its tools in
/// the same chat. The last message of a turn replies to a message, or has `notify` in its metadata.
fn is_answer(send: &Send, reply_to: Option<&str>, letter: LetterId) -> bool {
    let answers = reply_to.is_some_and(|id| id == letter.to_string());
    answers || send.metadata.get("notify").is_some_and(|notify| notify == true)
}

/// The contents of a letter for its agent.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The sender's name.
    pub from: &'a str,
    /// The text.
    pub words: &'a str,
    /// A label by which the recipient sorts.
    pub event_type: Option<&'a str>,
}

/// Returns the agent's inbox entry. `None`: no client could accept it.
pub fn entry(letter: &NewLetter, told: Told<'_>, origin: Option<&Origin>) -> Option<LetterEntry> {
    let Told { from, words, event_type } = told;
    let chat_id = chat_of(letter.id);
    let source = Source {
        platform: PLATFORM.to_owned(),
        chat_id: chat_id.clone(),
        chat_type: ChatType::Dm,
        chat_name: Some(from.to_owned()),
        user_id: Some(letter.from.agent.to_string()),
        user_name: Some(from.to_owned()),
        ..Source::default()
    };
    let said = Letter {
        letter_id: letter.id.to_string(),
        from: from.to_owned(),
        dispatch_id: letter.dispatch_id.clone(),
        kind: letter.kind.slug().to_owned(),
        session_id: letter.session.clone(),
        event_type: event_type.map(str::to_owned),
        correlation_id: letter.correlation_id.clone(),
        origin: origin.and_then(|origin| origin_of(origin, from)),
    };
    let (text, message_id) = (words.to_owned(), Some(letter.id.to_string()));
    let message = Message { text, message_id, letter: Some(said), ..Message::default() };
    let content = Content::Message(Box::new(message));
    let key = letter.id.to_string();
    let event = Event::normalise(Draft { key, source, content }).ok()?;
    let body = event::encode(&event, PLATFORM).ok()?.into_bytes();
    Some(LetterEntry { bot: NO_BOT, chat_id, body })
}

/// Returns the sending skill, if it is named. The caller is the proven sender.
fn origin_of(origin: &Origin, from: &str) -> Option<LetterOrigin> {
    let Origin { skill_name, entry_skill_name, trigger_kind, .. } = origin;
    (skill_name != Origin::ANONYMOUS).then(|| LetterOrigin {
        skill_name: skill_name.clone(),
        entry_skill_name: entry_skill_name.clone(),
        trigger_kind: trigger_kind.as_str().to_owned(),
        caller_agent_id: Some(from.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use nightdesk_courier::Route;
    use nightdesk_protocol::EntryJson;
    use nightdesk_protocol::delivery::Kind;
    use nightdesk_types::{AgentId, TenantId, TenantScope};
    use serde_json::{Value, json};

    use super::*;

    fn letter() -> NewLetter {
        let party = |number| Party {
            scope: TenantScope::of(TenantId::from_uuid(Uuid::from_u128(1))),
            agent: AgentId::from_uuid(Uuid::from_u128(number)),
        };
        NewLetter {
            id: LetterId::from_uuid(Uuid::from_u128(3)),
            from: party(1),
            to: party(2),
            dispatch_id: "d1".to_owned(),
            route: Route::Deliver,
            kind: Kind::Template,
            session: None,
            correlation_id: Some("c1".to_owned()),
            when: None,
            wait: None,
            goes_out: false,
        }
    }

    fn told(words: &str) -> Told<'_> {
        Told { from: "ann", words, event_type: None }
    }

    #[test]
    fn a_letter_reads_like_a_message_and_says_what_it_is() {
        let LetterEntry { body, chat_id, .. } = entry(&letter(), told("do it"), None).unwrap();
        let said: Value = serde_json::from_slice(&body).unwrap();
        let event = &said["event"];

        assert!(is_ours(&chat_id));
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
    fn which_skill_sent_it_is_told_and_who_called_is_not_asked() {
        let mut origin = Origin::anonymous(Some("somebody".to_owned()));
        let said = |origin: &Origin| {
            let LetterEntry { body, .. } = entry(&letter(), told("hi"), Some(origin)).unwrap();
            let said: Value = serde_json::from_slice(&body).unwrap();
            said["event"]["letter"]["origin"].clone()
        };

        assert_eq!(said(&origin), Value::Null, "nothing was said");
        origin.skill_name = "brief".to_owned();
        let want =
            json!({ "skill_name": "brief", "trigger_kind": "agent", "caller_agent_id": "ann" });
        assert_eq!(said(&origin), want);
    }

    #[test]
    fn whatever_a_letter_may_say_can_be_put() {
        let words = ["", &"x".repeat(LETTER_BYTES_MAX), &"\u{1}\"\n".repeat(LETTER_BYTES_MAX / 3)];
        for words in words {
            let told = Told { from: "ann \"{}\n", words, event_type: Some("label") };
            let entry = entry(&letter(), told, None).expect("it fits");
            assert!(EntryJson::from_stored(entry.body).is_ok());
        }
    }
}
