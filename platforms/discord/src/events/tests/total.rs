//! Z01, Z02: everything that Discord sends is converted, skipped or unreadable.

use nightdesk_types::Event;
use proptest::prelude::*;

use super::*;

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
            let read = convert_event(&bot(), &Known, kind, &bytes);
            prop_assert!(matches!(read, Err(ReceiveError::Unreadable)));
        }
    }

    #[test]
    fn anything_told_is_dealt_with(told in FIXTURES.generate_bent("/d")) {
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
