//! Z05: everything that Telegram sends is converted, skipped or unreadable.

use proptest::prelude::*;

use super::*;

/// Generates JSON of limited depth.
fn any_json() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    plain.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Generates a fixture with one value replaced.
fn bent() -> impl Strategy<Value = Value> {
    (0..FIXTURES.len(), any::<prop::sample::Index>(), any_json()).prop_map(|(which, at, odd)| {
        let mut update = fixture(FIXTURES[which].0);
        let mut places = Vec::new();
        walk(&update, String::new(), &mut places);
        if let Some(place) = update.pointer_mut(&places[at.index(places.len())]) {
            *place = odd;
        }
        update
    })
}

fn walk(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| walk(value, format!("{at}/{name}"), places));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, value)| walk(value, format!("{at}/{i}"), places));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(at);
}

/// Returns every id that Telegram reports as the author.
fn speakers(update: &Value) -> Vec<String> {
    let kinds = ["message", "edited_message", "channel_post", "edited_channel_post"];
    let spoken =
        kinds.iter().flat_map(|kind| [&update[kind]["from"], &update[kind]["sender_chat"]]);
    let all = spoken.chain([&update["callback_query"]["from"]]);
    all.map(|speaker| speaker["id"].to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_bytes_are_dealt_with(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(event(&bot(), &bytes), Err(ReceiveError::Unreadable));
    }

    #[test]
    fn any_update_is_dealt_with(update in bent()) {
        let Ok(Some(draft)) = read(&update) else { return Ok(()) };
        prop_assert!(!draft.key.is_empty());
        prop_assert_eq!(&draft.source.platform, "telegram");
        // T14: only the reported author becomes the author, not a quoted or forwarded one.
        let author = draft.source.user_id.clone();
        prop_assert!(author.is_none_or(|author| speakers(&update).contains(&author)));
        prop_assert_eq!(read(&update), Ok(Some(draft.clone())), "told again, it is the same");
        drop(Event::normalise(draft));
    }
}
