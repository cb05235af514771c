//! Tests of the conversion of updates.

use std::sync::LazyLock;

use nightdesk_kit::fixtures::Fixtures;
use nightdesk_testkit::cases::{Case, begin};
use nightdesk_types::Event;
use nightdesk_types::event::{Content, Draft};
use serde_json::{Value, json};

use super::*;
use crate::tests::bot;

mod keys;
mod oddities;
mod total;

/// Updates that were written from Telegram's documentation.
static FIXTURES: LazyLock<Fixtures> = LazyLock::new(Fixtures::read);

fn fixture(name: &str) -> Value {
    FIXTURES.get(name)
}

/// Converts an update.
fn read(update: &Value) -> Result<Option<Draft>, ReceiveError> {
    convert_update(&bot(), update.to_string().as_bytes())
}

/// Returns a message with these fields, in a group.
fn in_group(fields: &Value) -> Value {
    let mut message = json!({
        "message_id": 1, "date": 2, "chat": { "id": -3, "type": "group" },
        "from": { "id": 900, "first_name": "Ann" },
    });
    for (name, value) in fields.as_object().expect("fields") {
        message[name] = value.clone();
    }
    json!({ "update_id": 5, "message": message })
}

fn message(draft: Draft) -> event::Message {
    let Content::Message(message) = draft.content else { panic!("a message") };
    *message
}

#[test]
fn an_update_is_this_in_our_words() {
    let cases: Vec<Case> =
        FIXTURES.names().map(|name| begin("telegram", "fixture", name)).collect();

    insta::assert_json_snapshot!("fixtures", FIXTURES.events(read));
    cases.into_iter().for_each(Case::passed);
}

#[test]
fn what_says_nothing_is_left_out() {
    for name in
        ["my_chat_member", "unknown_kind", "service_message", "own_message", "inline_callback"]
    {
        assert_eq!(read(&fixture(name)), Ok(None), "{name}");
    }
}

#[test]
fn whose_command_it_is_decides_whether_it_is_one() {
    let cases = [
        ("/go now", 3, MessageKind::Command, "/go now"),
        ("/go@desk_bot now", 12, MessageKind::Command, "/go now"),
        ("/go@DESK_BOT", 12, MessageKind::Command, "/go"),
        ("/go@other_bot now", 13, MessageKind::Text, "/go@other_bot now"),
    ];
    for (text, length, kind, said) in cases {
        let entity = json!([{ "type": "bot_command", "offset": 0, "length": length }]);
        let update = in_group(&json!({ "text": text, "entities": entity }));
        let message = message(read(&update).unwrap().unwrap());
        assert_eq!((message.kind, message.text.as_str()), (kind, said), "{text}");
        assert!(!message.mentions_bot, "{text}");
    }
}

#[test]
fn a_press_counts_only_on_a_button_that_is_there() {
    let mut pressed = fixture("callback_query");
    let query = &mut pressed["callback_query"];
    let cases = [
        ("a button of another prompt", "data", json!("hp1:ffffff.00000000:yes")),
        ("no button", "data", json!(null)),
        (
            "a message too old to be shown",
            "message",
            json!({
                "message_id": 91, "date": 0, "chat": { "id": -1002, "type": "supergroup" }
            }),
        ),
        ("somebody else's message", "message", {
            let mut message = query["message"].clone();
            message["from"]["id"] = json!(79);
            message
        }),
    ];
    for (name, field, value) in cases {
        let mut forged = fixture("callback_query");
        forged["callback_query"][field] = value;
        assert_eq!(read(&forged), Err(ReceiveError::Unreadable), "{name}");
    }
}

#[test]
fn the_word_of_a_button_has_at_most_64_bytes() {
    let (most, more) = ("p".repeat(28), "p".repeat(29));
    assert!(BUTTONS.word(&most, &"o".repeat(31)).is_some_and(|word| word.len() == 64));
    assert_eq!(BUTTONS.word(&more, &"o".repeat(31)), None);
}

/// Texts by which a person pretends to be the system, another person, or a frame of the desk.
static HOSTILE_TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../testing/hostile-texts.json")).expect("texts")
});

// T64
#[test]
fn a_hostile_text_stays_in_its_field() {
    let written = [
        "first_name",
        "last_name",
        "username",
        "title",
        "text",
        "caption",
        "file_name",
        "author_signature",
        "sender_user_name",
        "question",
        "address",
        "name",
    ];
    let differing = FIXTURES.fields_with_texts(&written, &HOSTILE_TEXTS, read);

    let texts = [
        // The entity of a recorded command fits some of the texts and not others.
        "/content/message/kind",
        "/content/message/media/-/filename",
        "/content/message/prompt_response/label",
        "/content/message/reply_to/author",
        "/content/message/reply_to/text",
        "/content/message/text",
        "/source/chat_name",
        "/source/user_handle",
        "/source/user_name",
    ];
    assert_eq!(differing.iter().map(String::as_str).collect::<Vec<_>>(), texts);
}
