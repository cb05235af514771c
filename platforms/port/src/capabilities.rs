//! Capabilities: what a platform can do, how long a message may be and how fast they may come.

use std::num::NonZeroU32;
use std::time::Duration;

/// What a platform can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What people call the platform.
    pub label: String,
    /// How long one message may be, in [`Capabilities::length_unit`].
    pub message_length_max: u32,
    /// What length is counted in.
    pub length_unit: LengthUnit,
    /// How text is marked up: `plain`, `discord`, `markdown_v2`.
    pub markdown_dialect: String,
    /// What agents should know about writing there.
    pub hint: String,
    /// The ops it can do, by their names on the wire.
    pub ops: Vec<&'static str>,
    /// Whether threads can be opened.
    pub threads: bool,
    /// How fast calls may come in one chat.
    pub chat_pace: Pace,
    /// How fast calls of the whole bot may come.
    pub bot_pace: Pace,
}

/// So many calls at once, and so many again in each span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many calls.
    pub calls: NonZeroU32,
    /// In which span.
    pub span: Duration,
}

impl Pace {
    /// So many calls a second.
    pub const fn per_second(calls: NonZeroU32) -> Self {
        Self { calls, span: Duration::from_secs(1) }
    }
}

/// What the length of a message is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Unicode characters.
    Chars,
    /// UTF-16 code units.
    Utf16,
}
