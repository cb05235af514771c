//! A numeric id that Discord writes as a string.

use std::fmt;

use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer};

/// The id of a message, a channel, a person or another object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u64);

impl Id {
    /// Parses an id in plain digits only.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
        if is_plain { text.parse().ok().map(Self) } else { None }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum RawId {
            Text(String),
            Number(u64),
        }
        let odd = || de::Error::invalid_value(Unexpected::Other("no id"), &"digits");
        match RawId::deserialize(deserializer)? {
            RawId::Text(text) => Self::parse(&text).ok_or_else(odd),
            RawId::Number(0) => Err(odd()),
            RawId::Number(number) => Ok(Self(number)),
        }
    }
}
