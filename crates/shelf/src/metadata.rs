//! Checks of the free metadata of skills and data.

use serde_json::{Map, Value};

/// Returns the size of the metadata as JSON.
pub(crate) fn bytes_of(noted: &Map<String, Value>) -> usize {
    serde_json::to_vec(noted).map_or(usize::MAX, |bytes| bytes.len())
}

/// Returns true if the metadata contains a zero byte, which databases do not store.
pub(crate) fn has_zero(noted: &Map<String, Value>) -> bool {
    noted.iter().any(|(key, value)| key.contains('\0') || value_has_zero(value))
}

fn value_has_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(value_has_zero),
        Value::Object(values) => has_zero(values),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
