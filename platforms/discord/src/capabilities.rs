//! Discord's features and rate limits.

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_kit::chat_ops;
use nightdesk_port::{CallRate, LengthUnit, PlatformCapabilities};

/// Maximum length of a message, in characters.
pub(crate) const MESSAGE_CHARS_MAX: u32 = 2_000;

/// Returns the features that every bot has.
pub(crate) fn capabilities() -> PlatformCapabilities {
    // The limit per channel is from Discord's response headers, the limit per bot from its documentation.
    const A_CHANNEL: CallRate =
        CallRate { calls: NonZeroU32::new(5).unwrap(), span: Duration::from_secs(5) };
    const ALL_CHANNELS: CallRate = CallRate::per_second(NonZeroU32::new(50).unwrap());
    PlatformCapabilities {
        label: "Discord".to_owned(),
        message_length_max: MESSAGE_CHARS_MAX,
        length_unit: LengthUnit::Chars,
        markdown_dialect: "discord".to_owned(),
        emoji: "🎮",
        // A mention is written with the person's id.
        is_pii_safe: false,
        hint: "Markdown is rendered, except tables and images. Mentions notify no person."
            .to_owned(),
        ops: chat_ops("follow_up"),
        threads: true,
        chat_pace: A_CHANNEL,
        bot_pace: ALL_CHANNELS,
    }
}
