use std::num::NonZeroU32;

use nightdesk_port::{CallRate, LengthUnit};

use super::*;

fn capabilities(platform: &str, settings: Value) -> PlatformCapabilities {
    let bot = Bot { platform: platform.to_owned(), ..bot(settings) };
    Scripted::new().unwrap().capabilities(&bot)
}

#[test]
fn a_bot_can_what_the_platform_it_claims_to_be_can() {
    let cases = [
        ("discord", "Discord", 2_000, LengthUnit::Chars, "discord"),
        ("telegram", "Telegram", 4_096, LengthUnit::Utf16, "markdown_v2"),
        ("webchat", "webchat", 4_096, LengthUnit::Chars, "plain"),
    ];
    for (platform, label, length, unit, dialect) in cases {
        let can = capabilities(platform, json!({}));
        assert_eq!((can.label.as_str(), can.markdown_dialect.as_str()), (label, dialect));
        assert_eq!((can.message_length_max, can.length_unit), (length, unit), "{platform}");
        assert_eq!(can.ops.len(), 14, "{platform}");
    }
}

#[test]
fn settings_say_otherwise() {
    let can = capabilities(
        "discord",
        json!({
            "label": "Other", "message_length_max": 9, "length_unit": "utf16",
            "markdown_dialect": "plain", "hint": "be brief", "ops": ["send", "typing", "sing"],
            "threads": false, "calls_per_second": 5,
        }),
    );

    let want = PlatformCapabilities {
        label: "Other".to_owned(),
        message_length_max: 9,
        length_unit: LengthUnit::Utf16,
        markdown_dialect: "plain".to_owned(),
        emoji: "🎮",
        is_pii_safe: false,
        hint: "be brief".to_owned(),
        ops: vec!["send", "typing"],
        threads: false,
        chat_pace: CallRate::per_second(NonZeroU32::new(5).unwrap()),
        bot_pace: CallRate::per_second(NonZeroU32::new(1_000_000).unwrap()),
    };
    assert_eq!(can, want);
}
