//! Capabilities: what a platform can do and how long a message may be.

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
}

/// What the length of a message is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Unicode characters.
    Chars,
    /// UTF-16 code units.
    Utf16,
}
