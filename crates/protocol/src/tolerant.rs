//! Tolerant: reads what is there, and takes what is of another kind for absent.
//!
//! Each function is for `deserialize_with`, beside `default`. None of them fails on anything
//! that is JSON, and none builds much more in memory than it was sent: what is not wanted is
//! skipped, lists are cut, and free-form values have a bound.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

mod visit;

use visit::{Scalar, list, object_of, scalar};

/// A text or a whole number, as text. Some clients send numbers for ids.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(borrowed(from)?.map(Cow::into_owned))
}

/// As [`text`], without a copy where the input allows.
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

/// As [`text`]; what is absent is empty.
pub(crate) fn text_or_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(text(from)?.unwrap_or_default())
}

/// Something a client says yes or no to. Python clients judge by truth, not by type.
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

/// A whole number.
pub(crate) fn integer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Integer(number) => Some(number),
        Scalar::Count(number) => i64::try_from(number).ok(),
        Scalar::None | Scalar::Bool(_) | Scalar::Float(_) | Scalar::Text(_) => None,
    })
}

/// A whole number that is not negative.
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

/// A number.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(match scalar(from)? {
        Scalar::Float(number) => Some(number),
        Scalar::Integer(number) => i32::try_from(number).ok().map(f64::from),
        Scalar::Count(number) => u32::try_from(number).ok().map(f64::from),
        Scalar::None | Scalar::Bool(_) | Scalar::Text(_) => None,
    })
}

/// An object that reads itself tolerantly.
pub(crate) fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    object_of(from)
}

/// A list of texts, without the items that are none.
pub(crate) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let items: Option<Vec<MaybeText>> = list(from)?;
    Ok(items.unwrap_or_default().into_iter().filter_map(|item| item.0).collect())
}

/// A list of objects that read themselves tolerantly, without the items that are none.
pub(crate) fn objects<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(some_objects(from)?.unwrap_or_default())
}

/// As [`objects`], where a list that is absent says something else than an empty one.
pub(crate) fn some_objects<'de, D, T>(from: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items: Option<Vec<MaybeObject<T>>> = list(from)?;
    Ok(items.map(|items| items.into_iter().filter_map(|item| item.0).collect()))
}

/// A free-form object; what is of another kind is empty, and what is too long is none.
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

/// A free-form list; what is of another kind is empty, and what is too long is none.
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

/// Looks at the length first: a few bytes of JSON can be hundreds in memory.
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
