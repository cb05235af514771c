//! The JSON of an entry, written once and delivered without being parsed again.
//!
//! # Promise
//!
//! An [`EntryJson`] can only be made of a cleaned [`Event`], or of the bytes that one was stored as. So it contains no
//! form that kills a client, and its frame is never too long.

use std::fmt;

use nightdesk_types::EntryId;
use nightdesk_types::Event;
use nightdesk_types::event::{Content, Message, Source};
use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use serde::Serialize;

mod wire;
mod raw;

pub(crate) use raw::RawEvent;

use crate::frame::{TooLong, json};
use crate::session_key::{Sharing, Unkeyable, WHATSAPP, stock_key};
use crate::{passthrough, source};

/// Longest JSON of an event, so that its frame fits with the entry's id in it.
pub const ENTRY_BYTES_MAX: usize = FRAME_OUT_BYTES_MAX - NAMED_BYTES;

/// An event as an entry stores it: the JSON of its frame without the entry's id, which is not known before the entry is
/// stored.
#[derive(Clone, PartialEq, Eq)]
pub struct EntryJson(String);

/// The type of an entry's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// An `inbound` frame. Every client since 0.19.0 acks it.
    Message,
    /// A `passthrough_forward` frame. Only the newest client acks it.
    Passthrough,
}

/// Encodes an event for the wire, with the platform's id of the bot that got it. An event of the desk itself has none.
pub fn encode(event: &Event, bot_handle: &str) -> Result<EntryJson, EncodeError> {
    let source = event.source();
    // Of all content of a cleaned event, only a WhatsApp address can still kill a client.
    if source.platform == WHATSAPP {
        stock_key(&source.into(), &Sharing::default())
            .map_err(|Unkeyable| EncodeError::Unkeyable)?;
    }
    let text = match event.content() {
        Content::Message(message) => json(&MessageFrame {
            event: wire::WireEvent::from_message(
                message,
                source::WireSource::from_source(source, message.is_edit, bot_handle),
            ),
        }),
        Content::Passthrough(request) => json(&PassthroughFrame {
            forward: passthrough::WireForward::from_request(source, bot_handle, request),
        }),
    };
    TooLong::check(text.len(), ENTRY_BYTES_MAX)?;
    Ok(EntryJson(text))
}

/// The reason why an event cannot be an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It is too long for every client.
    #[error("event is too long")]
    TooLong(#[from] TooLong),
    /// The stock client would die while computing its session key.
    #[error("event has no session key")]
    Unkeyable,
}

/// An `inbound` frame before its entry has an id.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "inbound")]
pub(crate) struct MessageFrame<'a> {
    event: wire::WireEvent<'a>,
}

/// A `passthrough_forward` frame before its entry has an id.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "passthrough_forward")]
pub(crate) struct PassthroughFrame<'a> {
    forward: passthrough::WireForward<'a>,
}

impl EntryJson {
    /// Restores an entry from bytes of [`EntryJson::as_bytes`].
    ///
    /// It checks the bytes but does not parse them, because the desk wrote them.
    pub fn from_stored(bytes: Vec<u8>) -> Result<Self, NotAnEntry> {
        let text = String::from_utf8(bytes).map_err(|_| NotAnEntry)?;
        let begins = EntryKind::ALL.iter().any(|kind| text.starts_with(kind.opening()));
        let ends = text.ends_with("}}");
        let fits = text.len() <= ENTRY_BYTES_MAX && !text.contains('\n');
        if begins && ends && fits { Ok(Self(text)) } else { Err(NotAnEntry) }
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the bytes to store, by value.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    /// Returns the type of its frame.
    pub fn kind(&self) -> EntryKind {
        if self.0.starts_with(EntryKind::Passthrough.opening()) {
            EntryKind::Passthrough
        } else {
            EntryKind::Message
        }
    }

    /// Returns the length of its frame including the entry's id.
    pub const fn frame_len_bytes(&self) -> usize {
        self.0.len() + NAMED_BYTES
    }

    /// Returns the line of the entry, with the id inserted before the last brace.
    pub(crate) fn line(&self, entry: EntryId) -> String {
        let mut line = String::with_capacity(self.frame_len_bytes());
        line.push_str(&self.0[..self.0.len() - 1]);
        line.push_str(NAME_OPENING);
        line.push_str(&entry.to_string());
        line.push_str(NAME_CLOSING);
        line
    }

    /// Returns the line without an id, which requests no ack.
    pub(crate) fn line_unnamed(&self) -> String {
        let mut line = String::with_capacity(self.0.len() + 1);
        line.push_str(&self.0);
        line.push('\n');
        line
    }
}

// It contains people's messages, which must not appear in a log.
impl fmt::Debug for EntryJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntryJson({} bytes)", self.0.len())
    }
}

const NAME_OPENING: &str = ",\"bufferId\":\"";
const NAME_CLOSING: &str = "\"}\n";

/// The bytes that the entry's id adds, less the brace that moves behind it.
const NAMED_BYTES: usize = NAME_OPENING.len() + EntryId::TEXT_BYTES + NAME_CLOSING.len() - 1;

impl EntryKind {
    const ALL: [Self; 2] = [Self::Message, Self::Passthrough];

    const fn opening(self) -> &'static str {
        match self {
            Self::Message => "{\"type\":\"inbound\",\"event\":{",
            Self::Passthrough => "{\"type\":\"passthrough_forward\",\"forward\":{",
        }
    }
}

/// The bytes are not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored bytes are not an entry")]
pub struct NotAnEntry;

/// A message with its source, as the SDK receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Inbound {
    /// The source.
    pub source: Source,
    /// The message.
    pub message: Message,
    /// The platform's id of the bot that got it.
    pub bot_handle: Option<String>,
}
