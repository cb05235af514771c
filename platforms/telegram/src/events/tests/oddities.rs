use nightdesk_types::limits::{SHORT_TEXT_BYTES_MAX, WEBHOOK_BYTES_MAX};

use super::*;

#[test]
fn what_is_no_update_is_unreadable() {
    let cases = [
        "",
        "null",
        "[]",
        "{",
        "7",
        "{}",
        r#"{"update_id": "1"}"#,
        r#"{"update_id": 1.5}"#,
        r#"{"update_id": 1, "message": {}}"#,
        r#"{"update_id": 1, "message": {"message_id": 1, "chat": {"id": "x", "type": "group"}}}"#,
        // Half of a surrogate pair.
        r#"{"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1, "type": "private"}, "text": "\ud83d"}}"#,
    ];
    for body in cases {
        assert_eq!(
            convert_update(&bot(), body.as_bytes()),
            Err(ReceiveError::Unreadable),
            "{body}"
        );
    }
    assert_eq!(convert_update(&bot(), b"\xff\xfe"), Err(ReceiveError::Unreadable));
}

// T20
#[test]
fn odd_texts_are_taken() {
    let texts = [
        ("what PostgreSQL refuses", "a\0b".to_owned(), "ab".to_owned()),
        ("from right to left", "\u{202e}abc".to_owned(), "\u{202e}abc".to_owned()),
        ("marks upon marks", format!("e{}", "\u{301}".repeat(100_000)), String::new()),
        ("a huge one", "x".repeat(WEBHOOK_BYTES_MAX - 1_024), String::new()),
    ];
    for (name, text, want) in texts {
        let want = if want.is_empty() { text.clone() } else { want };
        let draft = read(&in_group(&json!({ "text": text }))).unwrap().unwrap();
        let event = Event::normalise(draft).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(message(event.into_draft()).text, want, "{name}");
    }
}

#[test]
fn odd_names_are_cut() {
    let mut update = in_group(&json!({ "text": "hi" }));
    update["message"]["from"]["first_name"] =
        json!(format!("\0{}", "ä".repeat(SHORT_TEXT_BYTES_MAX)));
    let event = Event::normalise(read(&update).unwrap().unwrap()).unwrap();

    assert_eq!(event.source().user_name.as_ref().map(String::len), Some(SHORT_TEXT_BYTES_MAX));
}

#[test]
fn a_chat_of_a_kind_yet_to_come_is_shared() {
    let chat = json!({ "id": -3, "type": "metaverse" });
    let draft = read(&in_group(&json!({ "text": "hi", "chat": chat }))).unwrap().unwrap();

    assert_eq!(draft.source.chat_type, event::ChatType::Group);
}

#[test]
fn a_bot_without_a_key_or_with_an_odd_one_has_no_id() {
    let own = fixture("own_message").to_string();
    for key in [None, Some("no-id"), Some("x:y")] {
        let key = key.map(|key| nightdesk_vault::Key::new(key.to_owned()));
        let bot = Bot { key, ..bot() };
        assert!(
            convert_update(&bot, own.as_bytes()).unwrap().is_some(),
            "nobody can tell whose it is"
        );
    }
}
