//! Tests that the encoders produce no form that kills the stock client's reader.

use std::num::NonZeroU32;

use nightdesk_protocol::descriptor::{Ability, Descriptor, LenUnit};
use nightdesk_protocol::event::{EncodeError, EntryKind, encode};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::{KeySource, Sharing, stock_key};
use nightdesk_protocol::{EntryJson, Frame};
use nightdesk_types::event::{Content, Draft, Source};
use nightdesk_types::{Event, RequestId};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::strategies::{entry_ids, events, texts};

fn object(frame: &Frame) -> Map<String, Value> {
    let parsed = serde_json::from_str(frame.as_str()).expect("a frame is JSON");
    let Value::Object(fields) = parsed else { panic!("a frame is an object, not {parsed}") };
    fields
}

/// Checks the conditions under which 0.19.0 survives an event.
fn survives_event(event: &Value) -> Result<(), TestCaseError> {
    prop_assert!(event.is_object(), "an event is an object");
    let source = &event["source"];
    prop_assert!(source.is_object(), "a source is an object");
    let chat_types = ["dm", "group", "channel", "thread", "forum"];
    let chat_type = source["chat_type"].as_str().expect("a chat type is text");
    prop_assert!(chat_types.contains(&chat_type));
    prop_assert!(source["chat_id"].as_str().is_some_and(|id| !id.is_empty()));
    let thread_id = &source["thread_id"];
    prop_assert!(thread_id.is_null() || thread_id.is_string());
    let key_source = KeySource::deserialize(source).expect("any object is a source");
    prop_assert!(stock_key(&key_source, &Sharing::default()).is_ok(), "it has a session key");
    Ok(())
}

/// Checks the further requirements of 0.19.0 and the contract.
fn is_complete_event(event: &Value) -> Result<(), TestCaseError> {
    let source = event["source"].as_object().expect("a source is an object");
    for key in [
        "platform",
        "chat_id",
        "chat_type",
        "chat_name",
        "user_id",
        "user_name",
        "thread_id",
        "chat_topic",
    ] {
        prop_assert!(source.contains_key(key), "{key} is always there");
    }
    prop_assert_eq!(source.get("scope_id"), source.get("guild_id"));
    for key in ["is_bot", "message_is_edit"] {
        prop_assert!(source[key].is_boolean(), "{key} is said outright");
    }
    prop_assert!(event["text"].is_string());
    let kinds =
        ["text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command"];
    prop_assert!(kinds.contains(&event["message_type"].as_str().expect("a kind is text")));
    Ok(())
}

fn survives_forward(forward: &Value) -> Result<(), TestCaseError> {
    prop_assert!(forward.is_object(), "a forward is an object");
    let headers = forward["headers"].as_array().expect("headers are a list");
    for header in headers {
        let pair = header.as_array().expect("a header is a pair");
        prop_assert!(pair.len() == 2 && pair.iter().all(Value::is_string));
    }
    for key in ["platform", "botId", "method", "path", "bodyB64"] {
        prop_assert!(forward[key].is_string(), "{key} is text");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn an_entry_kills_no_client(event in events(), entry in entry_ids()) {
        let Ok(json) = encode(&event, "bot") else { return Ok(()) };
        let fields = object(&Frame::entry(entry, &json));

        prop_assert_eq!(&fields["bufferId"], &Value::String(entry.to_string()));
        match json.kind() {
            EntryKind::Message => {
                prop_assert_eq!(&fields["type"], "inbound");
                survives_event(&fields["event"])?;
                is_complete_event(&fields["event"])?;
            }
            EntryKind::Passthrough => {
                prop_assert_eq!(&fields["type"], "passthrough_forward");
                survives_forward(&fields["forward"])?;
            }
        }
    }

    #[test]
    fn only_whatsapp_addresses_are_turned_down(event in events()) {
        match encode(&event, "bot") {
            Ok(_) => {}
            Err(EncodeError::Unkeyable) => prop_assert_eq!(&event.source().platform, "whatsapp"),
            Err(EncodeError::TooLong(_)) => prop_assert!(false, "these events are short"),
        }
    }

    #[test]
    fn an_answer_kills_no_client(
        id in texts(), message_id in prop::option::of(texts()), why in texts(),
    ) {
        let Some(id) = RequestId::new(id) else { return Ok(()) };
        for outcome in [Outcome::delivered(message_id), Outcome::failed(why)] {
            let fields = object(&Frame::outbound_result(&id, &outcome));
            prop_assert_eq!(&fields["requestId"], id.as_str());
            prop_assert!(fields["result"].is_object());
        }
    }

    #[test]
    fn a_descriptor_kills_no_client(texts in prop::array::uniform5(texts()), length: NonZeroU32) {
        let [platform, label, dialect, hint, op] = texts;
        let descriptor = Descriptor::new(&platform, &label, length)
            .marked_up_as(&dialect)
            .with_hint(&hint)
            .with_ops([op.as_str()])
            .with(Ability::Edit);
        let fields = object(&Frame::descriptor(&descriptor));
        let descriptor = &fields["descriptor"];
        prop_assert!(descriptor["max_message_length"].as_u64().is_some_and(|length| length > 0));
        prop_assert_eq!(&descriptor["contract_version"], 1);
        for key in ["platform", "label", "markdown_dialect"] {
            prop_assert!(descriptor[key].is_string(), "{key} is text");
        }
        for key in ["supports_draft_streaming", "supports_edit", "supports_threads"] {
            prop_assert!(descriptor[key].is_boolean(), "{key} is a yes or no");
        }
        prop_assert!(["chars", "utf16"].contains(&descriptor["len_unit"].as_str().expect("text")));
    }
}

fn whatsapp(chat_id: &str, user_id: &str) -> Event {
    let source = Source {
        platform: "whatsapp".to_owned(),
        chat_id: chat_id.to_owned(),
        user_id: Some(user_id.to_owned()),
        ..Source::default()
    };
    let content = Content::Message(Box::default());
    Event::normalise(Draft { key: "k".to_owned(), source, content }).expect("a plain event")
}

#[test]
fn a_person_with_an_odd_whatsapp_address_is_turned_down() {
    let cases = [
        ("a chat", whatsapp("123@s.whatsapp.net", "a b"), true),
        ("no chat, so the person counts", whatsapp("@lid", "a b"), false),
        ("no chat, but a person", whatsapp("@lid", "123@lid"), true),
    ];
    for (name, event, want) in cases {
        assert_eq!(encode(&event, "bot").is_ok(), want, "{name}");
    }
}

#[test]
fn stored_bytes_of_another_kind_are_no_entry() {
    let event = whatsapp("123@s.whatsapp.net", "123@lid");
    let stored = encode(&event, "bot").unwrap().into_bytes();
    assert!(EntryJson::from_stored(stored.clone()).is_ok());

    let with_newline = [&stored[..stored.len() - 2], b"\n}}"].concat();
    let cases: [(&str, &[u8]); 7] = [
        ("nothing", b""),
        ("an array", b"[]"),
        ("null event", br#"{"type":"inbound","event":null}"#),
        ("no type", br#"{"event":{}}"#),
        ("cut", &stored[..stored.len() - 3]),
        ("a newline", &with_newline),
        ("not text", b"{\"type\":\"inbound\",\"event\":{\"text\":\"\xff\"}}"),
    ];
    for (name, bytes) in cases {
        assert!(EntryJson::from_stored(bytes.to_vec()).is_err(), "{name}");
    }
}

#[test]
fn a_unit_is_one_of_two() {
    let length = NonZeroU32::new(2000).unwrap();
    let descriptor = Descriptor::new("telegram", "Telegram", length).with_len_unit(LenUnit::Utf16);

    assert_eq!(object(&Frame::descriptor(&descriptor))["descriptor"]["len_unit"], "utf16");
}
