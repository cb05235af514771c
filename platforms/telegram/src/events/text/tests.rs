use proptest::prelude::*;

use super::*;

fn entity(offset: i64, length: i64) -> Entity {
    Entity { kind: "mention".to_owned(), offset, length, user: None }
}

#[test]
fn a_piece_is_counted_in_utf16() {
    let text = "a😀b@ä";
    let cases = [
        ("before", 0, 1, Some("a")),
        ("two units", 1, 2, Some("😀")),
        ("after", 4, 2, Some("@ä")),
        ("all of it", 0, 6, Some(text)),
        ("nothing, at the end", 6, 0, Some("")),
        ("torn at its begin", 2, 1, None),
        ("torn at its end", 0, 2, None),
        ("past the end", 5, 2, None),
        ("before the begin", -1, 1, None),
        ("of less than nothing", 1, -1, None),
        ("out of all bounds", i64::MAX, i64::MAX, None),
    ];
    for (name, offset, length, want) in cases {
        assert_eq!(entity_text(text, &entity(offset, length)), want, "{name}");
    }
}

#[test]
fn no_more_entities_are_looked_at_than_telegram_has() {
    let me = OwnAccount { id: Some(1), handle: "owl" };
    let read = |before: usize| {
        let mut entities =
            vec![serde_json::json!({ "type": "bold", "offset": 0, "length": 1 }); before];
        entities.push(serde_json::json!({ "type": "mention", "offset": 0, "length": 4 }));
        let message = serde_json::json!({
            "message_id": 1, "chat": { "id": 1, "type": "private" }, "text": "@owl",
            "entities": entities,
        });
        let message: TelegramMessage = serde_json::from_value(message).unwrap();
        ParsedText::from_message(&me, &message).mentions_bot
    };

    assert!(read(ENTITIES_MAX - 1));
    assert!(!read(ENTITIES_MAX));
}

proptest! {
    #[test]
    fn a_piece_is_what_utf16_says(text in "[a-c😀ä\u{301}]{0,12}", offset in 0..16_usize, length in 1..16_usize) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let want = units.get(offset..offset + length).and_then(|units| String::from_utf16(units).ok());
        let (offset, length) = (i64::try_from(offset).unwrap(), i64::try_from(length).unwrap());
        prop_assert_eq!(entity_text(&text, &entity(offset, length)).map(str::to_owned), want);
    }
}
