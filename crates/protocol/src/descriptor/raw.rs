//! A descriptor as the SDK receives it.

use std::num::NonZeroU32;

use serde::Deserialize;

use super::{Descriptor, EMOJI_DEFAULT, LenUnit};
use crate::tolerant;
use crate::version::contract_version;

/// Longest message if a descriptor has no valid length.
const MESSAGE_LENGTH_DEFAULT: NonZeroU32 = NonZeroU32::new(4096).unwrap();

/// A descriptor with all fields optional.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the contract has one field for each")]
pub(crate) struct RawDescriptor {
    #[serde(default, deserialize_with = "tolerant::integer")]
    contract_version: Option<i64>,
    #[serde(default, deserialize_with = "tolerant::text")]
    platform: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    label: Option<String>,
    #[serde(default, deserialize_with = "tolerant::integer")]
    max_message_length: Option<i64>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_draft_streaming: bool,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_edit: bool,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_threads: bool,
    #[serde(default, deserialize_with = "tolerant::text")]
    markdown_dialect: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    len_unit: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    emoji: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    platform_hint: Option<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    pii_safe: bool,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_context: bool,
    #[serde(default, deserialize_with = "tolerant::texts")]
    supported_ops: Vec<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_inchannel_continuable: bool,
    #[serde(default, deserialize_with = "tolerant::truth")]
    supports_block_formatting: bool,
}

impl RawDescriptor {
    /// Returns the descriptor, if it names a platform.
    pub(crate) fn into_descriptor(self) -> Option<Descriptor> {
        let platform = self.platform.filter(|platform| !platform.is_empty())?;
        let length = self.max_message_length.and_then(|length| u32::try_from(length).ok());
        let length = length.and_then(NonZeroU32::new).unwrap_or(MESSAGE_LENGTH_DEFAULT);
        let described = Descriptor::new(&platform, &self.label.unwrap_or_default(), length)
            .marked_up_as(self.markdown_dialect.as_deref().unwrap_or("plain"))
            .with_hint(self.platform_hint.as_deref().unwrap_or_default())
            .with_emoji(self.emoji.as_deref().unwrap_or(EMOJI_DEFAULT))
            .with_ops(self.supported_ops.iter().map(String::as_str));
        Some(Descriptor {
            contract_version: self.contract_version.unwrap_or_else(contract_version),
            supports_draft_streaming: self.supports_draft_streaming,
            supports_edit: self.supports_edit,
            supports_threads: self.supports_threads,
            len_unit: len_unit(self.len_unit.as_deref()),
            pii_safe: self.pii_safe,
            supports_context: self.supports_context,
            supports_inchannel_continuable: self.supports_inchannel_continuable,
            supports_block_formatting: self.supports_block_formatting,
            ..described
        })
    }
}

/// Returns the unit. An unknown unit is read as the simpler one, as every client does.
fn len_unit(name: Option<&str>) -> LenUnit {
    if name == Some("utf16") { LenUnit::Utf16 } else { LenUnit::Chars }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::Ability;

    fn read(json: &str) -> Option<Descriptor> {
        serde_json::from_str::<RawDescriptor>(json).unwrap().into_descriptor()
    }

    #[test]
    fn what_is_missing_is_as_plain_as_can_be() {
        let plain = Descriptor::new("discord", "", MESSAGE_LENGTH_DEFAULT);

        for json in [
            r#"{"platform":"discord"}"#,
            r#"{"platform":"discord","max_message_length":0,"len_unit":"bytes"}"#,
            r#"{"platform":"discord","max_message_length":-1,"supports_edit":null}"#,
            r#"{"platform":"discord","max_message_length":"many","supported_ops":"send"}"#,
        ] {
            assert_eq!(read(json), Some(plain.clone()), "{json}");
        }
    }

    #[test]
    fn a_descriptor_of_nobody_is_none() {
        assert_eq!(read(r#"{"label":"Discord"}"#), None);
    }

    #[test]
    fn four_ops_are_always_taken_and_others_if_named() {
        let descriptor = read(r#"{"platform":"x","supported_ops":["react",7,{}]}"#).unwrap();

        let taken = ["send", "edit", "typing", "follow_up", "react", "7"];
        assert!(taken.iter().all(|op| descriptor.accepts_op(op)));
        assert!(!descriptor.accepts_op("prompt"));
    }

    #[test]
    fn each_ability_has_a_field_of_its_own() {
        let fields = [
            ("supports_draft_streaming", Ability::DraftStreaming),
            ("supports_edit", Ability::Edit),
            ("supports_threads", Ability::Threads),
            ("supports_context", Ability::Context),
            ("pii_safe", Ability::PiiSafe),
            ("supports_inchannel_continuable", Ability::InchannelContinuable),
            ("supports_block_formatting", Ability::BlockFormatting),
        ];
        for (field, ability) in fields {
            let descriptor = read(&format!(r#"{{"platform":"x","{field}":true}}"#)).unwrap();
            let able = fields.iter().filter(|(_, ability)| descriptor.has_ability(*ability));
            assert_eq!(able.collect::<Vec<_>>(), [&(field, ability)]);
            assert_eq!(Descriptor::new("x", "", MESSAGE_LENGTH_DEFAULT).with(ability), descriptor);
        }
    }
}
