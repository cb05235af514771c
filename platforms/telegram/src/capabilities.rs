//! Capabilities: what Telegram can do, and how fast.

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_port::{Capabilities, LengthUnit, Pace};

/// How long a message may be, in UTF-16 code units.
const MESSAGE_UTF16_MAX: u32 = 4_096;

/// The ops there are calls for.
const OPS: [&str; 11] = [
    "send",
    "edit",
    "typing",
    "delete",
    "draft",
    "send_media",
    "prompt",
    "react",
    "thread_create",
    "thread_rename",
    "get_chat_info",
];

/// What every bot can do there.
pub(crate) fn capabilities() -> Capabilities {
    // What Telegram says of groups; a private chat would take more.
    const A_CHAT: Pace = Pace { calls: NonZeroU32::new(20).unwrap(), span: Duration::from_mins(1) };
    const ALL_CHATS: Pace = Pace::per_second(NonZeroU32::new(30).unwrap());
    Capabilities {
        label: "Telegram".to_owned(),
        message_length_max: MESSAGE_UTF16_MAX,
        length_unit: LengthUnit::Utf16,
        markdown_dialect: "markdown_v2".to_owned(),
        hint: "Markdown is shown, but for headings, tables and images. Keep it short: people read \
               it on telephones."
            .to_owned(),
        ops: OPS.to_vec(),
        threads: true,
        chat_pace: A_CHAT,
        bot_pace: ALL_CHATS,
    }
}
