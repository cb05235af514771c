//! Frames to a gateway: descriptors, entries, results, interrupts.

use std::borrow::Cow;

use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use nightdesk_types::{EntryId, RequestId, StopId};
use serde::{Deserialize, Serialize};

use super::{Frame, MalformedFrame, TooLong, UNKNOWN_NAME_BYTES_MAX, read_line, read_object};
use crate::descriptor::{self, Descriptor};
use crate::event::{self, EntryJson, Inbound};
use crate::outcome::{self, Outcome};
use crate::passthrough::{self, Forward};
use crate::session_key::SessionKey;
use crate::{text, tolerant};

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "descriptor")]
pub(super) struct DescriptorFrame<'a> {
    descriptor: &'a Descriptor,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "outbound_result")]
pub(super) struct OutboundResultFrame<'a> {
    #[serde(rename = "requestId")]
    request_id: &'a RequestId,
    result: &'a Outcome,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "interrupt_inbound")]
pub(super) struct InterruptInboundFrame<'a> {
    session_key: &'a SessionKey,
    chat_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_id: Option<&'a StopId>,
}

/// The frames that the desk sends.
impl Frame {
    /// Encodes the capabilities of a platform.
    pub fn descriptor(descriptor: &Descriptor) -> Self {
        Self::encode_bounded(&DescriptorFrame { descriptor })
    }

    /// Encodes an entry with its id, which requests an ack.
    pub fn entry(entry: EntryId, json: &EntryJson) -> Self {
        Self(json.line(entry))
    }

    /// Encodes an entry without an id, for clients that never ack.
    pub fn entry_unnamed(json: &EntryJson) -> Self {
        Self(json.line_unnamed())
    }

    /// Encodes the result of a gateway's request.
    pub fn outbound_result(request_id: &RequestId, result: &Outcome) -> Self {
        Self::encode_bounded(&OutboundResultFrame { request_id, result })
    }

    /// Encodes a request to stop a turn. A client that gets an id answers with an `interrupt_result`.
    pub fn interrupt_inbound(
        session_key: &SessionKey,
        chat_id: &str,
        stop_id: Option<&StopId>,
    ) -> Result<Self, TooLong> {
        let frame = InterruptInboundFrame { session_key, chat_id, stop_id };
        Self::encode_within(FRAME_OUT_BYTES_MAX, &frame)
    }

    /// Encodes the confirmation that no more entries follow.
    pub fn going_idle_ack() -> Self {
        Self("{\"type\":\"going_idle_ack\"}\n".to_owned())
    }
}

/// A frame from the desk, as the SDK decodes it.
#[derive(Clone, Debug, PartialEq)]
pub enum ToGateway {
    /// The capabilities of a platform.
    Descriptor(Box<Descriptor>),
    /// A message.
    Inbound {
        /// The message and its source.
        event: Box<Inbound>,
        /// The id for its ack.
        buffer_id: Option<String>,
    },
    /// The result of a request.
    OutboundResult {
        /// The request's id.
        request_id: RequestId,
        /// The result.
        result: Box<Outcome>,
    },
    /// A request to stop a turn.
    InterruptInbound {
        /// The session of the turn.
        session_key: SessionKey,
        /// The chat of the session.
        chat_id: String,
        /// The id for the answer, if the desk wants one.
        stop_id: Option<StopId>,
    },
    /// A platform's own request.
    PassthroughForward {
        /// The request.
        forward: Box<Forward>,
        /// The id for its ack.
        buffer_id: Option<String>,
    },
    /// No more entries follow.
    GoingIdleAck,
    /// A frame of a newer contract.
    Unknown {
        /// Its type, truncated.
        kind: String,
    },
    /// An unusable line.
    Malformed(MalformedFrame),
}

impl ToGateway {
    /// Decodes a line. It never fails: an unusable line is [`ToGateway::Malformed`].
    pub fn decode(line: &[u8]) -> Self {
        let read =
            |line: &[u8]| Ok(read_object::<DeskEnvelope<'_>>(line)?.map(DeskEnvelope::into_frame));
        read_line(line, read).unwrap_or_else(Self::Malformed)
    }
}

/// The fields of all frames from the desk.
#[derive(Deserialize)]
struct DeskEnvelope<'a> {
    #[serde(borrow, rename = "type", default, deserialize_with = "tolerant::borrowed")]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "tolerant::object")]
    descriptor: Option<descriptor::RawDescriptor>,
    #[serde(default, deserialize_with = "tolerant::object")]
    event: Option<event::RawEvent>,
    #[serde(default, deserialize_with = "tolerant::object")]
    forward: Option<passthrough::RawForward>,
    #[serde(rename = "bufferId", default, deserialize_with = "tolerant::text")]
    buffer_id: Option<String>,
    #[serde(rename = "requestId", default, deserialize_with = "tolerant::text")]
    request_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::object")]
    result: Option<outcome::RawOutcome>,
    #[serde(default, deserialize_with = "tolerant::text")]
    session_key: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    stop_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    chat_id: String,
}

impl DeskEnvelope<'_> {
    fn into_frame(mut self) -> ToGateway {
        let Some(kind) = self.kind.take() else {
            return ToGateway::Malformed(MalformedFrame::NoType);
        };
        let frame = match kind.as_ref() {
            "descriptor" => self.descriptor(),
            "inbound" => self.inbound(),
            "outbound_result" => self.outbound_result(),
            "interrupt_inbound" => self.interrupt_inbound(),
            "passthrough_forward" => self.passthrough_forward(),
            "going_idle_ack" => Ok(ToGateway::GoingIdleAck),
            unknown => Ok(ToGateway::Unknown { kind: text::cut(unknown, UNKNOWN_NAME_BYTES_MAX) }),
        };
        frame.unwrap_or_else(ToGateway::Malformed)
    }

    fn descriptor(self) -> Result<ToGateway, MalformedFrame> {
        let descriptor = self.descriptor.and_then(descriptor::RawDescriptor::into_descriptor);
        let descriptor = descriptor.ok_or(MalformedFrame::Missing("descriptor"))?;
        Ok(ToGateway::Descriptor(Box::new(descriptor)))
    }

    fn inbound(self) -> Result<ToGateway, MalformedFrame> {
        let buffer_id = self.buffer_id.filter(|id| !id.is_empty());
        let event = self.event.ok_or(MalformedFrame::Missing("event"))?;
        Ok(ToGateway::Inbound { event: Box::new(event.into()), buffer_id })
    }

    fn outbound_result(self) -> Result<ToGateway, MalformedFrame> {
        let request_id = self.request_id.and_then(RequestId::new);
        let request_id = request_id.ok_or(MalformedFrame::Missing("requestId"))?;
        let result = self.result.ok_or(MalformedFrame::Missing("result"))?;
        Ok(ToGateway::OutboundResult { request_id, result: Box::new(result.into()) })
    }

    fn interrupt_inbound(self) -> Result<ToGateway, MalformedFrame> {
        let session_key = self.session_key.and_then(SessionKey::new);
        let session_key = session_key.ok_or(MalformedFrame::Missing("session_key"))?;
        let stop_id = self.stop_id.and_then(StopId::new);
        Ok(ToGateway::InterruptInbound { session_key, chat_id: self.chat_id, stop_id })
    }

    fn passthrough_forward(self) -> Result<ToGateway, MalformedFrame> {
        let buffer_id = self.buffer_id.filter(|id| !id.is_empty());
        let forward = self.forward.ok_or(MalformedFrame::Missing("forward"))?;
        Ok(ToGateway::PassthroughForward { forward: Box::new(forward.into()), buffer_id })
    }
}
