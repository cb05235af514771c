//! Telegram's features and rate limits.

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_kit::chat_ops;
use nightdesk_port::{CallRate, LengthUnit, PlatformCapabilities};

/// Maximum length of a message, in UTF-16 code units.
const MESSAGE_UTF16_MAX: u32 = 4_096;

/// Returns the features that every bot has.
pub(crate) fn capabilities() -> PlatformCapabilities {
    // Telegram's limit for groups. The limit of a private chat is higher.
    const A_CHAT: CallRate =
        CallRate { calls: NonZeroU32::new(20).unwrap(), span: Duration::from_mins(1) };
    const ALL_CHATS: CallRate = CallRate::per_second(NonZeroU32::new(30).unwrap());
    PlatformCapabilities {
        label: "Telegram".to_owned(),
        message_length_max: MESSAGE_UTF16_MAX,
        length_unit: LengthUnit::Utf16,
        markdown_dialect: "markdown_v2".to_owned(),
        emoji: "✈️",
        is_pii_safe: true,
        hint: "Markdown is rendered, except headings, tables and images. Keep it short: many \
               people read on phones."
            .to_owned(),
        ops: chat_ops("draft"),
        threads: true,
        chat_pace: A_CHAT,
        bot_pace: ALL_CHATS,
    }
}
