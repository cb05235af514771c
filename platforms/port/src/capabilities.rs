//! A platform's features, message length and rate limits.

use std::num::NonZeroU32;
use std::time::Duration;

/// Features of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformCapabilities {
    /// The platform's display name.
    pub label: String,
    /// Maximum length of one message, in [`PlatformCapabilities::length_unit`].
    pub message_length_max: u32,
    /// Unit of the message length.
    pub length_unit: LengthUnit,
    /// Markup format: `plain`, `discord` or `markdown_v2`.
    pub markdown_dialect: String,
    /// The emoji that a gateway shows beside the platform's name.
    pub emoji: &'static str,
    /// True if a gateway may hide the ids of people and chats from its model, because no text needs them. On a platform
    /// whose mentions contain ids, a model without them could mention no person.
    pub is_pii_safe: bool,
    /// A hint for agents about text on this platform.
    pub hint: String,
    /// Names of the supported ops on the wire.
    pub ops: Vec<&'static str>,
    /// True if threads can be created.
    pub threads: bool,
    /// Rate limit of calls in one chat.
    pub chat_pace: CallRate,
    /// Rate limit of all calls of the bot.
    pub bot_pace: CallRate,
}

/// A rate limit: a number of calls at once, refilled in each span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRate {
    /// Number of calls.
    pub calls: NonZeroU32,
    /// The span.
    pub span: Duration,
}

impl CallRate {
    /// Returns a limit of so many calls per second.
    pub const fn per_second(calls: NonZeroU32) -> Self {
        Self { calls, span: Duration::from_secs(1) }
    }
}

/// Unit of a message's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Unicode characters.
    Chars,
    /// UTF-16 code units.
    Utf16,
}
