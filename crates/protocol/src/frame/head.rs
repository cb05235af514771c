//! The kind of a frame to a gateway, for transports that do not send every frame in the same way.

use nightdesk_types::{RequestId, StopId};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Frame;
use crate::outcome::{Outcome, RawOutcome};

/// The kind of a frame from the desk, and the id by which its recipient finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameHead {
    /// The capabilities of a platform.
    Descriptor,
    /// An entry.
    Entry {
        /// The id for its ack.
        buffer_id: String,
    },
    /// The result of a request.
    Result {
        /// The request's id.
        request_id: RequestId,
    },
    /// A request to stop a turn.
    Stop {
        /// The id for the answer, if the desk wants one.
        stop_id: Option<StopId>,
    },
    /// Any other frame.
    Other,
}

#[derive(Deserialize)]
struct RawHead<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(rename = "bufferId")]
    buffer_id: Option<String>,
    #[serde(rename = "requestId")]
    request_id: Option<String>,
    stop_id: Option<String>,
}

#[derive(Deserialize)]
struct RawResult {
    result: Box<RawValue>,
}

impl Frame {
    /// Returns the result in a frame that answers a request.
    pub fn result(&self) -> Option<Box<RawValue>> {
        serde_json::from_str(&self.0).ok().map(|RawResult { result }| result)
    }

    /// Returns the outcome in a frame that answers a request.
    pub fn outcome(&self) -> Option<Outcome> {
        let raw: RawOutcome = serde_json::from_str(self.result()?.get()).ok()?;
        Some(raw.into())
    }

    /// Reads the kind of a frame that the desk made.
    pub fn head(&self) -> FrameHead {
        let Ok(RawHead { kind, buffer_id, request_id, stop_id }) = serde_json::from_str(&self.0)
        else {
            return FrameHead::Other;
        };
        match (kind, buffer_id, request_id.and_then(RequestId::new)) {
            ("descriptor", ..) => FrameHead::Descriptor,
            ("inbound" | "passthrough_forward", Some(buffer_id), _) => {
                FrameHead::Entry { buffer_id }
            }
            ("outbound_result", _, Some(request_id)) => FrameHead::Result { request_id },
            ("interrupt_inbound", ..) => FrameHead::Stop { stop_id: stop_id.and_then(StopId::new) },
            _ => FrameHead::Other,
        }
    }
}
