//! Tolerant deserialisers, which treat a value of another type as absent.
//!
//! Each function is for `deserialize_with`, beside `default`. None of them fails on valid JSON, and none allocates much
//! more memory than the input: unwanted values are skipped, lists are cut, and free-form values have a limit.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

mod visit;

use visit::{Scalar, list, object_of, scalar};

/// Reads a text or a whole number as text. Some clients send numbers for ids.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(borrowed(from)?.map(Cow::into_owned))
}

/// Like [`text`], without a copy where the input allows.
pub(crate) fn borrowed<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Cow<'de, str>>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Text(text) => Some(text),
        Scalar::Integer(number) => Some(Cow::Owned(number.to_string())),
        Scalar::Count(number) => Some(Cow::Owned(number.to_string())),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::None => None,
    })
}

/// Like [`text`]; an absent value is empty.
pub(crate) fn text_or_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(text(from)?.unwrap_or_default())
}

/// Reads a flag. Python clients judge by truthiness, not by type.
pub(crate) fn truth<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(match scalar(from)? {
        Scalar::None => false,
        Scalar::Bool(truth) => truth,
        Scalar::Integer(number) => number != 0,
        Scalar::Count(number) => number != 0,
        Scalar::Float(number) => number != 0.0,
        Scalar::Text(text) => !text.is_empty(),
    })
}

/// Reads a whole number.
pub(crate) fn integer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Integer(number) => Some(number),
        Scalar::Count(number) => i64::try_from(number).ok(),
        Scalar::None | Scalar::Bool(_) | Scalar::Float(_) | Scalar::Text(_) => None,
    })
}

/// Reads a whole number that is not negative.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Count(number) => Some(number),
        Scalar::None
        | Scalar::Bool(_)
        | Scalar::Integer(_)
        | Scalar::Float(_)
        | Scalar::Text(_) => None,
    })
}

/// Reads a number.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Float(number) => Some(number),
        Scalar::Integer(number) => i32::try_from(number).ok().map(f64::from),
        Scalar::Count(number) => u32::try_from(number).ok().map(f64::from),
        Scalar::None | Scalar::Bool(_) | Scalar::Text(_) => None,
    })
}

/// Reads an object whose fields are read tolerantly.
pub(crate) fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    object_of(from)
}

/// Reads a list of texts and skips other items.
pub(crate) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let items: Option<Vec<MaybeText>> = list(from)?;
    Ok(items.unwrap_or_default().into_iter().filter_map(|item| item.0).collect())
}

/// Reads a list of objects whose fields are read tolerantly, and skips other items.
pub(crate) fn objects<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(some_objects(from)?.unwrap_or_default())
}

/// Like [`objects`], but distinguishes an absent list from an empty one.
pub(crate) fn some_objects<'de, D, T>(from: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items: Option<Vec<MaybeObject<T>>> = list(from)?;
    Ok(items.map(|items| items.into_iter().filter_map(|item| item.0).collect()))
}

/// Reads a free-form object. A value of another type is empty, and one over the limit is `None`.
pub(crate) fn map<'de, D: Deserializer<'de>, const BYTES_MAX: usize>(
    from: D,
) -> Result<Option<Map<String, Value>>, D::Error> {
    Ok(free_form(from, BYTES_MAX)?.map(|value| match value {
        Value::Object(entries) => entries,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }))
}

/// Reads a free-form list. A value of another type is empty, and one over the limit is `None`.
pub(crate) fn values<'de, D: Deserializer<'de>, const BYTES_MAX: usize>(
    from: D,
) -> Result<Option<Vec<Value>>, D::Error> {
    Ok(free_form(from, BYTES_MAX)?.map(|value| match value {
        Value::Array(items) => items,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Vec::new()
        }
    }))
}

/// Checks the length first: a few bytes of JSON can be hundreds in memory.
fn free_form<'de, D: Deserializer<'de>>(
    from: D,
    bytes_max: usize,
) -> Result<Option<Value>, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    if raw.get().len() > bytes_max {
        return Ok(None);
    }
    serde_json::from_str(raw.get()).map(Some).map_err(D::Error::custom)
}

struct MaybeText(Option<String>);

impl<'de> Deserialize<'de> for MaybeText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        text(from).map(Self)
    }
}

struct MaybeObject<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for MaybeObject<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        object(from).map(Self)
    }
}

#[cfg(test)]
mod tests;
