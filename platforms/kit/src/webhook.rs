//! Reads the requests of a platform's webhook.

use http::{HeaderMap, HeaderValue};
use nightdesk_port::ReceiveError;
use serde::Deserialize;

/// Returns the only header of a name. Two headers are rejected, because a proxy may have checked the other one.
pub fn only_header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// Parses JSON. The error of `serde` may quote the text, so it is discarded.
pub fn read_json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ReceiveError> {
    serde_json::from_slice(body).map_err(|_| ReceiveError::Unreadable)
}
