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
        /// True if the action was not executed and a later attempt may succeed.
        is_temporary: bool,
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
    result: Option<RawOutcome>,
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

    /// Reads the kind of a frame that the desk made.
    pub fn head(&self) -> FrameHead {
        let Ok(head) = serde_json::from_str(&self.0) else { return FrameHead::Other };
        let RawHead { kind, buffer_id, request_id, stop_id, result } = head;
        match (kind, buffer_id, request_id.and_then(RequestId::new)) {
            ("descriptor", ..) => FrameHead::Descriptor,
            ("inbound" | "passthrough_forward", Some(buffer_id), _) => {
                FrameHead::Entry { buffer_id }
            }
            ("outbound_result", _, Some(request_id)) => {
                let is_temporary = result.is_some_and(|raw| Outcome::from(raw).is_temporary());
                FrameHead::Result { request_id, is_temporary }
            }
            ("interrupt_inbound", ..) => FrameHead::Stop { stop_id: stop_id.and_then(StopId::new) },
            _ => FrameHead::Other,
        }
    }
}
