//! Z05: everything that Telegram sends is converted, skipped or unreadable.

use proptest::prelude::*;

use super::*;

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
        prop_assert_eq!(convert_update(&bot(), &bytes), Err(ReceiveError::Unreadable));
    }

    #[test]
    fn any_update_is_dealt_with(update in FIXTURES.generate_bent("")) {
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
