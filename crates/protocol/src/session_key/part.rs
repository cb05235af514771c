//! A part of a key, with what Python makes of it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Unkeyable;

/// One field of a source. The clients are written in Python, where a key is made of texts,
/// of numbers, and of what happens to be neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part<'a> {
    /// Null, or not there.
    #[default]
    None,
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number, written as text.
    Number(String),
    /// A number that is nought, or something else that is as good as absent.
    Falsy,
    /// Something no key can be made of.
    Other,
}

impl<'a> Part<'a> {
    /// A text.
    pub const fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A text that may be absent.
    pub fn some(text: Option<&'a str>) -> Self {
        text.map_or(Self::None, Self::text)
    }

    pub(super) const fn dm() -> Self {
        Self::text("dm")
    }

    /// Whether Python would take it for true.
    pub(super) const fn is_truthy(&self) -> bool {
        match self {
            Self::None | Self::Falsy => false,
            Self::Text(Cow::Borrowed(text)) => !text.is_empty(),
            Self::Text(Cow::Owned(text)) => !text.is_empty(),
            Self::Number(_) | Self::Other => true,
        }
    }

    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::None | Self::Number(_) | Self::Falsy | Self::Other => None,
        }
    }

    /// What Python would write for it, or nothing where it is not true.
    pub(super) fn written(&self) -> Result<Option<&str>, Unkeyable> {
        match self {
            Self::None | Self::Falsy => Ok(None),
            Self::Text(text) => Ok(Some(text.as_ref()).filter(|text| !text.is_empty())),
            Self::Number(digits) => Ok(Some(digits)),
            Self::Other => Err(Unkeyable),
        }
    }

    /// As [`Part::written`], where only a text will do.
    pub(super) fn joined(&self) -> Result<Option<&str>, Unkeyable> {
        match self {
            Self::Number(_) => Err(Unkeyable),
            Self::None | Self::Text(_) | Self::Falsy | Self::Other => self.written(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(from)? {
            Value::Null => Self::None,
            Value::String(text) => Self::Text(Cow::Owned(text)),
            Value::Number(number) if number.as_f64() == Some(0.0) => Self::Falsy,
            Value::Number(number) if !number.is_f64() => Self::Number(number.to_string()),
            Value::Bool(false) => Self::Falsy,
            Value::Array(items) if items.is_empty() => Self::Falsy,
            Value::Object(entries) if entries.is_empty() => Self::Falsy,
            Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Self::Other,
        })
    }
}
