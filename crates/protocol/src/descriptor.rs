//! The descriptor of a platform's capabilities, which answers a gateway's hello.

use std::num::NonZeroU32;

use nightdesk_types::limits::SHORT_TEXT_BYTES_MAX;
use serde::Serialize;

mod raw;

pub(crate) use raw::RawDescriptor;

use crate::text;
use crate::version::contract_version;

/// Most ops of a descriptor.
const OPS_MAX: usize = 64;

/// Longest name of an op.
const OP_NAME_BYTES_MAX: usize = 64;

/// The emoji that clients show for a platform without its own.
const EMOJI_DEFAULT: &str = "\u{1f50c}";

/// The capabilities of a platform.
///
/// Its texts are bounded, so its frame is too. The nine fields that clients require are always sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the contract has one field for each")]
pub struct Descriptor {
    contract_version: i64,
    platform: String,
    label: String,
    max_message_length: NonZeroU32,
    supports_draft_streaming: bool,
    supports_edit: bool,
    supports_threads: bool,
    markdown_dialect: String,
    len_unit: LenUnit,
    emoji: String,
    platform_hint: String,
    pii_safe: bool,
    supports_context: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supported_ops: Vec<String>,
    supports_inchannel_continuable: bool,
    supports_block_formatting: bool,
}

/// The unit of a message's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LenUnit {
    /// Unicode characters.
    #[default]
    Chars,
    /// UTF-16 code units.
    Utf16,
}

/// A capability that not all platforms have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// A reply can be shown while it is being written.
    DraftStreaming,
    /// Messages can be changed.
    Edit,
    /// Threads can be opened.
    Threads,
    /// Earlier messages come with an event.
    Context,
    /// The ids of people and chats may be hidden from the model, because no text needs them.
    PiiSafe,
    /// A conversation can continue in the channel without a thread.
    InchannelContinuable,
    /// Text may be laid out in blocks.
    BlockFormatting,
}

impl Descriptor {
    /// Creates the descriptor of a platform that accepts only plain text.
    pub fn new(platform: &str, label: &str, max_message_length: NonZeroU32) -> Self {
        Self {
            contract_version: contract_version(),
            platform: truncate_text(platform),
            label: truncate_text(label),
            max_message_length,
            supports_draft_streaming: false,
            supports_edit: false,
            supports_threads: false,
            markdown_dialect: "plain".to_owned(),
            len_unit: LenUnit::default(),
            emoji: EMOJI_DEFAULT.to_owned(),
            platform_hint: String::new(),
            pii_safe: false,
            supports_context: false,
            supported_ops: Vec::new(),
            supports_inchannel_continuable: false,
            supports_block_formatting: false,
        }
    }

    /// Adds an ability.
    #[must_use]
    pub fn with(mut self, ability: Ability) -> Self {
        *self.ability_mut(ability) = true;
        self
    }

    /// Sets the unit of length.
    #[must_use]
    pub fn with_len_unit(mut self, unit: LenUnit) -> Self {
        self.len_unit = unit;
        self
    }

    /// Sets the markup dialect: `discord`, `markdown_v2`.
    #[must_use]
    pub fn marked_up_as(mut self, dialect: &str) -> Self {
        self.markdown_dialect = truncate_text(dialect);
        self
    }

    /// Sets the hint for agents that write there.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.platform_hint = truncate_text(hint);
        self
    }

    /// Sets the emoji that clients show.
    #[must_use]
    pub fn with_emoji(mut self, emoji: &str) -> Self {
        self.emoji = truncate_text(emoji);
        self
    }

    /// Sets the ops that the platform accepts. Without them newer clients assume send, edit, typing and follow-up.
    #[must_use]
    pub fn with_ops<'a>(mut self, ops: impl IntoIterator<Item = &'a str>) -> Self {
        let names = ops.into_iter().filter(|name| name.len() <= OP_NAME_BYTES_MAX);
        self.supported_ops = names.take(OPS_MAX).map(str::to_owned).collect();
        self
    }

    /// Returns the platform's name.
    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// Returns the platform's display name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the longest message.
    pub const fn max_message_length(&self) -> NonZeroU32 {
        self.max_message_length
    }

    /// Returns the unit of length.
    pub const fn len_unit(&self) -> LenUnit {
        self.len_unit
    }

    /// Returns the markup dialect.
    pub fn markdown_dialect(&self) -> &str {
        &self.markdown_dialect
    }

    /// Returns the hint for agents that write there.
    pub fn platform_hint(&self) -> &str {
        &self.platform_hint
    }

    /// Returns true if the platform has this ability.
    pub fn has_ability(&self, ability: Ability) -> bool {
        match ability {
            Ability::DraftStreaming => self.supports_draft_streaming,
            Ability::Edit => self.supports_edit,
            Ability::Threads => self.supports_threads,
            Ability::Context => self.supports_context,
            Ability::PiiSafe => self.pii_safe,
            Ability::InchannelContinuable => self.supports_inchannel_continuable,
            Ability::BlockFormatting => self.supports_block_formatting,
        }
    }

    /// Returns true if the platform accepts this op. A descriptor without ops means the four oldest.
    pub fn accepts_op(&self, op: &str) -> bool {
        const ASSUMED: [&str; 4] = ["send", "edit", "typing", "follow_up"];
        ASSUMED.contains(&op) || self.supported_ops.iter().any(|name| name == op)
    }

    const fn ability_mut(&mut self, ability: Ability) -> &mut bool {
        match ability {
            Ability::DraftStreaming => &mut self.supports_draft_streaming,
            Ability::Edit => &mut self.supports_edit,
            Ability::Threads => &mut self.supports_threads,
            Ability::Context => &mut self.supports_context,
            Ability::PiiSafe => &mut self.pii_safe,
            Ability::InchannelContinuable => &mut self.supports_inchannel_continuable,
            Ability::BlockFormatting => &mut self.supports_block_formatting,
        }
    }
}

fn truncate_text(text: &str) -> String {
    text::cut(text, SHORT_TEXT_BYTES_MAX)
}
