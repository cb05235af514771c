//! Parses a client's request in any encoding.
//!
//! The Bot API accepts JSON, forms, forms with files, and queries. In all but JSON, a value that is not a text is JSON
//! in a text.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

/// The parameters of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked(pub(super) Map<String, Value>);

impl Asked {
    /// Parses a request.
    pub(super) fn read(headers: &HeaderMap, query: &str, body: &Bytes) -> Self {
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default();
        let mut asked = form(query.as_bytes());
        asked.extend(if kind.starts_with("application/json") {
            serde_json::from_slice(body).unwrap_or_default()
        } else if let Some(boundary) = kind.split_once("boundary=").map(|(_, after)| after) {
            parts(boundary.trim_matches('"'), body)
        } else {
            form(body)
        });
        Self(asked)
    }

    /// Returns a number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let value = self.0.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    }

    /// Returns a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns a list or an object.
    pub(super) fn json(&self, name: &str) -> Option<Value> {
        let value = self.0.get(name)?;
        match value.as_str() {
            Some(text) => serde_json::from_str(text).ok(),
            None => Some(value.clone()),
        }
    }

    /// Returns true if a flag is set.
    pub(super) fn is(&self, name: &str) -> bool {
        self.json(name).is_some_and(|value| value == Value::Bool(true) || value == "true")
    }
}

fn form(body: &[u8]) -> Map<String, Value> {
    let fields = form_urlencoded::parse(body);
    fields.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect()
}

/// Parses a form with files. Only the length of a file is stored.
fn parts(boundary: &str, body: &[u8]) -> Map<String, Value> {
    let fence = format!("--{boundary}");
    let mut fields = Map::new();
    for part in split(body, fence.as_bytes()) {
        let Some(at) = part.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&part[..at]);
        let content = part[at + 4..].strip_suffix(b"\r\n").unwrap_or(&part[at + 4..]);
        let named = |name: &str| {
            let (_, after) = head.split_once(&format!("{name}=\""))?;
            Some(after.split_once('"')?.0.to_owned())
        };
        let Some(name) = named(" name") else { continue };
        let value = match named("filename") {
            Some(file) => serde_json::json!({ "file_name": file, "file_size": content.len() }),
            None => Value::from(String::from_utf8_lossy(content).into_owned()),
        };
        fields.insert(name, value);
    }
    fields
}

fn split<'b>(body: &'b [u8], fence: &[u8]) -> Vec<&'b [u8]> {
    let fences = body.windows(fence.len()).enumerate().filter(|(_, at)| *at == fence);
    let begins: Vec<usize> = fences.map(|(at, _)| at).collect();
    begins.windows(2).map(|pair| &body[pair[0] + fence.len()..pair[1]]).collect()
}
