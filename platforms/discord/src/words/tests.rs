//! Tests of the conversion of Discord's data.

use std::collections::BTreeMap;

use nightdesk_testkit::cases::{Case, begin};
use nightdesk_types::Event;
use nightdesk_types::event::Content;
use serde_json::{Value, json};

use super::*;
use crate::id::Id;
use crate::tests::bot;

mod total;

/// Fixtures that were written from Discord's documentation.
pub(crate) const FIXTURES: [(&str, &str); 50] = [
    ("audio", include_str!("../../fixtures/audio.json")),
    ("autocomplete", include_str!("../../fixtures/autocomplete.json")),
    ("command_dm", include_str!("../../fixtures/command_dm.json")),
    ("command_guild", include_str!("../../fixtures/command_guild.json")),
    ("command_nested", include_str!("../../fixtures/command_nested.json")),
    ("command_plain", include_str!("../../fixtures/command_plain.json")),
    ("command_thread", include_str!("../../fixtures/command_thread.json")),
    ("document", include_str!("../../fixtures/document.json")),
    ("edited", include_str!("../../fixtures/edited.json")),
    ("edited_partial", include_str!("../../fixtures/edited_partial.json")),
    ("edited_thread", include_str!("../../fixtures/edited_thread.json")),
    ("empty", include_str!("../../fixtures/empty.json")),
    ("forwarded", include_str!("../../fixtures/forwarded.json")),
    ("joined", include_str!("../../fixtures/joined.json")),
    ("link_looked_at", include_str!("../../fixtures/link_looked_at.json")),
    ("mention", include_str!("../../fixtures/mention.json")),
    ("mention_alone", include_str!("../../fixtures/mention_alone.json")),
    ("mention_everyone", include_str!("../../fixtures/mention_everyone.json")),
    ("mention_in_code", include_str!("../../fixtures/mention_in_code.json")),
    ("mention_old_form", include_str!("../../fixtures/mention_old_form.json")),
    ("mention_other", include_str!("../../fixtures/mention_other.json")),
    ("message_dm", include_str!("../../fixtures/message_dm.json")),
    ("message_forum_post", include_str!("../../fixtures/message_forum_post.json")),
    ("message_guild", include_str!("../../fixtures/message_guild.json")),
    ("message_newer_fields", include_str!("../../fixtures/message_newer_fields.json")),
    ("message_nick", include_str!("../../fixtures/message_nick.json")),
    ("message_private_thread", include_str!("../../fixtures/message_private_thread.json")),
    ("message_thread", include_str!("../../fixtures/message_thread.json")),
    ("message_unknown_channel", include_str!("../../fixtures/message_unknown_channel.json")),
    ("modal", include_str!("../../fixtures/modal.json")),
    ("other_bot", include_str!("../../fixtures/other_bot.json")),
    ("own_message", include_str!("../../fixtures/own_message.json")),
    ("photo", include_str!("../../fixtures/photo.json")),
    ("photos", include_str!("../../fixtures/photos.json")),
    ("pinned", include_str!("../../fixtures/pinned.json")),
    ("poll", include_str!("../../fixtures/poll.json")),
    ("press", include_str!("../../fixtures/press.json")),
    ("press_dm", include_str!("../../fixtures/press_dm.json")),
    ("reply_gone", include_str!("../../fixtures/reply_gone.json")),
    ("reply_other", include_str!("../../fixtures/reply_other.json")),
    ("reply_own", include_str!("../../fixtures/reply_own.json")),
    ("sticker", include_str!("../../fixtures/sticker.json")),
    ("sticker_drawn", include_str!("../../fixtures/sticker_drawn.json")),
    ("thread_starter", include_str!("../../fixtures/thread_starter.json")),
    ("typed_command", include_str!("../../fixtures/typed_command.json")),
    ("typing", include_str!("../../fixtures/typing.json")),
    ("unknown_kind", include_str!("../../fixtures/unknown_kind.json")),
    ("video", include_str!("../../fixtures/video.json")),
    ("voice", include_str!("../../fixtures/voice.json")),
    ("webhook", include_str!("../../fixtures/webhook.json")),
];

/// Some channels and threads of a guild.
pub(crate) struct Known;

impl Rooms for Known {
    fn room(&self, id: Id) -> Option<Room> {
        let room = |kind, name: &str, parent: Option<u64>| Room {
            id,
            kind,
            guild_id: Some(Id(70)),
            parent_id: parent.map(Id),
            owner_id: None,
            name: Some(name.to_owned()),
            topic: None,
        };
        match id.0 {
            500 => Some(Room { topic: Some("Anything".to_owned()), ..room(0, "general", None) }),
            510 => Some(room(11, "plans", Some(500))),
            511 => Some(room(12, "secrets", Some(500))),
            521 => Some(room(11, "a question", Some(520))),
            _ => None,
        }
    }
}

pub(crate) fn fixture(name: &str) -> Value {
    let (_, text) = FIXTURES.iter().find(|(one, _)| *one == name).expect("a fixture of that name");
    serde_json::from_str(text).expect("fixtures are JSON")
}

/// Converts a fixture.
fn read(told: &Value) -> Result<Option<Draft>, ReceiveError> {
    let kind = told["t"].as_str().unwrap_or_default();
    let said = event(&bot(), &Known, kind, told["d"].to_string().as_bytes())?;
    Ok(said.map(|(draft, _)| draft))
}

fn message(draft: Draft) -> event::Message {
    let Content::Message(message) = draft.content else { panic!("a message") };
    *message
}

#[test]
fn what_is_told_is_this_in_our_words() {
    let mut events = BTreeMap::new();
    let cases = FIXTURES.map(|(name, _)| begin("discord", "fixture", name));
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
    let silent = [
        "own_message",
        "joined",
        "pinned",
        "thread_starter",
        "empty",
        "link_looked_at",
        "edited_partial",
        "autocomplete",
        "modal",
        "typing",
        "unknown_kind",
    ];
    for name in silent {
        assert_eq!(read(&fixture(name)), Ok(None), "{name}");
    }
}

// T15
#[test]
fn whatever_is_said_in_a_guild_names_it_and_what_is_said_to_the_bot_alone_names_none() {
    for (name, _) in FIXTURES {
        let Ok(Some(draft)) = read(&fixture(name)) else { continue };
        let told = fixture(name);
        let guild = told["d"]["guild_id"].as_str().map(str::to_owned);
        assert_eq!(draft.source.scope_id, guild, "{name}");
        let is_alone = draft.source.chat_type == event::ChatType::Dm;
        assert_eq!(is_alone, guild.is_none(), "{name}");
    }
    // Fetched messages do not contain their guild.
    let mut fetched = fixture("message_guild");
    fetched["d"].as_object_mut().unwrap().remove("guild_id");
    assert_eq!(read(&fetched).unwrap().unwrap().source.scope_id.as_deref(), Some("70"));
}

#[test]
fn an_edit_is_told_from_the_message_and_from_every_other_edit() {
    let first = read(&fixture("message_guild")).unwrap().unwrap();
    let edit = read(&fixture("edited")).unwrap().unwrap();
    let mut again = fixture("edited");
    again["d"]["edited_timestamp"] = json!("2026-11-15T10:05:00.000000+00:00");
    let again = read(&again).unwrap().unwrap();

    assert_ne!(first.key, edit.key);
    assert_ne!(edit.key, again.key);
    assert!(message(edit).is_edit);
}

#[test]
fn a_press_counts_only_on_a_button_that_is_there() {
    let cases = [
        ("a button of another prompt", "/d/data/custom_id", json!("hp1:ffffff.00000000:yes")),
        ("no button", "/d/data/custom_id", json!("")),
        ("a message without buttons", "/d/message/components", json!([])),
        ("no message", "/d/message", json!(null)),
        ("somebody else's message", "/d/message/author/id", json!("79")),
    ];
    for (name, at, value) in cases {
        let mut forged = fixture("press");
        *forged.pointer_mut(at).unwrap() = value;
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
    let (most, more) = ("p".repeat(64), "p".repeat(65));
    assert!(press::word(&most, &"o".repeat(31)).is_some_and(|word| word.len() == 100));
    assert_eq!(press::word(&more, &"o".repeat(31)), None);
}
