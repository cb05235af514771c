//! A frame: one JSON object on one line, never longer than its reader can take.
//!
//! The desk makes frames with the constructors of [`Frame`] and decodes lines as [`FromGateway`]. The SDK makes the
//! others and decodes [`ToGateway`].
//!
//! # Promise
//!
//! A [`Frame`] is valid JSON, ends in a newline, contains no other newline, and is within its limit:
//! [`FRAME_OUT_BYTES_MAX`] to a gateway, [`FRAME_IN_BYTES_MAX`] from a gateway. Decoding never fails and never panics;
//! an unusable line is [`MalformedFrame`].
//!
//! [`FRAME_OUT_BYTES_MAX`]: nightdesk_types::limits::FRAME_OUT_BYTES_MAX
//! [`FRAME_IN_BYTES_MAX`]: nightdesk_types::limits::FRAME_IN_BYTES_MAX

use std::fmt;

use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use serde::{Deserialize, Serialize};

mod head;
mod to_gateway;
mod from_gateway;
#[cfg(feature = "openapi")]
pub mod schema;

pub use from_gateway::{FromGateway, Interrupt, InterruptResult, Outbound, OutboundFields};
pub use head::FrameHead;
pub use to_gateway::ToGateway;

use crate::{text, tolerant};

/// A line ready for the socket.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame(String);

impl Frame {
    /// Returns the line with its newline.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the line with its newline, by value.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the length in bytes.
    pub const fn len_bytes(&self) -> usize {
        self.0.len()
    }

    /// Encodes content whose parts are all bounded, so that the whole is bounded.
    fn encode_bounded(content: &impl Serialize) -> Self {
        let mut line = json(content);
        line.push('\n');
        debug_assert!(line.len() <= FRAME_OUT_BYTES_MAX, "bounded parts make a bounded frame");
        Self(line)
    }

    fn encode_within(max: usize, content: &impl Serialize) -> Result<Self, TooLong> {
        let mut line = json(content);
        line.push('\n');
        TooLong::check(line.len(), max)?;
        Ok(Self(line))
    }
}

// A frame contains people's messages, which must not appear in a log.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.0.len())
    }
}

/// The frame is longer than its reader can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes exceed the limit of {bytes_max}")]
pub struct TooLong {
    /// The length, at least.
    pub bytes: usize,
    /// The limit.
    pub bytes_max: usize,
}

impl TooLong {
    pub(crate) const fn check(bytes: usize, bytes_max: usize) -> Result<(), Self> {
        if bytes <= bytes_max { Ok(()) } else { Err(Self { bytes, bytes_max }) }
    }
}

/// The reason why a line is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedFrame {
    /// It is not JSON.
    #[error("line is not JSON")]
    NotJson,
    /// It is JSON, but not an object.
    #[error("line is not a JSON object")]
    NotAnObject,
    /// It has no type.
    #[error("frame has no type")]
    NoType,
    /// A required field is missing.
    #[error("frame has no usable {0}")]
    Missing(&'static str),
}

/// Encodes a value as JSON.
#[expect(clippy::expect_used, reason = "our types have text keys and write to memory")]
pub(crate) fn json(content: &impl Serialize) -> String {
    serde_json::to_string(content).expect("what we send can be written as JSON")
}

/// Decodes a line as an object, and tries again without lone surrogates if it contains any.
///
/// `read` makes a frame of the object. It is a parameter because the object may borrow from the repaired copy.
fn read_line<F, R>(line: &[u8], read: R) -> Result<F, MalformedFrame>
where
    R: Fn(&[u8]) -> serde_json::Result<Option<F>>,
{
    let object = read(line).or_else(|error| match text::without_lone_surrogates(line) {
        Some(repaired) => read(&repaired),
        None => Err(error),
    });
    object.map_err(|_| MalformedFrame::NotJson)?.ok_or(MalformedFrame::NotAnObject)
}

/// Decodes JSON that should be exactly one object.
fn read_object<'a, T: Deserialize<'a>>(line: &'a [u8]) -> serde_json::Result<Option<T>> {
    let mut from = serde_json::Deserializer::from_slice(line);
    let object = tolerant::object(&mut from)?;
    from.end()?;
    Ok(object)
}

/// Longest stored name of an unknown frame or op.
pub(crate) const UNKNOWN_NAME_BYTES_MAX: usize = 64;
