//! Tests of the conversion of updates.

use std::collections::BTreeMap;

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
const FIXTURES: [(&str, &str); 28] = [
    ("animation", include_str!("../../fixtures/animation.json")),
    ("anonymous_admin", include_str!("../../fixtures/anonymous_admin.json")),
    ("callback_query", include_str!("../../fixtures/callback_query.json")),
    ("channel_post", include_str!("../../fixtures/channel_post.json")),
    ("command_ours", include_str!("../../fixtures/command_ours.json")),
    ("document", include_str!("../../fixtures/document.json")),
    ("edited_channel_post", include_str!("../../fixtures/edited_channel_post.json")),
    ("edited_message", include_str!("../../fixtures/edited_message.json")),
    ("external_reply", include_str!("../../fixtures/external_reply.json")),
    ("forum_general", include_str!("../../fixtures/forum_general.json")),
    ("forum_topic", include_str!("../../fixtures/forum_topic.json")),
    ("forwarded", include_str!("../../fixtures/forwarded.json")),
    ("group_mention", include_str!("../../fixtures/group_mention.json")),
    ("inline_callback", include_str!("../../fixtures/inline_callback.json")),
    ("linked_channel", include_str!("../../fixtures/linked_channel.json")),
    ("message_private", include_str!("../../fixtures/message_private.json")),
    ("my_chat_member", include_str!("../../fixtures/my_chat_member.json")),
    ("other_bot", include_str!("../../fixtures/other_bot.json")),
    ("own_message", include_str!("../../fixtures/own_message.json")),
    ("photo_caption", include_str!("../../fixtures/photo_caption.json")),
    ("poll", include_str!("../../fixtures/poll.json")),
    ("service_message", include_str!("../../fixtures/service_message.json")),
    ("sticker", include_str!("../../fixtures/sticker.json")),
    ("supergroup_reply", include_str!("../../fixtures/supergroup_reply.json")),
    ("unknown_kind", include_str!("../../fixtures/unknown_kind.json")),
    ("venue", include_str!("../../fixtures/venue.json")),
    ("via_bot", include_str!("../../fixtures/via_bot.json")),
    ("voice", include_str!("../../fixtures/voice.json")),
];

fn fixture(name: &str) -> Value {
    let (_, text) = FIXTURES.iter().find(|(one, _)| *one == name).expect("a fixture of that name");
    serde_json::from_str(text).expect("fixtures are JSON")
}

/// Converts an update.
fn read(update: &Value) -> Result<Option<Draft>, ReceiveError> {
    event(&bot(), update.to_string().as_bytes())
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
    let mut events = BTreeMap::new();
    let cases = FIXTURES.map(|(name, _)| begin("telegram", "fixture", name));
    for (name, _) in FIXTURES {
        let draft = read(&fixture(name)).expect("fixtures can be read");
        let event = draft.map(|draft| Event::normalise(draft).expect("every client can take it"));
        events.insert(name, without_void(serde_json::to_value(event).expect("events are JSON")));
    }

    insta::assert_json_snapshot!("fixtures", events);
    cases.into_iter().for_each(Case::passed);
}

/// Removes empty values, so that the result is readable.
fn without_void(value: Value) -> Value {
    let is_void = |value: &Value| {
        value.is_null() || *value == json!(false) || *value == json!([]) || *value == json!({})
    };
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, without_void(value)));
            fields.filter(|(_, value)| !is_void(value)).collect()
        }
        Value::Array(items) => items.into_iter().map(without_void).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
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
fn the_word_of_a_button_comes_back() {
    let cases = [
        ("a1b2c3.d4e5f607", "yes", Some("hp1:a1b2c3.d4e5f607:yes")),
        ("", "yes", None),
        ("a:b", "yes", None),
        ("a", "ä", None),
    ];
    for (prompt, option, want) in cases {
        assert_eq!(press::word(prompt, option).as_deref(), want, "{prompt}:{option}");
    }
    let (most, more) = ("p".repeat(28), "p".repeat(29));
    assert!(press::word(&most, &"o".repeat(31)).is_some_and(|word| word.len() == 64));
    assert_eq!(press::word(&more, &"o".repeat(31)), None);
}
