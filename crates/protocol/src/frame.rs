//! Frame: one JSON object on one line, never longer than its reader can take.
//!
//! The desk makes frames with the constructors of [`Frame`] and reads lines as
//! [`FromGateway`]; the SDK makes the others and reads [`ToGateway`].
//!
//! # Promise
//!
//! A [`Frame`] is valid JSON, ends in a newline, holds no other, and fits: to a gateway
//! [`FRAME_OUT_BYTES_MAX`], from a gateway [`FRAME_IN_BYTES_MAX`]. Reading never fails and
//! never panics; what cannot be used is [`Malformed`].
//!
//! [`FRAME_OUT_BYTES_MAX`]: nightdesk_types::limits::FRAME_OUT_BYTES_MAX
//! [`FRAME_IN_BYTES_MAX`]: nightdesk_types::limits::FRAME_IN_BYTES_MAX

use std::fmt;

use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use serde::{Deserialize, Serialize};

mod to_gateway;
mod from_gateway;

pub use from_gateway::{FromGateway, Interrupt, Outbound};
pub use to_gateway::ToGateway;

use crate::{text, tolerant};

/// A line ready for the socket.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame(String);

impl Frame {
    /// The line with its newline.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The line with its newline, for a socket that wants to own it.
    pub fn into_string(self) -> String {
        self.0
    }

    /// How long it is.
    pub const fn len_bytes(&self) -> usize {
        self.0.len()
    }

    /// Takes JSON whose parts are all bounded, so that the whole is.
    fn bounded(content: &impl Serialize) -> Self {
        let mut line = json(content);
        line.push('\n');
        debug_assert!(line.len() <= FRAME_OUT_BYTES_MAX, "bounded parts make a bounded frame");
        Self(line)
    }

    fn within(max: usize, content: &impl Serialize) -> Result<Self, TooLong> {
        let mut line = json(content);
        line.push('\n');
        TooLong::check(line.len(), max)?;
        Ok(Self(line))
    }
}

// A frame holds what people wrote, which no log may show.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.0.len())
    }
}

/// It is longer than its reader can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes, where {bytes_max} fit")]
pub struct TooLong {
    /// How long it is, at least.
    pub bytes: usize,
    /// How long it may be.
    pub bytes_max: usize,
}

impl TooLong {
    pub(crate) const fn check(bytes: usize, bytes_max: usize) -> Result<(), Self> {
        if bytes <= bytes_max { Ok(()) } else { Err(Self { bytes, bytes_max }) }
    }
}

/// Why a line is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON.
    #[error("line is not JSON")]
    NotJson,
    /// It is JSON, but not an object.
    #[error("line is not a JSON object")]
    NotAnObject,
    /// It does not say which frame it is.
    #[error("frame has no type")]
    NoType,
    /// Without this field the frame means nothing.
    #[error("frame has no usable {0}")]
    Missing(&'static str),
}

/// Writes a value of ours as JSON.
#[expect(clippy::expect_used, reason = "our types have text keys and write to memory")]
pub(crate) fn json(content: &impl Serialize) -> String {
    serde_json::to_string(content).expect("what we send can be written as JSON")
}

/// Reads a line as an object, and once more if only lone surrogates were in the way.
///
/// `read` makes a frame of the object; it stands here because what the object borrows from
/// may be the repaired copy.
fn read_line<F, R>(line: &[u8], read: R) -> Result<F, Malformed>
where
    R: Fn(&[u8]) -> serde_json::Result<Option<F>>,
{
    let object = read(line).or_else(|error| match text::without_lone_surrogates(line) {
        Some(repaired) => read(&repaired),
        None => Err(error),
    });
    object.map_err(|_| Malformed::NotJson)?.ok_or(Malformed::NotAnObject)
}

/// Reads JSON that should be an object and nothing else.
fn read_object<'a, T: Deserialize<'a>>(line: &'a [u8]) -> serde_json::Result<Option<T>> {
    let mut from = serde_json::Deserializer::from_slice(line);
    let object = tolerant::object(&mut from)?;
    from.end()?;
    Ok(object)
}

/// How much of the name of an unknown frame or op is kept.
pub(crate) const UNKNOWN_NAME_BYTES_MAX: usize = 64;

/// A frame's type before its fields.
#[derive(Serialize)]
struct Typed<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}
