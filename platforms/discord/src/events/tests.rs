//! Tests of the conversion of Discord's data.

use std::sync::LazyLock;

use nightdesk_kit::fixtures::Fixtures;
use nightdesk_testkit::cases::{Case, begin};
use nightdesk_types::event::Content;
use serde_json::{Value, json};

use super::*;
use crate::id::Id;
use crate::tests::bot;

mod total;

/// Fixtures that were written from Discord's documentation.
static FIXTURES: LazyLock<Fixtures> = LazyLock::new(Fixtures::read);

/// Some channels and threads of a guild.
pub(crate) struct Known;

impl ChannelLookup for Known {
    fn find_channel(&self, id: Id) -> Option<DiscordChannel> {
        let room = |kind, name: &str, parent: Option<u64>| DiscordChannel {
            id,
            kind,
            guild_id: Some(Id(70)),
            parent_id: parent.map(Id),
            owner_id: None,
            name: Some(name.to_owned()),
            topic: None,
        };
        match id.0 {
            500 => Some(DiscordChannel {
                topic: Some("Anything".to_owned()),
                ..room(0, "general", None)
            }),
            510 => Some(room(11, "plans", Some(500))),
            511 => Some(room(12, "secrets", Some(500))),
            521 => Some(room(11, "a question", Some(520))),
            _ => None,
        }
    }
}

pub(crate) fn fixture(name: &str) -> Value {
    FIXTURES.get(name)
}

/// Converts a fixture.
fn read(told: &Value) -> Result<Option<Draft>, ReceiveError> {
    let kind = told["t"].as_str().unwrap_or_default();
    let said = convert_event(&bot(), &Known, kind, told["d"].to_string().as_bytes())?;
    Ok(said.map(|(draft, _)| draft))
}

fn message(draft: Draft) -> event::Message {
    let Content::Message(message) = draft.content else { panic!("a message") };
    *message
}

#[test]
fn what_is_told_is_this_in_our_words() {
    let cases: Vec<Case> = FIXTURES.names().map(|name| begin("discord", "fixture", name)).collect();

    insta::assert_json_snapshot!("fixtures", FIXTURES.events(read));
    cases.into_iter().for_each(Case::passed);
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
    for name in FIXTURES.names() {
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
fn the_word_of_a_button_has_at_most_100_bytes() {
    let (most, more) = ("p".repeat(64), "p".repeat(65));
    assert!(BUTTONS.word(&most, &"o".repeat(31)).is_some_and(|word| word.len() == 100));
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
        "content",
        "username",
        "global_name",
        "nick",
        "name",
        "topic",
        "filename",
        "description",
        "label",
        "text",
        "value",
    ];
    let differing = FIXTURES.fields_with_texts(&written, &HOSTILE_TEXTS, read);

    let texts = [
        "/content/message/media/-/caption",
        "/content/message/media/-/filename",
        "/content/message/prompt_response/label",
        "/content/message/reply_to/author",
        "/content/message/reply_to/text",
        "/content/message/text",
        "/source/chat_name",
        "/source/chat_topic",
        "/source/user_handle",
        "/source/user_name",
    ];
    assert_eq!(differing.iter().map(String::as_str).collect::<Vec<_>>(), texts);
}
