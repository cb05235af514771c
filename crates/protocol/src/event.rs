//! Event: what an entry holds, written once and handed over without being read again.
//!
//! # Promise
//!
//! An [`EntryJson`] can only be made of a cleaned [`Event`], or of bytes that one was stored
//! as. So no shape that kills a client can be in it, and its frame is never too long.

use std::fmt;

use nightdesk_types::EntryId;
use nightdesk_types::Event;
use nightdesk_types::event::{Content, Message, Source};
use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use serde::Serialize;

mod wire;
mod raw;

pub(crate) use raw::Raw;

use crate::frame::{TooLong, json};
use crate::session_key::{Sharing, Unkeyable, WHATSAPP, stock};
use crate::{passthrough, source};

/// How long an event may be as JSON, so that its frame fits with the entry's name in it.
pub const ENTRY_BYTES_MAX: usize = FRAME_OUT_BYTES_MAX - NAMED_BYTES;

/// An event as an entry holds it: the JSON of its frame, but for the entry's name, which is
/// not known before the entry is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct EntryJson(String);

/// Which frame an entry goes out as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// An `inbound` frame. Every client since 0.19.0 acks it.
    Message,
    /// A `passthrough_forward` frame. Only the newest client acks it.
    Passthrough,
}

/// Writes an event for the wire. A passthrough names its bot, by the platform's word for it.
pub fn encode(event: &Event, bot_handle: &str) -> Result<EntryJson, EncodeError> {
    let source = event.source();
    // Of all that a cleaned event may hold, only a WhatsApp address can still kill a client.
    if source.platform == WHATSAPP {
        stock(&source.into(), &Sharing::default()).map_err(|Unkeyable| EncodeError::Unkeyable)?;
    }
    let text = match event.content() {
        Content::Message(message) => json(&MessageFrame {
            kind: EntryKind::Message.name(),
            event: wire::Event::of(message, source::Wire::of(source, message.is_edit)),
        }),
        Content::Passthrough(request) => json(&PassthroughFrame {
            kind: EntryKind::Passthrough.name(),
            forward: passthrough::Wire::of(source, bot_handle, request),
        }),
    };
    TooLong::check(text.len(), ENTRY_BYTES_MAX)?;
    Ok(EntryJson(text))
}

/// Why an event cannot be an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No client could read it.
    #[error("event is too long")]
    TooLong(#[from] TooLong),
    /// The stock client would die of looking for its session.
    #[error("event has no session key")]
    Unkeyable,
}

#[derive(Serialize)]
struct MessageFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    event: wire::Event<'a>,
}

#[derive(Serialize)]
struct PassthroughFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    forward: passthrough::Wire<'a>,
}

impl EntryJson {
    /// Takes back what [`EntryJson::as_bytes`] gave to a store.
    ///
    /// It looks at the bytes but does not parse them: they are ours.
    pub fn from_stored(bytes: Vec<u8>) -> Result<Self, NotAnEntry> {
        let text = String::from_utf8(bytes).map_err(|_| NotAnEntry)?;
        let begins = EntryKind::ALL.iter().any(|kind| text.starts_with(kind.opening()));
        let ends = text.ends_with("}}");
        let fits = text.len() <= ENTRY_BYTES_MAX && !text.contains('\n');
        if begins && ends && fits { Ok(Self(text)) } else { Err(NotAnEntry) }
    }

    /// The bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The bytes to store, given away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    /// Which frame it goes out as.
    pub fn kind(&self) -> EntryKind {
        if self.0.starts_with(EntryKind::Passthrough.opening()) {
            EntryKind::Passthrough
        } else {
            EntryKind::Message
        }
    }

    /// How long its frame is once the entry's name is in it.
    pub const fn frame_len_bytes(&self) -> usize {
        self.0.len() + NAMED_BYTES
    }

    /// The line of the entry: its name goes in before the last brace.
    pub(crate) fn line(&self, entry: EntryId) -> String {
        let mut line = String::with_capacity(self.frame_len_bytes());
        line.push_str(&self.0[..self.0.len() - 1]);
        line.push_str(NAME_OPENING);
        line.push_str(&entry.to_string());
        line.push_str(NAME_CLOSING);
        line
    }

    /// The line without a name, which asks for no ack.
    pub(crate) fn line_unnamed(&self) -> String {
        let mut line = String::with_capacity(self.0.len() + 1);
        line.push_str(&self.0);
        line.push('\n');
        line
    }
}

// It holds what people wrote, which no log may show.
impl fmt::Debug for EntryJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntryJson({} bytes)", self.0.len())
    }
}

const NAME_OPENING: &str = ",\"bufferId\":\"";
const NAME_BYTES: usize = 32;
const NAME_CLOSING: &str = "\"}\n";

/// What the entry's name adds, less the brace that moves behind it.
const NAMED_BYTES: usize = NAME_OPENING.len() + NAME_BYTES + NAME_CLOSING.len() - 1;

impl EntryKind {
    const ALL: [Self; 2] = [Self::Message, Self::Passthrough];

    const fn name(self) -> &'static str {
        match self {
            Self::Message => "inbound",
            Self::Passthrough => "passthrough_forward",
        }
    }

    const fn opening(self) -> &'static str {
        match self {
            Self::Message => "{\"type\":\"inbound\",\"event\":{",
            Self::Passthrough => "{\"type\":\"passthrough_forward\",\"forward\":{",
        }
    }
}

/// The bytes were never an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored bytes are not an entry")]
pub struct NotAnEntry;

/// A message with its source, as the SDK gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Inbound {
    /// Where it comes from.
    pub source: Source,
    /// What it says.
    pub message: Message,
}
