//! JSON in which no object has a name twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value that has one reading. Only its form is checked; nothing of it is kept.
pub(super) struct UnambiguousJson;

impl<'de> Deserialize<'de> for UnambiguousJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormVisitor)
    }
}

struct FormVisitor;

impl<'de> Visitor<'de> for FormVisitor {
    type Value = UnambiguousJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated names")
    }

    fn visit_unit<E>(self) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_bool<E>(self, _: bool) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_str<E>(self, _: &str) -> Result<UnambiguousJson, E> {
        Ok(UnambiguousJson)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UnambiguousJson, A::Error> {
        while items.next_element::<UnambiguousJson>()?.is_some() {}
        Ok(UnambiguousJson)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<UnambiguousJson, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("an object has a name twice"));
            }
            fields.next_value::<UnambiguousJson>()?;
        }
        Ok(UnambiguousJson)
    }
}
