//! Parses a client's request, in JSON or in a form with files.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::world::number;

/// A call's query, body and files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    pub(super) body: Value,
    pub(super) query: BTreeMap<String, String>,
    pub(super) files: Vec<File>,
}

/// A file that came with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its place in the form: `0` of `files[0]`.
    pub(super) place: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) bytes: Bytes,
}

impl Asked {
    /// Parses a request, or returns `None` if it is unreadable.
    pub(super) fn read(headers: &HeaderMap, query: &str, body: &Bytes) -> Option<Self> {
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let mut asked = Self { query, ..Self::default() };
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default();
        if let Some((_, boundary)) = kind.split_once("boundary=") {
            asked.read_parts(boundary.trim_matches('"'), body)?;
        } else if !body.is_empty() {
            asked.body = serde_json::from_slice(body).ok()?;
        }
        Some(asked)
    }

    fn read_parts(&mut self, boundary: &str, body: &Bytes) -> Option<()> {
        for part in split(body, format!("--{boundary}").as_bytes()) {
            let Some(at) = part.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&part[..at]).into_owned();
            let content = part[at + 4..].strip_suffix(b"\r\n").unwrap_or(&part[at + 4..]);
            let name = named(&head, " name")?;
            if name == "payload_json" {
                self.body = serde_json::from_slice(content).ok()?;
            } else if let Some(place) = name.strip_prefix("files[") {
                self.files.push(File {
                    place: place.trim_end_matches(']').to_owned(),
                    name: named(&head, "filename")?,
                    kind: kind_of(&head),
                    bytes: body.slice_ref(content),
                });
            }
        }
        Some(())
    }

    /// Returns a number in the body.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        number(&self.body[name])
    }

    /// Returns a number in the query.
    pub(super) fn asks(&self, name: &str) -> Option<u64> {
        self.query.get(name)?.parse().ok()
    }

    /// Returns a text in the body.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.body[name].as_str()
    }

    /// Returns the body for the records, with name and size of each file.
    pub(super) fn told(&self) -> Value {
        let mut told = self.body.clone();
        if !self.files.is_empty() && told.is_object() {
            let sizes = self.files.iter().map(|file| json!([file.name, file.bytes.len()]));
            told["files"] = sizes.collect();
        }
        told
    }
}

/// Returns the value of a parameter in a part's head.
fn named(head: &str, word: &str) -> Option<String> {
    let (_, after) = head.split_once(&format!("{word}=\""))?;
    Some(after.split_once('"')?.0.to_owned())
}

fn kind_of(head: &str) -> String {
    let kind = head.lines().find_map(|line| {
        let (name, kind) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-type").then(|| kind.trim().to_owned())
    });
    kind.unwrap_or_else(|| "application/octet-stream".to_owned())
}

fn split<'b>(body: &'b [u8], fence: &[u8]) -> Vec<&'b [u8]> {
    let fences = body.windows(fence.len()).enumerate().filter(|(_, at)| *at == fence);
    let begins: Vec<usize> = fences.map(|(at, _)| at).collect();
    begins.windows(2).map(|pair| &body[pair[0] + fence.len()..pair[1]]).collect()
}
