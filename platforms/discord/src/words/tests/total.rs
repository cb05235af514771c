//! Z01, Z02: everything that Discord sends is converted, skipped or unreadable.

use proptest::prelude::*;

use super::*;

/// Generates JSON of limited depth.
fn any_json() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        any::<u64>().prop_map(|id| Value::from(id.to_string())),
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
        let mut told = fixture(FIXTURES[which].0);
        let mut places = Vec::new();
        walk(&told["d"], "/d".to_owned(), &mut places);
        if let Some(place) = told.pointer_mut(&places[at.index(places.len())]) {
            *place = odd;
        }
        told
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

/// Returns every id that Discord reports as the author. A JSON array is read as a struct, in the order of its fields.
fn speakers(told: &Value) -> Vec<String> {
    let told = &told["d"];
    let all = [&told["author"], &told["member"]["user"], &told["member"][1], &told["user"]];
    let ids = all.iter().flat_map(|speaker| [&speaker["id"], &speaker[0]]);
    ids.map(|id| id.to_string().trim_matches('"').to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_bytes_are_dealt_with(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for kind in ["MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE"] {
            let read = event(&bot(), &Known, kind, &bytes);
            prop_assert!(matches!(read, Err(ReceiveError::Unreadable)));
        }
    }

    #[test]
    fn anything_told_is_dealt_with(told in bent()) {
        let Ok(Some(draft)) = read(&told) else { return Ok(()) };
        prop_assert!(!draft.key.is_empty());
        prop_assert_eq!(&draft.source.platform, "discord");
        // T14: only the reported author becomes the author, not a quoted or forwarded one.
        let author = draft.source.user_id.clone();
        prop_assert!(author.is_some_and(|author| speakers(&told).contains(&author)));
        prop_assert_eq!(read(&told), Ok(Some(draft.clone())), "told again, it is the same");
        // T15: no place in a guild lacks the guild's id.
        prop_assert!(Event::normalise(draft.clone()) != Err(event::Unreadable::NoScope));
        let written = serde_json::to_string(&draft).unwrap();
        prop_assert!(!written.contains("canary"), "no token is in an event");
    }
}
