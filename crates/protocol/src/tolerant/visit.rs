//! Visitors that accept any value.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Items of a list that are read; the rest is skipped.
pub(super) const LIST_ITEMS_MAX: usize = 10_000;

/// Reads a value that is neither a list nor an object.
pub(super) fn scalar<'de, D: Deserializer<'de>>(from: D) -> Result<Scalar<'de>, D::Error> {
    from.deserialize_any(ScalarVisitor)
}

/// Reads an object, or `None` for another value.
pub(super) fn object_of<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_any(ObjectVisitor(PhantomData))
}

/// Reads a list, or `None` for another value.
pub(super) fn list<'de, D, T>(from: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_any(ListVisitor(PhantomData))
}

/// A value that is neither a list nor an object; those count as `None`.
pub(super) enum Scalar<'a> {
    None,
    Bool(bool),
    Integer(i64),
    Count(u64),
    Float(f64),
    Text(Cow<'a, str>),
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::None)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Count(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        skip_items(items)?;
        Ok(Scalar::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        skip_entries(entries)?;
        Ok(Scalar::None)
    }
}

/// Implements the scalar visits as absent, for visitors of objects and lists.
macro_rules! no_scalars {
    () => {
        no_scalars!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    };
    ($($visit:ident($kind:ty)),+) => {$(
        fn $visit<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok(None)
        }
    )+};
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    no_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        skip_items(items)?;
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Some)
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    no_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while list.len() < LIST_ITEMS_MAX {
            match items.next_element()? {
                Some(item) => list.push(item),
                None => return Ok(Some(list)),
            }
        }
        skip_items(items)?;
        Ok(Some(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        skip_entries(entries)?;
        Ok(None)
    }
}

fn skip_items<'de, A: SeqAccess<'de>>(mut items: A) -> Result<(), A::Error> {
    while items.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_entries<'de, A: MapAccess<'de>>(mut entries: A) -> Result<(), A::Error> {
    while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}
