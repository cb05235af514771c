//! The name of a polled line, and the agent's position in it.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::LineKey;

/// Longest name on the wire.
const NAME_BYTES_MAX: usize = 256;

/// Names a line, the node that holds it, and the first frame that the agent does not have.
///
/// On the wire it is opaque text. It proves nothing: the caller's credential says whose line it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineName {
    pub(super) key: LineKey,
    pub(super) position: u64,
    pub(super) node: String,
}

impl LineName {
    /// Returns the name of the node that holds the line.
    pub fn node(&self) -> &str {
        &self.node
    }
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.key.to_vec();
        bytes.extend(self.position.to_be_bytes());
        bytes.extend(self.node.as_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is not the name of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a line; take without a line to open one")]
pub struct NotALineName;

impl FromStr for LineName {
    type Err = NotALineName;

    fn from_str(text: &str) -> Result<Self, NotALineName> {
        if text.len() > NAME_BYTES_MAX {
            return Err(NotALineName);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NotALineName)?;
        let (key, rest) = bytes.split_first_chunk().ok_or(NotALineName)?;
        let (position, node) = rest.split_first_chunk().ok_or(NotALineName)?;
        let node = String::from_utf8(node.to_vec()).map_err(|_| NotALineName)?;
        Ok(Self { key: *key, position: u64::from_be_bytes(*position), node })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_name_is_read_as_it_was_written(key: LineKey, position: u64, node in "[a-z0-9-]{1,64}") {
            let name = LineName { key, position, node };
            prop_assert_eq!(name.to_string().parse(), Ok(name));
        }

        #[test]
        fn any_text_is_a_name_or_none(text in ".{0,300}") {
            if let Ok(name) = text.parse::<LineName>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }
}
