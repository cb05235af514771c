//! A part of a key, with Python's semantics.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Unkeyable;

/// One field of a source. The clients are written in Python, where a key is made of texts, numbers and other values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part<'a> {
    /// Null or absent.
    #[default]
    None,
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number, written as text.
    Number(String),
    /// Zero, or another value that Python treats as false.
    Falsy,
    /// A value that cannot be part of a key.
    Other,
}

impl<'a> Part<'a> {
    /// Returns a text part.
    pub const fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Returns a text part, or `None` if it is absent.
    pub fn from_text(text: Option<&'a str>) -> Self {
        text.map_or(Self::None, Self::text)
    }

    pub(super) const fn dm() -> Self {
        Self::text("dm")
    }

    /// Returns true if Python treats it as true.
    pub(super) const fn is_truthy(&self) -> bool {
        match self {
            Self::None | Self::Falsy => false,
            Self::Text(Cow::Borrowed(text)) => !text.is_empty(),
            Self::Text(Cow::Owned(text)) => !text.is_empty(),
            Self::Number(_) | Self::Other => true,
        }
    }

    /// Returns the text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::None | Self::Number(_) | Self::Falsy | Self::Other => None,
        }
    }

    /// Returns Python's text form, or `None` if the value is falsy.
    pub(super) fn python_text(&self) -> Result<Option<&str>, Unkeyable> {
        match self {
            Self::None | Self::Falsy => Ok(None),
            Self::Text(text) => Ok(Some(text.as_ref()).filter(|text| !text.is_empty())),
            Self::Number(digits) => Ok(Some(digits)),
            Self::Other => Err(Unkeyable),
        }
    }

    /// Like [`Part::python_text`], but only a text is accepted.
    pub(super) fn joinable_text(&self) -> Result<Option<&str>, Unkeyable> {
        match self {
            Self::Number(_) => Err(Unkeyable),
            Self::None | Self::Text(_) | Self::Falsy | Self::Other => self.python_text(),
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
